"""Addresses of Python objects that a kernel receives as pointers (deep_jit.md section 7.3).

The caller keeps the object alive until the launch has ended.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

__all__ = ["pointer_of"]


class _DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class _DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLDataType),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


# NOTE: tuples, because a union written at the call is built anew each time.
_C_POINTERS = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_wchar_p, ctypes._Pointer)
_BY_VALUE = (np.generic, bytes, ctypes._SimpleCData, ctypes.Structure, ctypes.Union)


def pointer_of(value: object) -> int | None:
    """Returns the address of the memory behind an object, or None when it has no such memory.

    Accepted: `None` (0), ctypes pointers and arrays, `data_ptr()` (torch), `__array_interface__`
    (NumPy), `__dlpack__`, and the buffer protocol except `bytes`, which travels by value.
    """
    if value is None:
        return 0
    if isinstance(value, np.ndarray):
        return int(value.__array_interface__["data"][0])
    data_ptr = getattr(value, "data_ptr", None)
    if callable(data_ptr):
        return int(data_ptr())
    if isinstance(value, _C_POINTERS):
        return ctypes.cast(value, ctypes.c_void_p).value or 0
    if isinstance(value, ctypes.Array):
        return ctypes.addressof(value)
    if isinstance(value, _BY_VALUE):
        return None
    interface = getattr(value, "__array_interface__", None)
    if isinstance(interface, dict):
        return _array_address(value, interface)
    if hasattr(value, "__dlpack__"):
        return _dlpack_address(value)
    return _buffer_address(value)


def _array_address(value: object, interface: dict[str, Any]) -> int:
    data = interface.get("data")
    if isinstance(data, tuple):
        return int(data[0])
    return int(np.asarray(value).__array_interface__["data"][0])


def _dlpack_address(value: Any) -> int:
    # NOTE: the capsule is never renamed to "used_dltensor", so its own destructor gives it back.
    capsule = value.__dlpack__()
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = get_pointer(capsule, b"dltensor")
    tensor = _DLTensor.from_address(address)
    return int(tensor.data or 0) + int(tensor.byte_offset)


def _buffer_address(value: Any) -> int | None:
    try:
        view = memoryview(value)
    except TypeError:
        return None
    if view.nbytes == 0:
        return 0
    return int(np.asarray(view).__array_interface__["data"][0])
