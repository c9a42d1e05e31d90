"""One cache entry: meta.json, marker, verification (deep_jit.md sections 13 and 15)."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import fs
from .backends.base import BuildResult, KernelInfo, TrackedInclude
from .key import Key

__all__ = [
    "MARKER",
    "META",
    "BadEntry",
    "Entry",
    "build_meta",
    "dump_json",
    "read_entry",
    "write_marker",
]

MARKER = ".committed"
META = "meta.json"
OWNER = "owner"
LOG_NAME = "compiler.log"
META_SCHEMA = 1


class BadEntry(Exception):
    """An entry that must not be used; the text says why."""


@dataclass(frozen=True)
class Entry:
    """A usable entry.

    Attributes:
        directory: where it lies.
        meta: parsed meta.json, empty in verify mode ``off`` when it cannot be parsed.
        temporary: lives in this process's private directory only.
    """

    directory: Path
    meta: Mapping[str, Any] = field(default_factory=dict)
    temporary: bool = False

    @property
    def kernels(self) -> tuple[KernelInfo, ...] | None:
        """Kernels recorded at build time; None in entries of the published library."""
        recorded = self.meta.get("kernel")
        if not isinstance(recorded, Mapping) or "kernels" not in recorded:
            return None
        return tuple(KernelInfo.from_json(item) for item in recorded["kernels"])

    @property
    def has_dumps(self) -> bool:
        """Whether the entry holds an ``asm`` directory."""
        return (self.directory / "asm").is_dir()


def dump_json(value: object) -> bytes:
    """Compact JSON; bytes >= 0x80 verbatim, also those of paths that are not UTF-8."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogateescape")


def build_meta(
    *,
    backend: str,
    key: Key,
    components: Sequence[tuple[str, str]],
    config: Mapping[str, Any],
    compiler_info: Mapping[str, str],
    options: Mapping[str, Any],
    result: BuildResult,
    includes: Sequence[TrackedInclude],
    directory: Path,
    duration_s: float,
) -> dict[str, Any]:
    """Contents of meta.json: upstream's four keys first, then ours."""
    files = {
        name: {
            "size": (directory / name).stat().st_size,
            "sha256": fs.sha256_file(directory / name),
        }
        for name in fs.walk_files(directory)
        if name not in (META, MARKER, OWNER)
    }
    return {
        "command": " && ".join(" ".join(command) for command in result.commands),
        "config": dict(config),
        "compiler_info": dict(compiler_info),
        "compiler_options": dict(options),
        "schema": META_SCHEMA,
        "backend": backend,
        "key_format": key.key_format,
        "digest_full": key.digest_full,
        "key_components": dict(components),
        "kernel": {
            "names": [info.name for info in result.kernels],
            "kernels": [info.to_json() for info in result.kernels],
        },
        "files": files,
        "includes": [{"name": item.name, "sha256": item.sha256} for item in includes],
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "host": fs.host_name(),
        "duration_s": round(duration_s, 3),
    }


def write_marker(directory: Path) -> None:
    """Write ``.committed``: the SHA-256 of meta.json."""
    digest = hashlib.sha256((directory / META).read_bytes()).hexdigest()
    fs.write_synced(directory / MARKER, digest.encode())


def read_entry(
    directory: Path,
    *,
    source: bytes | None,
    source_name: str,
    binary_names: Sequence[str],
    verify: str = "hash",
    temporary: bool = False,
) -> Entry:
    """Read and verify a committed entry.

    Args:
        directory: the entry.
        source: expected source text; None = do not compare.
        source_name: its file name.
        binary_names: one of these must exist.
        verify: ``hash``, ``size`` or ``off``.
        temporary: passed on.

    Raises:
        BadEntry: anything is missing, different or unreadable.
    """
    try:
        if verify == "off":
            return Entry(directory, _lenient_meta(directory), temporary)
        meta = _checked_meta(directory)
        _check_files(directory, meta, verify)
        _check_binary(directory, binary_names)
        if source is not None and (directory / source_name).read_bytes() != source:
            raise BadEntry(f"{source_name} differs from the source asked for")
    except OSError as error:
        raise BadEntry(str(error)) from error
    return Entry(directory, meta, temporary)


def _parse_meta(raw: bytes) -> dict[str, Any]:
    meta = json.loads(raw.decode("utf-8", "surrogateescape"))
    if not isinstance(meta, dict):
        raise BadEntry("meta.json is not an object")
    return meta


def _lenient_meta(directory: Path) -> dict[str, Any]:
    try:
        return _parse_meta((directory / META).read_bytes())
    except (OSError, ValueError, BadEntry):
        return {}


def _checked_meta(directory: Path) -> dict[str, Any]:
    raw = (directory / META).read_bytes()
    marker = _read_marker(directory / MARKER)
    if marker and marker != hashlib.sha256(raw).hexdigest().encode():
        raise BadEntry("meta.json does not match the digest in .committed")
    try:
        meta = _parse_meta(raw)
        Entry(directory, meta).kernels  # noqa: B018 - raises when malformed
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadEntry(f"meta.json cannot be read: {error}") from error
    if not marker:
        meta = {**meta, "files": _without_hashes(meta.get("files"))}
    return meta


def _read_marker(path: Path) -> bytes:
    """Contents of the marker; empty for a legacy marker, which may be any kind of file."""
    if not stat.S_ISREG(path.stat().st_mode):
        return b""
    return path.read_bytes().strip()


def _without_hashes(files: object) -> dict[str, Any]:
    if not isinstance(files, Mapping):
        return {}
    return {n: {"size": f.get("size")} for n, f in files.items() if isinstance(f, Mapping)}


def _check_files(directory: Path, meta: Mapping[str, Any], verify: str) -> None:
    files = meta.get("files", {})
    if not isinstance(files, Mapping):
        raise BadEntry("meta.json: files is not an object")
    for name, wanted in files.items():
        if os.path.isabs(name) or ".." in Path(name).parts or not isinstance(wanted, Mapping):
            raise BadEntry(f"meta.json lists a strange file: {name!r}")
        path = os.path.join(directory, name)
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            raise BadEntry(f"{name} is not a regular file")
        if status.st_size != wanted.get("size"):
            raise BadEntry(f"{name} has {status.st_size} bytes instead of {wanted.get('size')}")
        if verify == "hash" and "sha256" in wanted and fs.sha256_file(path) != wanted["sha256"]:
            raise BadEntry(f"{name} does not have the recorded SHA-256")


def _check_binary(directory: Path, names: Sequence[str]) -> None:
    for name in names:
        path = directory / name
        if path.is_file() and path.stat().st_size > 0:
            return
    raise BadEntry(f"no valid binary: {' or '.join(names)} is missing or empty")
