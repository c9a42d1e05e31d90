"""Streams of target cpu: a FIFO of launches on a worker thread (deep_jit.md section 16)."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from . import fork

__all__ = ["Stream"]

Task = Callable[[], None]


class Stream:
    """Runs tasks one after the other, in order, on its own daemon thread.

    An exception of a task is raised once, at the next `submit` or `synchronize`; the tasks behind
    the failed one are dropped.

    Example:
        >>> stream = Stream()
        >>> stream.submit(lambda: None)
        >>> stream.synchronize()
    """

    def __init__(self, name: str = "stream") -> None:
        self.name = name
        self._reset()
        fork.register(self)

    def _reset(self) -> None:
        self._condition = threading.Condition()
        self._tasks: deque[Task] = deque()
        self._busy = False
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None

    def submit(self, task: Task) -> None:
        """Append a task; raises the error of an earlier one instead, if there is one."""
        with self._condition:
            self._raise_pending()
            self._tasks.append(task)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name=f"deep_jit-{self.name}", daemon=True
                )
                self._thread.start()
            self._condition.notify_all()

    def query(self) -> bool:
        """Whether all tasks are done; never waits and never raises."""
        with self._condition:
            return not self._tasks and not self._busy

    def synchronize(self, timeout: float | None = None) -> None:
        """Wait for all tasks, then raise the error of a failed one.

        Args:
            timeout: seconds; None = no limit.

        Raises:
            TimeoutError: tasks are left after `timeout`.
        """
        with self._condition:
            idle = self._condition.wait_for(
                lambda: not self._tasks and not self._busy, timeout=timeout
            )
            if not idle:
                raise TimeoutError(f"{self.name}: tasks are still running after {timeout} s")
            self._raise_pending()

    def _raise_pending(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _work(self) -> None:
        condition = self._condition  # a forked child replaces it
        while True:
            with condition:
                condition.wait_for(lambda: bool(self._tasks))
                task = self._tasks.popleft()
                self._busy = True
            error: BaseException | None = None
            try:
                task()
            except BaseException as raised:  # re-raised in the waiting thread
                error = raised
            with condition:
                self._busy = False
                if error is not None:
                    self._error = self._error or error
                    self._tasks.clear()
                condition.notify_all()
            del task

    def after_fork_in_child(self) -> None:
        """The worker stayed in the parent, and with it the launches that were queued."""
        self._reset()

    def __repr__(self) -> str:
        return f"Stream({self.name!r}, pending={len(self._tasks) + self._busy})"
