"""The emulator's Python side: options, reports and modelled time (emulator.md sections 1 and 3)."""

from typing import TYPE_CHECKING, Any

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
    timed_launches,
    timing_constants,
)

if TYPE_CHECKING:
    from .bank_conflicts import bank_conflict_lines
    from .plots import plot_roofline, plot_timeline
    from .timeline import Timeline, load_timeline, write_chrome_trace
    from .timing_table import print_profile

__all__ = [
    "CHECKS",
    "EmulatorOptions",
    "Finding",
    "GmRange",
    "SanitizerError",
    "SanitizerWarning",
    "Timeline",
    "TimingConstant",
    "TimingProfile",
    "bank_conflict_lines",
    "current_options",
    "emulator",
    "gm_range",
    "last_profile",
    "load_timeline",
    "plot_roofline",
    "plot_timeline",
    "print_profile",
    "record",
    "replay_trace",
    "save_trace",
    "timed_launches",
    "timing_constants",
    "write_chrome_trace",
]

# NOTE: loaded on first use: timelines need numpy, tables rich, plots matplotlib.
_LATER = {
    "Timeline": "timeline",
    "bank_conflict_lines": "bank_conflicts",
    "load_timeline": "timeline",
    "write_chrome_trace": "timeline",
    "plot_roofline": "plots",
    "plot_timeline": "plots",
    "print_profile": "timing_table",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
