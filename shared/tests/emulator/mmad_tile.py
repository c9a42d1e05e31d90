"""Products whose operands lie as rows of memory, as GM holds them, in slices of K."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deep_jit._shared.tests.emulator import mmad_reference as ref
from deep_jit._shared.tests.emulator.mmad_case import Case
from deep_jit._shared.tests.emulator.mmad_native import Problem

VERSIONS = itertools.count((1 << 63) + 1)
ZERO, ACCUMULATE = 0, 1
Memory = npt.NDArray[np.uint8]


def rows_of_memory(codes: ref.Codes, name: str, gap: int) -> Memory:
    """Rows of an operand as GM holds them, whole pieces each, and `gap` bytes of NaN behind."""
    dense = ref.nz_bytes(codes, ref.FORMATS[name], 0xFF)
    pieces = dense.reshape(-1, ref.ceil16(codes.shape[0]), 32).transpose(1, 0, 2)
    rows = np.full((pieces.shape[0], pieces.shape[1] * 32 + gap), 0xFF, np.uint8)
    rows[:, : pieces.shape[1] * 32] = pieces.reshape(pieces.shape[0], -1)
    return rows


@dataclass
class Tile:
    """The C of a case, with its operands as rows of memory."""

    case: Case
    a: Memory
    b: Memory
    c: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, case: Case, *, gap: int = 64) -> Tile:
        """Operands of a case; C starts as the case says."""
        m, _, n = case.shape
        c = np.zeros(ref.ceil16(m) * ref.ceil16(n), np.uint32)
        c[ref.c_offsets(m, n)] = case.start_bits()
        a = rows_of_memory(case.a, case.a_format, gap)
        return cls(case, a, rows_of_memory(case.b, case.b_format, gap), c)

    def products(
        self, step: int, *, lasting: bool, version: int | None = None
    ) -> Iterator[Problem]:
        """The product in slices of `step` of K; of lasting operands with a version of their own."""
        m, k, n = self.case.shape
        version = next(VERSIONS) if version is None else version
        bits = ref.FORMATS[self.case.a_format].bits
        for first in range(0, k, step):
            init = ACCUMULATE if first or self.case.init == "accumulate" else ZERO
            yield Problem(
                a=self.a.ctypes.data + first * bits // 8,
                b=self.b.ctypes.data + first * bits // 8,
                c=self.c.ctypes.data, m=m, k=min(step, k - first), n=n, init=init,
                a_type=ref.FORMATS[self.case.a_format].number,
                b_type=ref.FORMATS[self.case.b_format].number,
                lasting=lasting, a_version=version if lasting else 0,
                b_version=version if lasting else 0, a_pitch=32, b_pitch=32,
                a_row_pitch=self.a.strides[0], b_row_pitch=self.b.strides[0],
            )  # fmt: skip

    def result(self) -> npt.NDArray[np.uint32]:
        """C `[m, n]`."""
        m, _, n = self.case.shape
        return self.c[ref.c_offsets(m, n)]
