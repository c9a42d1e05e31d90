"""Published times on Ascend 950DT, CANN 9.20, cold L2 (ascend950_model.md section 4)."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DENSE", "NOT_COVERED", "PEAK_TFLOPS", "DenseRow"]

# At 1650 MHz and 32 cores.
PEAK_TFLOPS = {"bf16": 432.5, "fp8": 865.1, "fp4": 1730.2}


@dataclass(frozen=True)
class DenseRow:
    """D[m, n] = A[m, k] * B[n, k]^T with bf16 D, and its published time.

    Attributes:
        dtype: of A and B.
        us: published microseconds.
    """

    dtype: str
    m: int
    n: int
    k: int
    us: float

    @property
    def kind(self) -> str:
        """Class of the report: rows that memory, tails and latency decide are "small"."""
        return "small" if self.m == 128 or self.n in (576, 2112) else "compute-bound"

    @property
    def flops(self) -> int:
        """Multiplications and additions."""
        return 2 * self.m * self.n * self.k

    def __str__(self) -> str:
        return f"{self.dtype} {self.m}x{self.n}x{self.k}"


_FP8 = {
    (2112, 7168): (15.0, 156.9),
    (576, 7168): (10.1, 54.6),
    (24576, 1536): (20.6, 362.2),
    (32768, 512): (10.4, 164.3),
    (7168, 16384): (54.8, 1117.6),
    (4096, 7168): (19.0, 282.9),
    (7168, 2048): (10.1, 143.4),
}
DENSE = (
    DenseRow("bf16", 4096, 7168, 16384, 2229.9),
    DenseRow("fp4", 4096, 7168, 16384, 565.6),
    *(
        DenseRow("fp8", m, n, k, us[column])
        for column, m in enumerate((128, 4096))
        for (n, k), us in _FP8.items()
    ),
)

# Published rows without a kernel in this repository: what, and how many rows.
NOT_COVERED = (
    ("dense fp8 x fp4, 4096x7168x16384", 1),
    ("M-grouped fp8 x fp4", 8),
    ("MQA logits, prefill and decode, fp8 and fp4", 4),
    ("MegaMoE EP8", 8),
    ("HC prenorm", 5),
    ("FlashMLA sparse attention", 2),
)
