"""Typed scalars and by-value structs for launches, and range checks (deep_jit.md section 7.3)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .backends.base import ParamInfo
from .errors import ArgumentError

__all__ = [
    "ByValue",
    "Scalar",
    "bool_",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
]

STRUCT_CODES = {
    "int": {1: "b", 2: "h", 4: "i", 8: "q"},
    "uint": {1: "B", 2: "H", 4: "I", 8: "Q"},
    "float": {2: "e", 4: "f", 8: "d"},
    "bool": {1: "?"},
    "pointer": {8: "Q"},
}
"""Letters of the `struct` module by kind and size."""


class Scalar:
    """A number with the C++ type the kernel declares; the base of `i8` ... `f64` and `bool_`."""

    __slots__ = ("value",)
    kind: ClassVar[str]
    size: ClassVar[int]

    def __init__(self, value: int | float | bool) -> None:
        """Checks the value.

        Raises:
            ArgumentError: the value is of another type or outside the range of the C++ type.
        """
        name = type(self).__name__
        self.value = check_number(value, type(self).param(), f"{name}({value!r})")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"

    @classmethod
    def param(cls) -> ParamInfo:
        """Returns the parameter that this type fits."""
        return ParamInfo(cls.kind, cls.size, cls.size, cls.__name__)


class i8(Scalar):
    """`int8_t`."""

    kind, size = "int", 1


class i16(Scalar):
    """`int16_t`."""

    kind, size = "int", 2


class i32(Scalar):
    """`int32_t`."""

    kind, size = "int", 4


class i64(Scalar):
    """`int64_t`."""

    kind, size = "int", 8


class u8(Scalar):
    """`uint8_t`."""

    kind, size = "uint", 1


class u16(Scalar):
    """`uint16_t`."""

    kind, size = "uint", 2


class u32(Scalar):
    """`uint32_t`."""

    kind, size = "uint", 4


class u64(Scalar):
    """`uint64_t`."""

    kind, size = "uint", 8


class f32(Scalar):
    """`float`."""

    kind, size = "float", 4


class f64(Scalar):
    """`double`."""

    kind, size = "float", 8


class bool_(Scalar):
    """`bool`."""

    kind, size = "bool", 1


@dataclass(frozen=True)
class ByValue:
    """Bytes of a struct passed by value, with the alignment of its C++ type.

    Example:
        >>> ByValue(struct.pack("<qi4x", 5, 6), align=8).align
        8
    """

    data: bytes
    align: int

    def __post_init__(self) -> None:
        """Raises ArgumentError when the alignment is not a power of two."""
        if self.align < 1 or self.align & (self.align - 1):
            raise ArgumentError(
                f"ByValue: got align={self.align}; allowed: a power of two; "
                "pass alignof(T) of the C++ type"
            )


def describe(param: ParamInfo) -> str:
    if param.type_name:
        return param.type_name
    return param.kind if param.kind in ("pointer", "bool") else f"{param.kind}{param.size * 8}"


def describe_all(params: Sequence[ParamInfo]) -> str:
    return ", ".join(describe(param) for param in params)


def got_text(arg: object) -> str:
    text = repr(arg)
    return f"{type(arg).__name__} {text if len(text) <= 60 else text[:57] + '...'}"


def check_number(value: object, param: ParamInfo, where: str) -> int | float | bool:
    """Checks a bare Python number against a scalar parameter."""
    if param.kind == "bool":
        if isinstance(value, bool):
            return value
        raise ArgumentError(f"{where}: got {got_text(value)}; wanted bool: pass True or False")
    if param.kind == "float":
        return _checked_float(value, param, where)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentError(
            f"{where}: got {got_text(value)}; wanted {describe(param)}: pass an int"
        )
    low, high = _int_range(param)
    if not low <= value <= high:
        raise ArgumentError(
            f"{where}: got {value}; wanted {describe(param)}, allowed: {low} .. {high}"
        )
    return value


def _int_range(param: ParamInfo) -> tuple[int, int]:
    bits = param.size * 8
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if param.kind == "int" else (0, (1 << bits) - 1)


def _checked_float(value: object, param: ParamInfo, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ArgumentError(
            f"{where}: got {got_text(value)}; wanted {describe(param)}: pass a float"
        )
    try:
        struct.pack("<" + STRUCT_CODES["float"][param.size], value)
    except OverflowError:
        raise ArgumentError(
            f"{where}: got {value!r}; it is too large for {describe(param)} ({param.size} bytes)"
        ) from None
    return float(value)
