"""Transposes of matrices and batches of them (tile_kernels.md section 6)."""

from tile_kernels.transpose.batched_transpose_kernel import batched_transpose, transpose

__all__ = ["batched_transpose", "transpose"]
