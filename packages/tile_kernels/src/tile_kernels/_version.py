"""The only place that holds the version of tile-kernels (style.md section 8)."""

__version__ = "0.1.0.dev0"
