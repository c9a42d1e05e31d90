"""What the cache commands know of the entries on disk (deep_jit.md sections 11, 13 and 15)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .._shared.jit.entry import META, BadEntry, read_entry
from .._shared.jit.env import Env, cache_roots
from .._shared.jit.errors import CacheError, ConfigError
from .._shared.jit.janitor import CacheItem, list_items

__all__ = ["EntryView", "find_entry", "list_entries", "nearest", "roots_of"]

_SOURCE_NAME = "kernel.asc"
_BINARY_NAMES = ("kernel.so", "kernel.o", "kernel.aicpu.so")


@dataclass(frozen=True)
class EntryView:
    """One entry of one root."""

    root: Path
    item: CacheItem

    @property
    def name(self) -> str:
        """Tag and digest, the name of the folder."""
        return self.item.directory.name

    @cached_property
    def meta(self) -> dict[str, Any]:
        """Contents of meta.json, empty when it cannot be read."""
        try:
            meta = json.loads((self.item.directory / META).read_text("utf-8", "surrogateescape"))
        except (OSError, ValueError):
            return {}
        return meta if isinstance(meta, dict) else {}

    @property
    def components(self) -> dict[str, str]:
        """The components of its key by name; empty in entries of the published library."""
        recorded = self.meta.get("key_components")
        return dict(recorded) if isinstance(recorded, dict) else {}

    @property
    def source(self) -> str:
        """The kernel's text."""
        path = self.item.directory / _SOURCE_NAME
        return path.read_text("utf-8", "replace") if path.is_file() else ""

    def problem(self) -> str:
        """What is wrong with the entry, empty when it is whole; reads and hashes every file."""
        if not self.item.committed:
            return "not committed: its build was interrupted"
        try:
            read_entry(
                self.item.directory,
                source=None,
                source_name=_SOURCE_NAME,
                binary_names=_BINARY_NAMES,
            )
        except BadEntry as problem:
            return str(problem)
        return ""

    def to_json(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        return {
            "root": str(self.root),
            "tag": self.item.tag,
            "digest": self.item.digest,
            "backend": self.meta.get("backend", "unknown"),
            "bytes": self.item.size,
            "last_used": self.item.last_used,
            "committed": self.item.committed,
            "build_s": self.meta.get("duration_s"),
            "kernels": self.kernel_names,
        }

    @property
    def kernel_names(self) -> list[str]:
        """Readable names of its kernels."""
        recorded = self.meta.get("kernel")
        kernels = recorded.get("kernels", []) if isinstance(recorded, dict) else []
        return [str(kernel.get("demangled", kernel.get("name"))) for kernel in kernels]


def roots_of(prefix: str) -> tuple[Path, ...]:
    """Returns the cache roots of a component's environment prefix."""
    return cache_roots(Env(prefix))


def list_entries(roots: Iterable[Path], tag: str | None = None) -> list[EntryView]:
    """Returns all entries of the roots, or those of one tag."""
    views = [EntryView(root, item) for root in roots for item in list_items(root)]
    return [view for view in views if tag in (None, view.item.tag)]


def find_entry(entries: Sequence[EntryView], text: str) -> EntryView:
    """Returns the one entry that `text` names.

    Args:
        entries: where to look.
        text: a digest, the start of one, or `tag.digest` likewise.

    Raises:
        CacheError: it names none. ConfigError: it names several.
    """
    found = [e for e in entries if e.name.startswith(text) or e.item.digest.startswith(text)]
    if not found:
        raise CacheError(f"no cache entry is named {text!r}; `deep-jit cache ls` lists them")
    digests = sorted({entry.name for entry in found})
    if len(digests) > 1:
        raise ConfigError(
            f"{text!r} names {len(digests)} entries: {', '.join(digests[:8])}; "
            "write TAG.DIGEST, or more digits"
        )
    return found[0]


def nearest(entry: EntryView, entries: Iterable[EntryView]) -> EntryView | None:
    """Returns the other entry of the same tag whose key differs least, the newest of equals."""
    others = [e for e in entries if e.item.tag == entry.item.tag and e.name != entry.name]
    comparable = [other for other in others if other.components]
    if not comparable or not entry.components:
        return None
    return min(comparable, key=lambda o: (len(differences(entry, o)), -o.item.last_used))


def differences(entry: EntryView, other: EntryView) -> list[tuple[str, str | None, str | None]]:
    """Returns (component, this value, the other's) for each that differs; None = not there."""
    ours, theirs = entry.components, other.components
    names = [*ours, *(name for name in theirs if name not in ours)]
    return [(n, ours.get(n), theirs.get(n)) for n in names if ours.get(n) != theirs.get(n)]
