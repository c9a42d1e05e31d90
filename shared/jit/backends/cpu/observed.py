"""Which kernels are built so that checkers see plain loads and stores (emulator.md section 4).

Instructions tell the checkers of themselves. SIMT functions touch memory by plain C++, which only
the compiler can point out: it is told to instrument them as for its thread sanitizer, and the
emulator's runtime takes the place of that library.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ...._component import include_dirs
from ....emulator.context import current_options
from ..base import TrackedInclude

__all__ = ["OBSERVE", "observe_flags", "observe_flags_of_texts"]

OBSERVE = "-fsanitize=thread"
# Threads poll volatile memory: that is no race. And nobody needs to know of calls.
_DETAILS = {
    "gcc": (
        "--param=tsan-distinguish-volatile=1",
        "--param=tsan-instrument-func-entry-exit=0",
    ),
    "clang": (
        *("-mllvm", "-tsan-distinguish-volatile=1"),
        *("-mllvm", "-tsan-instrument-func-entry-exit=0"),
    ),
}
_SIMT = re.compile(rb"\b(?:__simt_vf__|__simt_callee__|threadIdx)\b")


def observe_flags(source: bytes, tracked: Iterable[TrackedInclude], family: str) -> tuple[str, ...]:
    """Returns the flags that a kernel needs besides, now: none without checkers or SIMT code.

    Args:
        source: the kernel's text.
        tracked: headers of the user.
        family: of the compiler, ``gcc`` or ``clang``.
    """
    if not current_options().checks:
        return ()
    own = tuple(f"{path}{os.sep}" for path in include_dirs())
    headers = (item for item in tracked if not os.path.realpath(item.path).startswith(own))
    found = _SIMT.search(source) or any(_has_simt(item.path, item.sha256) for item in headers)
    return (OBSERVE, *_DETAILS[family]) if found else ()


def observe_flags_of_texts(texts: Iterable[str], family: str) -> tuple[str, ...]:
    """The same for a program, by all of its texts."""
    if not current_options().checks:
        return ()
    found = any(_SIMT.search(text.encode()) for text in texts)
    return (OBSERVE, *_DETAILS[family]) if found else ()


@cache
def _has_simt(path: Path, sha256: str) -> bool:
    """`sha256` tells versions of a file apart."""
    try:
        return _SIMT.search(path.read_bytes()) is not None
    except OSError:
        return False
