"""A loaded kernel object and its launches (deep_jit.md sections 8 and 20)."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...._component import native
from ....emulator.context import after_launch, attach_runtime, current_options, sync_threads
from ....emulator.gm_ranges import GmRange
from ....emulator.reports import parse_report, report_text
from ...errors import KernelCountError, LaunchError, LaunchTimeout
from ...options import LaunchOptions
from ..base import KernelInfo, Payload
from .build import kernel_info

__all__ = ["CpuLoadedKernel", "load_kernel", "needed_runtime"]

_RUNTIME_NAME = re.compile(rb"\0(libasc_emu-[0-9A-Za-z]+\.so)\0")

_opened: dict[str, tuple[int, ...]] = {}
"""Path -> identity of the file that was loaded from there first."""
_opened_lock = threading.Lock()


def _fresh_lock_in_child() -> None:
    global _opened_lock
    _opened_lock = threading.Lock()


os.register_at_fork(after_in_child=_fresh_lock_in_child)


class CpuLoadedKernel:
    """One kernel in this process. Threads may launch it at the same time.

    Args:
        handle: the native module's kernel.
        runtime: the native module's runtime; None = findings of the checkers are not looked up.
    """

    def __init__(self, handle: Any, runtime: Any = None) -> None:
        self._runtime = runtime
        self._launch = handle.launch
        self._unload = handle.unload
        self._failure: type[Exception] = native().LaunchFailure
        self.info: KernelInfo = kernel_info(handle.info())

    def launch(
        self, payload: Payload, options: LaunchOptions, ranges: Sequence[GmRange] = ()
    ) -> None:
        """Runs the kernel on the calling thread and the runtime's workers; returns when it is done.

        Args:
            payload: packed arguments (section 7.1).
            options: effective options, already checked.
            ranges: the tensors it may touch; none = GM is not checked, and copies from it are made
                at once.

        Raises:
            SanitizerError: the checkers found errors.
            LaunchTimeout: it ran longer than its limit.
            LaunchError: the runtime stopped it; `report` holds the details. The process goes on.
        """
        sync_threads()
        try:
            self._launch(
                payload,
                options.num_blocks,
                options.num_ubuf_bytes or 0,
                options.num_launch_timeout_secs or 0,
                list(ranges),
                options.block_stride or 0,
            )
        except self._failure as error:
            raise _launch_error(str(error), self.info) from None
        except RuntimeError as error:
            raise LaunchError(str(error)) from None
        after_launch()
        if self._runtime is not None and current_options().checks:
            self._show_warnings()

    def _show_warnings(self) -> None:
        from ....emulator.sanitizer import notice, read_reports

        findings = json.loads(self._runtime.get_option("findings"))
        if findings:
            notice(read_reports(findings))

    def unload(self) -> None:
        """Closes the object once no launch uses it; idempotent."""
        self._unload()


def load_kernel(binary: Path, runtime: Path, name: str = "") -> CpuLoadedKernel:
    """Loads a kernel of an object.

    Args:
        binary: a verified kernel object.
        runtime: the runtime it needs.
        name: symbol of the kernel; "" for the only one.

    Raises:
        KernelCountError: without a name: it holds none or several.
        LaunchError: the loader refused it.
    """
    emulator = attach_runtime(os.fspath(runtime))
    try:
        return CpuLoadedKernel(
            native().load_kernel(emulator, _loadable_path(binary), name), emulator
        )
    except RuntimeError as error:
        if "expected exactly one kernel" in str(error) or "asc_emu_kernels_v1" in str(error):
            names = [str(item["demangled"]) for item in _inspect(binary)]
            raise KernelCountError(
                f"expected exactly one kernel in {binary}, found {len(names)}: {', '.join(names)}",
                names=names,
            ) from None
        raise LaunchError(f"cannot load the kernel object {binary}: {error}") from error


def needed_runtime(binary: Path) -> str | None:
    """Returns the file name of the runtime that an object was linked to."""
    match = _RUNTIME_NAME.search(binary.read_bytes())
    return match.group(1).decode() if match else None


def _inspect(binary: Path) -> list[dict[str, object]]:
    try:
        found: list[dict[str, object]] = native().inspect(binary)
    except RuntimeError:
        return []
    return found


def _loadable_path(binary: Path) -> Path:
    """The path to open: the file's own, or a copy in memory when the file was replaced meanwhile.

    The loader knows objects by their path, so it would give the old mapping again.
    """
    status = binary.stat()
    identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    with _opened_lock:
        if _opened.setdefault(os.fspath(binary), identity) == identity:
            return binary
    descriptor = os.memfd_create(binary.name, os.MFD_CLOEXEC)
    with open(descriptor, "wb", closefd=False) as copy:
        copy.write(binary.read_bytes())
    # NOTE: the descriptor stays open, so that its number, and with it the path, is not used again.
    return Path(f"/proc/self/fd/{descriptor}")


def _launch_error(text: str, info: KernelInfo) -> LaunchError:
    report = parse_report(text)
    if report.get("kind") == "sanitizer":
        from ....emulator.sanitizer import error_of

        return error_of(report)
    cls = LaunchTimeout if report.get("kind") == "timeout" else LaunchError
    return cls(f"kernel {info.demangled} failed: {report_text(report)}", report=report)
