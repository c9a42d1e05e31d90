"""Backend `cpu`: host compiler + emulator (deep_jit.md section 20)."""

from .backend import CpuBackend

__all__ = ["CpuBackend"]
