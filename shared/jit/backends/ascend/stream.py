"""The stream of a launch: given, null, or torch_npu's current one (deep_jit.md section 5.1)."""

from __future__ import annotations

import sys
from typing import Any

from ...errors import LaunchOptionError
from ...options import UNSET

__all__ = ["current_stream", "stream_handle"]


def stream_handle(stream: object, device: int) -> int:
    """Returns the ACL handle of `LaunchOptions.stream`.

    Args:
        stream: UNSET = the current stream now; None = the null stream; a `torch.npu.Stream`; or the
            handle itself.
        device: device whose current stream counts.

    Raises:
        LaunchOptionError: `stream` is something else.
    """
    if stream is UNSET:
        return current_stream(device)
    if stream is None:
        return 0
    handle = getattr(stream, "npu_stream", stream)
    if isinstance(handle, bool) or not isinstance(handle, int):
        raise LaunchOptionError(
            "stream must be a torch.npu.Stream, an ACL stream handle (int) or None for the null "
            f"stream, got {stream!r}"
        )
    return handle


def current_stream(device: int) -> int:
    """Returns the current stream of `torch.npu`, the null stream in a process without it."""
    # NOTE: asking for the raw stream also empties torch_npu's task queue, so what torch queued
    # before runs before.
    raw = getattr(
        getattr(sys.modules.get("torch_npu"), "_C", None), "_npu_getCurrentRawStream", None
    )
    if raw is not None:
        return int(raw(device))
    npu: Any = getattr(sys.modules.get("torch"), "npu", None)
    if npu is None or not hasattr(npu, "current_stream"):
        return 0
    return int(npu.current_stream(device).npu_stream)
