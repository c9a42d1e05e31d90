"""A launch in a child process: a crash or a hang ends only the child (deep_jit.md section 20).

The child is forked: it sees every tensor at its address, and its stores stay its own. When the
launch has succeeded, it copies the tensors the kernel may write into shared memory, and the parent
copies them back. After a failure the parent's tensors are as they were.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import pickle
import select
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

from .errors import LaunchError, LaunchTimeout

if TYPE_CHECKING:
    from ..emulator.gm_ranges import GmRange
    from ..emulator.sanitizer import Finding

__all__ = ["run_isolated"]

# The emulator stops most kernels at their limit by itself; a child that it cannot stop is killed.
_GRACE_S = 2.0
_PIECE = 1 << 20


def run_isolated(
    launch: Callable[[], None], ranges: Sequence[GmRange], timeout_s: int, title: str
) -> None:
    """Runs a launch in a forked child and brings its results back.

    Args:
        launch: the launch, without arguments.
        ranges: every tensor the kernel may touch; those not read-only are copied back.
        timeout_s: limit of the launch in seconds; 0 = none.
        title: the kernel's name, for messages.

    Raises:
        LaunchTimeout: the child did not end in time and was killed.
        LaunchError: the child died, or the launch failed as it would have here.
    """
    outputs = [item for item in ranges if item.bytes and not item.read_only]
    with _shared_memory(sum(item.bytes for item in outputs)) as memory:
        reader, writer = os.pipe()
        child = _fork()
        if child == 0:
            os.close(reader)
            _run_child(launch, outputs, memory, writer)
        os.close(writer)
        try:
            message = _read_all(reader, timeout_s, title)
        finally:
            os.close(reader)
            status = _end(child)
        _take_result(message, status, title)
        _copy(outputs, memory, to_shared=False)


@contextlib.contextmanager
def _shared_memory(num_bytes: int) -> Iterator[mmap.mmap]:
    try:
        memory = mmap.mmap(-1, max(num_bytes, 1))
    except OSError as error:
        raise LaunchError(
            f"isolate=True needs {num_bytes} bytes of shared memory for the outputs: {error}"
        ) from error
    with memory:
        yield memory


def _fork() -> int:
    _flush_c_streams()
    with warnings.catch_warnings():
        # NOTE: Python 3.12 warns of forks with threads; the child launches and ends, nothing else.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _flush_c_streams() -> None:
    ctypes.CDLL(None).fflush(None)


def _run_child(
    launch: Callable[[], None], outputs: Sequence[GmRange], memory: mmap.mmap, writer: int
) -> NoReturn:
    """Everything the child does; never returns, and runs no exit handler of the parent."""
    try:
        from ..emulator.sanitizer import record

        error: BaseException | None = None
        with record() as findings:
            try:
                launch()
                _copy(outputs, memory, to_shared=True)
            except BaseException as failure:
                error = failure
        _flush_c_streams()
        _write_all(writer, _packed(error, findings))
    finally:
        os._exit(0)


def _packed(error: BaseException | None, findings: list[Finding]) -> bytes:
    try:
        return pickle.dumps((error, findings))
    except Exception:
        return pickle.dumps((LaunchError(f"{type(error).__name__}: {error}"), []))


def _write_all(descriptor: int, message: bytes) -> None:
    view = memoryview(message)
    while view:
        view = view[os.write(descriptor, view) :]


def _read_all(reader: int, timeout_s: int, title: str) -> bytes:
    """What the child says until it closes its end."""
    limit = time.monotonic() + timeout_s + _GRACE_S if timeout_s else None
    message = bytearray()
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    while True:
        left = None if limit is None else max(0.0, limit - time.monotonic())
        if not poll.poll(None if left is None else left * 1e3):
            raise LaunchTimeout(
                f"kernel {title} ran longer than its limit of {timeout_s} s; its process was "
                "killed and the outputs were left as they were; raise num_launch_timeout_secs if "
                "it needs longer"
            )
        piece = os.read(reader, _PIECE)
        if not piece:
            return bytes(message)
        message += piece


def _end(child: int) -> int:
    """Ends the child if it still runs, and returns its wait status."""
    if (status := _finished(child)) is not None:
        return status
    deadline = time.monotonic() + _GRACE_S / 2
    while time.monotonic() < deadline:
        # NOTE: the pipe closes a moment before the process is gone.
        if (status := _finished(child)) is not None:
            return status
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def _finished(child: int) -> int | None:
    pid, status = os.waitpid(child, os.WNOHANG)
    return status if pid else None


def _take_result(message: bytes, status: int, title: str) -> None:
    """Raises what the child raised, and passes on what the checkers found."""
    if not message:
        raise LaunchError(
            f"kernel {title} ended its process: {_cause(status)}; the outputs were left as they "
            "were and this process goes on"
        )
    from ..emulator.sanitizer import SanitizerError, notice

    error, findings = pickle.loads(message)
    if findings and not isinstance(error, SanitizerError):
        notice(findings)
    if error is not None:
        raise error


def _cause(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"signal {signal.Signals(os.WTERMSIG(status)).name}"
    return f"it exited with status {os.WEXITSTATUS(status)}"


def _copy(outputs: Sequence[GmRange], memory: mmap.mmap, *, to_shared: bool) -> None:
    if not outputs:
        return
    start = ctypes.c_char.from_buffer(memory)
    try:
        address = ctypes.addressof(start)
        for item in outputs:
            if to_shared:
                ctypes.memmove(address, item.address, item.bytes)
            else:
                ctypes.memmove(item.address, address, item.bytes)
            address += item.bytes
    finally:
        del start  # the memory cannot be closed while it is exported
