"""MoE routing, quantisation, transposes, rotary embedding and random numbers in TileLang.

Importing this package touches no device and runs no compiler (architecture.md section 4).
"""

from tile_kernels._version import __version__

__all__ = ["__version__"]
