"""Random numbers (tile_kernels.md section 9)."""

from tile_kernels.rand.randn_kernel import randn, randn_like, set_seed

__all__ = ["randn", "randn_like", "set_seed"]
