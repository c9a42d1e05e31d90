"""Element types of the tests; the index of a type is what kernels/common.hpp switches on."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class ElementType:
    """One element type.

    Attributes:
        name: short name, as in test ids.
        index: number in kernels/common.hpp.
        bits: bits of one element.
        dtype: numpy type with the same values, or None where numpy has none.
    """

    name: str
    index: int
    bits: int
    dtype: np.dtype | None

    @property
    def bytes(self) -> int:
        """Bytes of the storage type."""
        return max(1, self.bits // 8)


_ROWS = (
    ("i8", 8, np.int8),
    ("u8", 8, np.uint8),
    ("hif8", 8, None),
    ("e5m2", 8, ml_dtypes.float8_e5m2),
    ("e4m3", 8, ml_dtypes.float8_e4m3fn),
    ("i16", 16, np.int16),
    ("u16", 16, np.uint16),
    ("f16", 16, np.float16),
    ("bf16", 16, ml_dtypes.bfloat16),
    ("i32", 32, np.int32),
    ("u32", 32, np.uint32),
    ("f32", 32, np.float32),
    ("e2m1", 4, ml_dtypes.float4_e2m1fn),
    ("e1m2", 4, None),
    ("i4", 4, ml_dtypes.int4),
)
TYPES = {
    name: ElementType(name, index, bits, None if dtype is None else np.dtype(dtype))
    for index, (name, bits, dtype) in enumerate(_ROWS)
}
