"""Readable C++ names by the C++ runtime's own demangler."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

__all__ = ["demangle"]


def demangle(name: str) -> str:
    """Returns the readable form of a mangled name, any other name as it is."""
    function, free = _demangler()
    if function is None or not name.startswith("_Z"):
        return name
    status = ctypes.c_int()
    text = function(name.encode("utf-8", "surrogateescape"), None, None, ctypes.byref(status))
    if not text:
        return name
    try:
        return (ctypes.cast(text, ctypes.c_char_p).value or b"").decode("utf-8", "replace")
    finally:
        free(text)


@cache
def _demangler() -> tuple[Any, Any]:
    try:
        function = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
        free = ctypes.CDLL(None).free
    except (OSError, AttributeError):
        return None, None
    function.restype = ctypes.c_void_p
    function.argtypes = (
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_void_p,
        ctypes.POINTER(ctypes.c_int),
    )
    free.argtypes = (ctypes.c_void_p,)
    free.restype = None
    return function, free
