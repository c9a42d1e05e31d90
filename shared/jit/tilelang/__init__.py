"""Bridge to TileLang: its kernels on CPU tensors, in the emulator (emulator.md section 7)."""

from __future__ import annotations

from .bridge import TileLangBridge, TileLangFunction
from .kernel import TileLangKernel
from .lowered import Lowered, Parameter

__all__ = ["Lowered", "Parameter", "TileLangBridge", "TileLangFunction", "TileLangKernel"]
