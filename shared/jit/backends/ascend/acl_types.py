"""Structures and numbers of ACL that a launch needs (deep_jit.md sections 5.1, 8 and 21).

The numbers are those of `acl/acl_rt.h` in the CANN runtime of the 950 series.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum

__all__ = [
    "CPU_KERNEL_MODE_DATA",
    "SUCCESS",
    "BinaryLoadOption",
    "BinaryLoadOptionId",
    "BinaryLoadOptions",
    "DeviceAttribute",
    "LaunchAttribute",
    "LaunchAttributeId",
    "LaunchConfig",
    "cpu_kernel_options",
    "launch_config",
]

SUCCESS = 0

# The AICPU binary comes from host memory and its functions are registered by name.
CPU_KERNEL_MODE_DATA = 2


class LaunchAttributeId(IntEnum):
    """Kinds of launch attributes."""

    DYNAMIC_UBUF_BYTES = 2
    TIMEOUT_SECONDS = 7


class BinaryLoadOptionId(IntEnum):
    """Kinds of options of loading a binary."""

    CPU_KERNEL_MODE = 3


class DeviceAttribute(IntEnum):
    """What `aclrtGetDeviceInfo` can tell."""

    AICPU_CORES = 1
    AICORE_CORES = 101
    CUBE_CORES = 102
    VECTOR_CORES = 201
    WARP_SIZE = 202
    MAX_THREADS_PER_VECTOR_CORE = 203
    UBUF_BYTES_PER_VECTOR_CORE = 204
    GLOBAL_MEMORY_BYTES = 301
    L2_CACHE_BYTES = 302
    NPU_ARCH = 601


class _LaunchValue(ctypes.Union):
    _fields_ = (
        ("dynamic_ubuf_bytes", ctypes.c_uint32),
        ("timeout_seconds", ctypes.c_uint16),
        ("reserved", ctypes.c_uint32 * 4),
    )


class LaunchAttribute(ctypes.Structure):
    """One attribute of a launch: a kind and its value."""

    _fields_ = (("id", ctypes.c_uint32), ("value", _LaunchValue))


class LaunchConfig(ctypes.Structure):
    """The attributes of a launch."""

    _fields_ = (("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_size_t))


class _BinaryLoadValue(ctypes.Union):
    _fields_ = (("cpu_kernel_mode", ctypes.c_int32), ("reserved", ctypes.c_uint32 * 4))


class BinaryLoadOption(ctypes.Structure):
    """One option of loading a binary: a kind and its value."""

    _fields_ = (("type", ctypes.c_uint32), ("value", _BinaryLoadValue))


class BinaryLoadOptions(ctypes.Structure):
    """The options of loading a binary."""

    _fields_ = (("options", ctypes.POINTER(BinaryLoadOption)), ("count", ctypes.c_size_t))


def launch_config(ubuf_bytes: int, timeout_seconds: int) -> LaunchConfig | None:
    """Returns the attributes that are not zero, or None when both are.

    Args:
        ubuf_bytes: dynamic Unified Buffer of a block, in bytes.
        timeout_seconds: the launch is stopped after this time.
    """
    attributes = []
    if ubuf_bytes:
        attributes.append(
            _attribute(LaunchAttributeId.DYNAMIC_UBUF_BYTES, "dynamic_ubuf_bytes", ubuf_bytes)
        )
    if timeout_seconds:
        attributes.append(
            _attribute(LaunchAttributeId.TIMEOUT_SECONDS, "timeout_seconds", timeout_seconds)
        )
    if not attributes:
        return None
    # NOTE: a structure keeps what its pointer field was assigned from alive.
    return LaunchConfig((LaunchAttribute * len(attributes))(*attributes), len(attributes))


def cpu_kernel_options() -> BinaryLoadOptions:
    """Returns the options that load an AICPU binary from host memory."""
    option = BinaryLoadOption(type=BinaryLoadOptionId.CPU_KERNEL_MODE)
    option.value.cpu_kernel_mode = CPU_KERNEL_MODE_DATA
    return BinaryLoadOptions((BinaryLoadOption * 1)(option), 1)


def _attribute(kind: LaunchAttributeId, field: str, value: int) -> LaunchAttribute:
    attribute = LaunchAttribute(id=kind)
    setattr(attribute.value, field, value)
    return attribute
