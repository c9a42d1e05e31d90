"""Which kernels are built so that checkers and the timing model see more (emulator.md 4 and 5).

Instructions tell the checkers of themselves. SIMT functions, scalar code that follows pointers to
GM, and SIMD functions that follow pointers to UB touch memory by plain C++, which only the compiler
can point out: it is told to instrument them as for its thread sanitizer, and the emulator's runtime
takes the place of that library.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from pathlib import Path

from ...._component import include_dirs
from ....emulator.context import current_options
from ..base import TrackedInclude
from .gm_pointers import follows_gm_pointers
from .ub_pointers import simd_follows_ub_pointers

__all__ = ["OBSERVE", "TIMED", "observe_flags", "observe_flags_of_texts"]

OBSERVE = "-fsanitize=thread"
# Instructions of vector functions tell the timing model of themselves (asc_emu/vector/timed.hpp).
TIMED = "-DASC_EMU_TIMED=1"
# Threads poll volatile memory: that is no race. And nobody needs to know of calls.
_DETAILS = {
    "gcc": (
        "--param=tsan-distinguish-volatile=1",
        "--param=tsan-instrument-func-entry-exit=0",
        "-Wno-tsan",  # of fences, which the library does not model; the runtime does
    ),
    "clang": (
        *("-mllvm", "-tsan-distinguish-volatile=1"),
        *("-mllvm", "-tsan-instrument-func-entry-exit=0"),
    ),
}
_SIMT = re.compile(rb"\b(?:__simt_vf__|__simt_callee__|threadIdx)\b")
_VECTOR = re.compile(rb"\b(?:__sim[dt]_vf__|__sim[dt]_callee__|threadIdx|asc_vf_call)\b")


def observe_flags(source: bytes, tracked: Iterable[TrackedInclude], family: str) -> tuple[str, ...]:
    """Returns the flags that a kernel needs besides, now.

    None without checkers and timing; none for texts without functions that these look into.

    Args:
        source: the kernel's text.
        tracked: headers of the user.
        family: of the compiler, ``gcc`` or ``clang``.
    """
    own = tuple(f"{path}{os.sep}" for path in include_dirs())
    headers = [item for item in tracked if not os.path.realpath(item.path).startswith(own)]

    def has(word: re.Pattern[bytes]) -> bool:
        return bool(word.search(source)) or any(
            _has(word, item.path, item.sha256) for item in headers
        )

    def follows() -> bool:
        texts = [source, *(_text(item.path, item.sha256) for item in headers)]
        return _follows(texts)

    return _flags(has, follows, family)


def observe_flags_of_texts(texts: Iterable[str], family: str) -> tuple[str, ...]:
    """The same for a program, by all of its texts."""
    codes = [text.encode() for text in texts]
    return _flags(
        lambda word: any(word.search(code) for code in codes), lambda: _follows(codes), family
    )


def _flags(
    has: Callable[[re.Pattern[bytes]], bool], follows: Callable[[], bool], family: str
) -> tuple[str, ...]:
    options = current_options()
    flags: tuple[str, ...] = ()
    if options.checks and (has(_SIMT) or follows()):
        flags = (OBSERVE, *_DETAILS[family])
    if options.timing != "off" and has(_VECTOR):
        flags = (*flags, TIMED)
    return flags


def _follows(texts: Iterable[bytes]) -> bool:
    text = b"\n".join(texts).decode(errors="surrogateescape")
    return follows_gm_pointers(text) or simd_follows_ub_pointers(text)


@cache
def _has(word: re.Pattern[bytes], path: Path, sha256: str) -> bool:
    return word.search(_text(path, sha256)) is not None


@lru_cache(maxsize=256)
def _text(path: Path, sha256: str) -> bytes:
    """`sha256` tells versions of a file apart."""
    try:
        return path.read_bytes()
    except OSError:
        return b""
