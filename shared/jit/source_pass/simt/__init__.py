"""SIMT functions as loops over their threads (emulator.md section 2).

`statements` reads a function's body, `analysis` decides whether it can be split at its barriers and
warp operations, and `emit` writes the function that runs all threads of a block in one call.
Functions that cannot be split keep running a thread each. `work` counts instructions for the timing
model.
"""

from __future__ import annotations

from .rewrite import LaneFunctions, rewrite_lanes
from .work import rewrite_work

__all__ = ["LaneFunctions", "rewrite_lanes", "rewrite_work"]
