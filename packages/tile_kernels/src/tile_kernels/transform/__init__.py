"""Transforms of queries and keys (tile_kernels.md section 6)."""

from tile_kernels.transform.apply_rotary_kernel import apply_rotary

__all__ = ["apply_rotary"]
