"""Findings of the checkers: their Python form, errors and warnings (emulator.md section 4).

Example:
    >>> with record() as reports:
    ...     pass  # launches under emulator(checks="all")
    >>> [report.checker for report in reports]
    []
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from ..jit.errors import LaunchError
from .frames import Address, Frame, frames_of, user_frame

__all__ = [
    "Place",
    "Finding",
    "SanitizerError",
    "SanitizerWarning",
    "error_of",
    "notice",
    "read_reports",
    "record",
]


@dataclass(frozen=True)
class Place:
    """One side of a finding.

    Attributes:
        role: what it does there, "writes", "waits for flag M->FIX id 0", ...
        block: block index.
        core: AIC, AIV0 or AIV1.
        pipe: S, V, M, MTE1, MTE2, MTE3 or FIX.
        instruction: name of the instruction, "" when it is none.
        file: source file of the kernel's own line, "" when not known (option `source_map`).
        line: its number, 0 when not known.
        function: the function around it.
        calls: the whole chain of inlined calls, innermost first, `function at file:line`.
    """

    role: str
    block: int
    core: str
    pipe: str
    instruction: str = ""
    file: str = ""
    line: int = 0
    function: str = ""
    calls: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.file else "(no line numbers)"
        what = f" {self.instruction}" if self.instruction else ""
        return f"{self.role}:{what} on {self.core} {self.pipe} of block {self.block} at {where}"


@dataclass(frozen=True)
class Finding:
    """One finding.

    Attributes:
        checker: memcheck, racecheck, initcheck or synccheck.
        severity: error or warning.
        message: what is wrong.
        kernel: the kernel.
        count: how often it was met with the same lines.
        memory: L1, L0A, ..., UB or GM; "" when no memory is meant.
        address: offset in that memory, host address in GM.
        bytes: how many bytes.
        fix: what would put it right.
        places: the lines, in order of the accesses.
    """

    checker: str
    severity: str
    message: str
    kernel: str
    count: int
    memory: str
    address: int
    bytes: int
    fix: str
    places: tuple[Place, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        times = f" ({self.count} times)" if self.count > 1 else ""
        lines = [
            f"{self.checker} {self.severity}: {self.message}{times}",
            f"  kernel {self.kernel}",
        ]
        if self.memory:
            address = hex(self.address) if self.memory == "GM" else self.address
            lines.append(f"  memory {self.memory}, offset {address}, {self.bytes} bytes")
        lines += [f"  {place}" for place in self.places]
        if self.fix:
            lines.append(f"  to fix: {self.fix}")
        return "\n".join(lines)


class SanitizerError(LaunchError):
    """The checkers found errors in a launch; it ran to its end unless an access was out of bounds.

    Attributes:
        reports: the findings, warnings included.
        report: the runtime's whole report.
    """

    def __init__(
        self,
        message: str,
        *,
        reports: Sequence[Finding] = (),
        report: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, report=report)
        self.reports = tuple(reports)


class SanitizerWarning(UserWarning):
    """The checkers found something that is likely wrong, or could not check everything."""


_recorders: list[list[Finding]] = []


@contextmanager
def record() -> Iterator[list[Finding]]:
    """Collects the findings of all launches of this process until the block ends.

    Warnings are collected instead of being shown; errors are still raised.

    Yields:
        The list, filled as launches end.
    """
    reports: list[Finding] = []
    _recorders.append(reports)
    try:
        yield reports
    finally:
        # NOTE: by identity; two empty lists are equal
        _recorders[:] = [other for other in _recorders if other is not reports]


def notice(reports: Sequence[Finding]) -> None:
    """Passes findings of a launch that goes on to `record`, or shows them as warnings."""
    for recorder in _recorders:
        recorder.extend(reports)
    if _recorders:
        return
    for report in reports:
        warnings.warn(str(report), SanitizerWarning, stacklevel=4)


def error_of(report: Mapping[str, Any]) -> SanitizerError:
    """Returns the error of a runtime report of kind ``sanitizer``."""
    reports = read_reports(report.get("reports", ()))
    for recorder in _recorders:
        recorder.extend(reports)
    texts = [str(report.get("message", "the checkers found errors")), *map(str, reports)]
    stopped = report.get("stopped")
    if isinstance(stopped, Mapping):
        texts.append(f"stopped by: {stopped.get('message')}")
    return SanitizerError("\n".join(texts), reports=reports, report=report)


def read_reports(items: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Returns findings in their Python form, with source lines.

    Args:
        items: the runtime's JSON objects.
    """
    addresses = [_address(place) for item in items for place in item.get("places", ())]
    frames = frames_of([address for address in addresses if address is not None])
    return [_report(item, frames) for item in items]


def _address(place: Mapping[str, Any]) -> Address | None:
    path, offset = place.get("object"), place.get("offset")
    if not isinstance(path, str) or not isinstance(offset, int):
        return None
    # NOTE: the place of a call is its return address; one byte back lies inside the call.
    return Address(path, offset - 1)


def _report(item: Mapping[str, Any], frames: Mapping[Address, tuple[Frame, ...]]) -> Finding:
    return Finding(
        checker=str(item["checker"]),
        severity=str(item["severity"]),
        message=str(item["message"]),
        kernel=str(item.get("kernel", "")),
        count=int(item.get("count", 1)),
        memory=str(item.get("memory", "")),
        address=int(item.get("address", 0)),
        bytes=int(item.get("bytes", 0)),
        fix=str(item.get("fix", "")),
        places=tuple(_place(place, frames) for place in item.get("places", ())),
    )


def _place(item: Mapping[str, Any], frames: Mapping[Address, tuple[Frame, ...]]) -> Place:
    address = _address(item)
    chain = frames.get(address, ()) if address is not None else ()
    own = user_frame(chain)
    return Place(
        role=str(item["role"]),
        block=int(item["block"]),
        core=str(item["core"]),
        pipe=str(item["pipe"]),
        instruction=str(item.get("instruction", "")),
        file=own.file if own else "",
        line=own.line if own else 0,
        function=own.function if own else "",
        calls=tuple(map(str, chain)),
    )
