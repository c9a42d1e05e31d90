"""Source lines of addresses in kernel objects, by addr2line (emulator.md section 4)."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Address", "Frame", "frames_of", "source_lines", "user_frame"]

_OWN_FOLDERS = ("/ascend_emu/", "/mad/", "/tl_templates/")
_TIMEOUT_S = 30.0
_PLACE = re.compile(r"(.*):(\d+|\?)(?: \(.*\))?$")


@dataclass(frozen=True)
class Address:
    """A place in an object file: its path, and the offset in its address space."""

    path: str
    offset: int


@dataclass(frozen=True)
class Frame:
    """One call of an inlined chain."""

    function: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.function} at {self.file}:{self.line}"

    @property
    def is_own(self) -> bool:
        """Whether it lies inside the emulated API, `mad` or the templates of TileLang."""
        return any(folder in f"/{self.file}" for folder in _OWN_FOLDERS)


def user_frame(frames: Sequence[Frame]) -> Frame | None:
    """Returns the innermost frame outside those (`Frame.is_own`); else the innermost."""
    for frame in frames:
        if not frame.is_own:
            return frame
    return frames[0] if frames else None


def frames_of(addresses: Iterable[Address]) -> Mapping[Address, tuple[Frame, ...]]:
    """Returns the inlined calls around each address, innermost first.

    Addresses without line numbers are missing, and all are without an addr2line.
    """
    by_object: dict[str, list[int]] = {}
    for address in dict.fromkeys(addresses):
        by_object.setdefault(address.path, []).append(address.offset)
    found: dict[Address, tuple[Frame, ...]] = {}
    for path, offsets in by_object.items():
        for offset, frames in _look_up(path, offsets).items():
            found[Address(path, offset)] = frames
    return found


def source_lines(binary: str, sites: Iterable[int]) -> dict[int, str]:
    """Returns the source lines of return addresses in a kernel object, as file:line.

    Args:
        binary: path of the object.
        sites: offsets in its address space; those without a line of the user are left out.
    """
    # NOTE: a return address is behind its call; the byte before belongs to the call's line.
    addresses = {int(site): Address(binary, int(site) - 1) for site in sites if site}
    frames = frames_of(addresses.values())
    found = {site: user_frame(frames.get(address, ())) for site, address in addresses.items()}
    return {site: f"{frame.file}:{frame.line}" for site, frame in found.items() if frame}


def _look_up(path: str, offsets: Sequence[int]) -> dict[int, tuple[Frame, ...]]:
    from ..jit.errors import Error
    from ..jit.process import run_tool

    tool = shutil.which("addr2line") or shutil.which("llvm-addr2line")
    if tool is None:
        return {}
    words = [tool, "-a", "-i", "-f", "-C", "-e", path, *map(hex, offsets)]
    try:
        done = run_tool(words, timeout=_TIMEOUT_S)
    except Error:
        return {}
    return _parse(done.output) if done.returncode == 0 else {}


def _parse(output: str) -> dict[int, tuple[Frame, ...]]:
    """Reads groups of an address line and pairs of lines, function and place."""
    found: dict[int, tuple[Frame, ...]] = {}
    offset, lines = -1, list[str]()
    for line in [*output.splitlines(), "0x0"]:
        if re.fullmatch(r"0x[0-9a-f]+", line):
            if offset >= 0 and (frames := _frames(lines)):
                found[offset] = frames
            offset, lines = int(line, 16), []
        else:
            lines.append(line)
    return found


def _frames(lines: Sequence[str]) -> tuple[Frame, ...]:
    frames = []
    for function, place in zip(lines[0::2], lines[1::2], strict=False):
        match = _PLACE.match(place)
        if match and not place.startswith("??"):
            number = int(match[2]) if match[2] != "?" else 0
            frames.append(Frame(function, _plain(match[1]), number))
    return tuple(frames)


def _plain(path: str) -> str:
    while path.startswith("./"):
        path = path[2:]
    return path
