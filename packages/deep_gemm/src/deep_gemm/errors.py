"""Errors of deep_gemm: all are RuntimeErrors, as callers of the published library catch.

Argument errors are ValueErrors or TypeErrors too (architecture.md section 3). Every message
says what was got, what is allowed and how to fix it. Errors of the JIT (`CompileError`,
`LaunchError`, ...) are re-exported, so that `except deep_gemm.errors.Error` sees everything.
"""

from __future__ import annotations

from deep_gemm._shared.jit.errors import (
    CacheError,
    CompileError,
    CompileTimeout,
    ConfigError,
    Error,
    LaunchError,
    LaunchTimeout,
    ToolchainError,
)

__all__ = [
    "CacheError",
    "CompileError",
    "CompileTimeout",
    "ConfigError",
    "DeepGemmError",
    "DeepGemmTypeError",
    "DeepGemmValueError",
    "Error",
    "LaunchError",
    "LaunchTimeout",
    "ToolchainError",
]


class DeepGemmError(Error):
    """Base of everything deep_gemm itself raises on purpose."""


class DeepGemmValueError(DeepGemmError, ValueError):
    """A shape, stride, size or option that is not allowed."""


class DeepGemmTypeError(DeepGemmError, TypeError):
    """An argument of the wrong Python type or torch dtype."""
