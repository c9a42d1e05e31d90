"""The emulator's Python side: options and reports (emulator.md sections 1 and 3)."""

from .context import current_options, emulator
from .gm_ranges import GmRange, gm_range
from .options import CHECKS, EmulatorOptions
from .sanitizer import Finding, SanitizerError, SanitizerWarning, record
from .timing import (
    TimingConstant,
    TimingProfile,
    last_profile,
    replay_trace,
    save_trace,
    timing_constants,
)

__all__ = [
    "CHECKS",
    "EmulatorOptions",
    "Finding",
    "GmRange",
    "SanitizerError",
    "SanitizerWarning",
    "TimingConstant",
    "TimingProfile",
    "current_options",
    "emulator",
    "gm_range",
    "last_profile",
    "record",
    "replay_trace",
    "save_trace",
    "timing_constants",
]
