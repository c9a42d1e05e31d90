"""The emulator's Python side: options and reports (emulator.md sections 1 and 3)."""

from .context import current_options, emulator
from .options import CHECKS, EmulatorOptions

__all__ = ["CHECKS", "EmulatorOptions", "current_options", "emulator"]
