"""Errors of tile_kernels: all are RuntimeErrors, argument errors also ValueError or TypeError.

Errors of the JIT come from the same base, so `except tile_kernels.errors.Error` sees everything
(architecture.md section 3).
"""

from tile_kernels._shared.jit.errors import CompileError, Error, LaunchError, ToolchainError

__all__ = [
    "CompileError",
    "Error",
    "LaunchError",
    "ToolchainError",
    "TileKernelsError",
    "TileKernelsTypeError",
    "TileKernelsValueError",
]


class TileKernelsError(Error):
    """Base of everything that tile_kernels itself raises on purpose."""


class TileKernelsValueError(TileKernelsError, ValueError):
    """A shape, stride, size or option that is not allowed."""


class TileKernelsTypeError(TileKernelsError, TypeError):
    """An argument of the wrong Python type or dtype."""
