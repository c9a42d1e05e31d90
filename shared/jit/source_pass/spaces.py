"""Names of on-chip memories in texts and in the runtime (ascend_c_cube.md section 1)."""

from __future__ import annotations

import re

__all__ = ["ANY_SPACE", "SCALAR_SPACE", "SPACES"]

SPACES = {
    "cbuf": "l1",
    "ca": "l0a",
    "cb": "l0b",
    "cc": "l0c",
    "ubuf": "ub",
    "fbuf": "fb",
    "biasbuf": "bt",
    "ssbuf": "ssb",
}
"""Address-space qualifier without underscores -> enumerator of `asc_emu::Space`."""

ANY_SPACE = re.compile(rf"__({'|'.join(SPACES)})__(?!\w)")
"""A qualifier of any on-chip memory."""

SCALAR_SPACE = re.compile(r"__(ubuf|ssbuf)__(?!\w)")
"""A qualifier of a memory that scalar code reads and writes directly."""
