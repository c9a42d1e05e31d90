"""The worker processes of a subject, seen from `mutate.py`."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["Workers"]

# Seconds for everything that is intact: kernels are compiled that mutants share.
_WHOLE_TIMEOUT = 1800.0
_PROGRAM = Path(__file__).with_name("worker.py")


class Workers:
    """Processes that judge mutants of a subject; each answers one request at a time.

    Args:
        subject: name of the subject's module.
        jobs: how many; they start when they are needed.
        timeout: seconds that a request may take.
    """

    def __init__(self, subject: str, jobs: int, timeout: float) -> None:
        self._subject = subject
        self._timeout = timeout
        self._all: list[subprocess.Popen[str]] = []
        self._free: queue.SimpleQueue[subprocess.Popen[str] | None] = queue.SimpleQueue()
        for _ in range(jobs):
            self._free.put(None)

    def prepare(self, folder: Path, *, checked: bool = True) -> list[str]:
        """Lets the subject write its intact sources into a folder; returns those to mutate.

        Args:
            folder: where to.
            checked: whether kernels that run for their texts run under the checkers.

        Raises:
            RuntimeError: it failed.
        """
        request = {"do": "prepare", "folder": str(folder), "checked": checked}
        answer = self._ask({**request, "timeout": _WHOLE_TIMEOUT})
        if "files" not in answer:
            raise RuntimeError(f"{self._subject}: {answer['by']} {answer['detail']}")
        return list(answer["files"])

    def judge(self, folder: Path, file: str | None) -> tuple[str, str]:
        """Who notices something about the sources in a folder, and what.

        Args:
            folder: the sources.
            file: the one that was edited; None: everything is intact.

        Raises:
            RuntimeError: the judge itself failed, which says nothing about the sources.
        """
        request: dict[str, Any] = {"do": "judge", "folder": str(folder), "file": file}
        answer = self._ask(request if file else {**request, "timeout": _WHOLE_TIMEOUT})
        return str(answer["by"]), str(answer["detail"])

    def close(self) -> None:
        """Ends the processes."""
        for process in self._all:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        process = self._free.get() or self._start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({"timeout": self._timeout, **request}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"the worker of {self._subject} ended; see its lines above")
            answer: dict[str, Any] = json.loads(line)
            if "error" in answer:
                raise RuntimeError(f"judging {self._subject} failed:\n{answer['error']}")
            return answer
        finally:
            self._free.put(process)

    def _start(self) -> subprocess.Popen[str]:
        words = [sys.executable, str(_PROGRAM), self._subject]
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self._all.append(process)
        return process
