"""Kernel arguments: checks against a signature, and the payload (deep_jit.md section 7).

A payload is what an Ascend launch copies to the device: every argument by value at
`round_up(end of the one before, max(4, alignment))`, zero padding, a multiple of 8 and at least 8
bytes.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .arg_pointers import pointer_of
from .backends.base import ParamInfo
from .errors import ArgumentError
from .scalars import (
    STRUCT_CODES,
    ByValue,
    Scalar,
    bool_,
    check_number,
    describe,
    describe_all,
    f32,
    f64,
    got_text,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)

__all__ = [
    "ByValue",
    "PayloadLayout",
    "Scalar",
    "bool_",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "pack_arguments",
    "u8",
    "u16",
    "u32",
    "u64",
]

_C_NUMBERS = "bBhHiIlLqQfd?"
_REMEDY = (
    "pass a typed scalar (i8 .. u64, f32, f64, bool_), a ctypes or NumPy scalar, an array or "
    "tensor, None for a null pointer, or a struct by value: ByValue(data, align)"
)


class PayloadLayout:
    """Places of a kernel's parameters in the payload, precomputed for repeated launches.

    Attributes:
        params: the parameters.
        offsets: byte offset of each.
        size: bytes of the payload.
        struct: packs one value per parameter (numbers, addresses as int, structs as bytes) without
            checks.
    """

    def __init__(self, params: Sequence[ParamInfo]) -> None:
        """Computes offsets by the rule of deep_jit.md section 7.1."""
        self.params = tuple(params)
        self.offsets, end = _offsets(self.params)
        self.size = max(8, _round_up(end, 8))
        self.struct = struct.Struct(_struct_format(self.params, self.offsets, self.size))
        self._readers = tuple(_reader(index, param) for index, param in enumerate(self.params))

    def pack(self, args: Sequence[object]) -> bytes:
        """Checks the arguments against the parameters and packs them.

        Raises:
            ArgumentError: names the argument's index, what was got and what the kernel takes.
        """
        if len(args) != len(self._readers):
            raise ArgumentError(
                f"got {len(args)} arguments; the kernel takes {len(self._readers)}: "
                f"({describe_all(self.params)})"
            )
        return self.struct.pack(*[read(arg) for read, arg in zip(self._readers, args, strict=True)])


def pack_arguments(args: Sequence[object], params: Sequence[ParamInfo] | None) -> bytes:
    """Packs kernel arguments into the payload of a launch.

    Args:
        args: one Python object per parameter.
        params: the kernel's signature; None when it is not known: then every argument must say its
            own C++ type (bare Python numbers and bare `bytes` are refused).

    Returns:
        The payload: at least 8 bytes, a multiple of 8.

    Raises:
        ArgumentError: wrong count, type, size or range.
    """
    if params is not None:
        return _layout(tuple(params)).pack(args)
    own = tuple(_param_of(index, arg) for index, arg in enumerate(args))
    return _layout(own).pack(args)


_layout = lru_cache(maxsize=256)(PayloadLayout)


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _offsets(params: Sequence[ParamInfo]) -> tuple[tuple[int, ...], int]:
    offsets = []
    end = 0
    for param in params:
        offset = _round_up(end, max(4, param.align))
        offsets.append(offset)
        end = offset + param.size
    return tuple(offsets), end


def _struct_format(params: Sequence[ParamInfo], offsets: Sequence[int], size: int) -> str:
    parts = ["<"]
    end = 0
    for param, offset in zip(params, offsets, strict=True):
        code = STRUCT_CODES.get(param.kind, {}).get(param.size, f"{param.size}s")
        parts.append(f"{offset - end}x{code}")
        end = offset + param.size
    return "".join([*parts, f"{size - end}x"])


def _param_of(index: int, arg: object) -> ParamInfo:
    """Returns the parameter that an argument declares by its own type."""
    if isinstance(arg, Scalar):
        return arg.param()
    if isinstance(arg, ByValue):
        return ParamInfo("struct", len(arg.data), arg.align, "struct")
    if isinstance(arg, np.generic):
        return _numpy_param(arg.dtype)
    if isinstance(arg, ctypes.Structure | ctypes.Union):
        return ParamInfo("struct", ctypes.sizeof(arg), ctypes.alignment(arg), type(arg).__name__)
    if isinstance(arg, ctypes._SimpleCData) and _ctypes_code(arg) in _C_NUMBERS:
        return _ctypes_param(arg)
    if pointer_of(arg) is not None:
        return ParamInfo("pointer", 8, 8, "pointer")
    raise ArgumentError(
        f"argument {index}: got {got_text(arg)}; its C++ type is not known without the kernel's "
        f"signature; {_REMEDY}"
    )


def _numpy_param(dtype: np.dtype[np.generic]) -> ParamInfo:
    kind = {"i": "int", "u": "uint", "f": "float", "b": "bool"}.get(dtype.kind, "struct")
    if dtype.itemsize not in STRUCT_CODES.get(kind, {}):
        kind = "struct"
    return ParamInfo(kind, dtype.itemsize, dtype.alignment, str(dtype))


def _ctypes_code(arg: ctypes._SimpleCData[Any]) -> str:
    code: str = vars(type(arg)).get("_type_", "")
    return code


def _ctypes_param(arg: ctypes._SimpleCData[Any]) -> ParamInfo:
    code = _ctypes_code(arg)
    size = ctypes.sizeof(arg)
    if code in "fd":
        kind = "float"
    elif code == "?":
        kind = "bool"
    else:
        kind = "int" if code in "bhilq" else "uint"
    return ParamInfo(kind, size, size, type(arg).__name__)


def _reader(index: int, param: ParamInfo) -> Callable[[object], object]:
    """Returns the function that checks one argument and gives its value for `struct`."""
    where = f"argument {index}"
    if param.kind == "pointer":
        return lambda arg: _read_pointer(arg, param, where)
    if param.kind == "struct":
        return lambda arg: _read_struct(arg, param, where)
    return lambda arg: _read_scalar(arg, param, where)


def _read_pointer(arg: object, param: ParamInfo, where: str) -> int:
    address = None if isinstance(arg, Scalar) else pointer_of(arg)
    if address is None:
        raise ArgumentError(
            f"{where}: got {got_text(arg)}; wanted a pointer ({describe(param)}): "
            "pass a tensor, an array, None, or ctypes.c_void_p(address)"
        )
    return address


def _read_scalar(arg: object, param: ParamInfo, where: str) -> int | float | bool:
    if type(arg) in (bool, int, float):
        return check_number(arg, param, where)
    typed = isinstance(arg, Scalar | np.generic | ctypes._SimpleCData)
    own = _param_of(0, arg) if typed else None
    if own is None or (own.kind, own.size) != (param.kind, param.size):
        raise ArgumentError(
            f"{where}: got {got_text(arg)}; "
            f"wanted {describe(param)} ({param.kind}, {param.size} bytes)"
        )
    return arg.item() if isinstance(arg, np.generic) else arg.value  # type: ignore[attr-defined,no-any-return]


def _read_struct(arg: object, param: ParamInfo, where: str) -> bytes:
    if isinstance(arg, ByValue):
        data, align = arg.data, arg.align
    elif isinstance(arg, bytes):
        data, align = arg, param.align
    elif isinstance(arg, ctypes.Structure | ctypes.Union):
        data, align = bytes(arg), ctypes.alignment(arg)
    elif isinstance(arg, np.generic):
        data, align = arg.tobytes(), param.align
    else:
        raise ArgumentError(
            f"{where}: got {got_text(arg)}; "
            f"wanted {describe(param)} by value ({param.size} bytes): "
            "pass bytes, a ctypes.Structure, a NumPy scalar of that size, or ByValue(data, align)"
        )
    if len(data) != param.size or align > param.align:
        raise ArgumentError(
            f"{where}: got {len(data)} bytes aligned to {align}; "
            f"wanted {describe(param)} of {param.size} bytes aligned to {param.align}"
        )
    return data
