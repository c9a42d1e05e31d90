"""Explains why generated text does not compile: names the construct and its line."""

from __future__ import annotations

import re

from ..errors import CompileError
from .lowered import Lowered

__all__ = ["explained"]

_UNKNOWN = re.compile(
    r"error: (?:use of undeclared identifier )?['‘](?:\w+::)*(?P<name>~?\w+)['’]?.*?"
    r"(?:was not declared|is not a member of|has not been declared|does not name)"
)
_NO_MATCH = re.compile(r"error: no matching function for call to ['‘](?P<name>[\w:]+)")
_FIRST = re.compile(
    r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):\d+: (?:fatal )?error: (?P<what>.*)$", re.M
)


def explained(lowered: Lowered, error: CompileError) -> CompileError:
    """Returns an error that names what the emulator does not have."""
    first = _FIRST.search(error.output)
    if first is None:
        return error
    unknown = _UNKNOWN.search(first.group(0)) or _NO_MATCH.search(first.group(0))
    what = (
        f"it uses {unknown.group('name')}, which the emulator does not offer in this form"
        if unknown
        else first.group("what")
    )
    in_kernel = first.group("file").endswith("kernel.asc")
    place = f"line {first.group('line')} of the generated text"
    if in_kernel:
        lines = lowered.source.splitlines()
        number = int(first.group("line"))
        if 0 < number <= len(lines):
            place += f": {lines[number - 1].strip()}"
    else:
        place = f"{first.group('file')}:{first.group('line')}"
    return CompileError(
        f"kernel {lowered.kernel} of {lowered.name} does not compile for target cpu: {what} "
        f"({place})\n{error}",
        returncode=error.returncode,
        command=error.command,
        output=error.output,
        source_path=error.source_path,
        source=error.source,
    )
