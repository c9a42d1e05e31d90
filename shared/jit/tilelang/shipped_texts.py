"""Lowered kernels that came with a package, so that a first call needs no pass of TileLang.

A folder with one file per kernel, `<function>-<portable key>.asc`: what `Lowered` has beside the
text as JSON in comments, one value a line, then the text as TileLang made it. The key changes with
the traced function and with TileLang's version, so the text of another function is never found.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from .lowered import Lowered

__all__ = ["ShippedTexts"]

_MARK = "// "
_END = "\n// }\n"
_DIGEST = "sha256"


class ShippedTexts:
    """The lowered kernels of a folder, which is read only when one is asked for.

    Args:
        folder: where they lie.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, name: str, key: str) -> Path:
        """The file of a kernel.

        Args:
            name: name of the TileLang function.
            key: its portable key, see `lowering_keys`.
        """
        return self._folder / f"{name}-{key}.asc"

    def find(self, name: str, key: str) -> Lowered | None:
        """Returns the lowered kernel of a key; damaged files count as missing."""
        try:
            return parse(self.path(name, key).read_bytes().decode())
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def files(self) -> list[Path]:
        """The files of all kernels, sorted."""
        return sorted(self._folder.glob("*.asc"))


def text_of(lowered: Lowered, title: str) -> str:
    """Returns the content of a kernel's file.

    Args:
        lowered: the kernel.
        title: first line, which tells readers where the file comes from.
    """
    value = json.loads(lowered.to_json())
    source = value.pop("source")
    value[_DIGEST] = _digest(lowered)
    fields = ",\n".join(f"  {json.dumps(key)}: {_json(item)}" for key, item in value.items())
    lines = [title, "{", *fields.splitlines()]
    head = "\n".join(_MARK + line for line in lines)
    return f"{head}{_END}{source}"


def parse(text: str) -> Lowered:
    """Reads the content of a kernel's file.

    Raises:
        ValueError, KeyError, TypeError: it is damaged or of another schema.
    """
    head, end, source = text.partition(_END)
    fields = "\n".join(line.removeprefix(_MARK) for line in head.splitlines()[1:])
    value = json.loads(fields + "}") if end else {}
    digest = value.pop(_DIGEST)
    lowered = Lowered.from_json(json.dumps({**value, "source": source}).encode())
    if _digest(lowered) != digest:
        raise ValueError("it was changed by hand, or by the end of a line")
    return lowered


def _json(value: Any) -> str:
    """One line; a list of objects has a line for each."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(f"    {json.dumps(item)}" for item in value) + "\n  ]"
    return json.dumps(value)


def _digest(lowered: Lowered) -> str:
    return hashlib.sha256(lowered.to_json()).hexdigest()[:32]
