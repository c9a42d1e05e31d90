"""Verdicts of earlier runs: a rerun judges only mutants that something has changed for.

A verdict is kept under the hash of what decides it: the sources that are run, the programs that run
them, the emulator with its source pass, the compiler and the checkers' options. One JSON file each
below `<JIT cache>/mutation`.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

__all__ = ["CHECKER_OPTIONS", "Verdicts"]

# What all subjects run under. NOTE: one thread, since a verdict must not depend on timing.
CHECKER_OPTIONS: dict[str, object] = {"checks": "all", "threads": 1}

_ROOT = Path(__file__).resolve().parents[2]
_SUFFIXES = frozenset({".py", ".cpp", ".hpp", ".h", ".inc", ".asc"})


class Verdicts:
    """Verdicts on disk.

    Args:
        folder: where they are kept; None: nothing is kept, and nothing found.
        environment: what decides all of them: emulator, compiler, checkers' options.
    """

    def __init__(self, folder: Path | None, environment: str) -> None:
        self._folder = folder
        self._environment = environment

    @classmethod
    def of_cache(cls, *, fresh: bool) -> Verdicts:
        """Those below the root of deep_jit's JIT cache; `fresh`: none are found or kept."""
        import deep_jit

        runtime = deep_jit.Runtime(deep_jit.Config.with_global_prefix(_ROOT), "cpu")
        root = None if fresh else runtime.disk_cache.writable_root
        # NOTE: the key of an empty kernel covers compiler, flags, emulator and source pass.
        environment = [runtime.cache_key(""), _tree(_ROOT / "shared" / "include"), CHECKER_OPTIONS]
        return cls(root / "mutation" if root else None, json.dumps(environment))

    def key_of(self, texts: Iterable[tuple[str, str]], sources: Iterable[Path]) -> str:
        """The key of a verdict.

        Args:
            texts: names and texts of what is run.
            sources: files and folders that decide, besides, what happens.
        """
        digest = hashlib.sha256(self._environment.encode())
        for name, text in texts:
            digest.update(f"\0{name}\0{len(text)}\0{text}".encode())
        for source in sources:
            digest.update(_tree(source).encode())
        return digest.hexdigest()

    def find(self, key: str) -> tuple[str, str] | None:
        """Who noticed something and what was said; None when it is not known."""
        if self._folder is None:
            return None
        try:
            value = json.loads(self._path(key).read_bytes())
            return str(value["by"]), str(value["detail"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, key: str, by: str, detail: str) -> None:
        """Keeps a verdict. A timeout says as much about the machine as about the mutant."""
        if self._folder is None or by == "timeout":
            return
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            json.dump({"by": by, "detail": detail}, file)
        os.replace(file.name, path)

    def _path(self, key: str) -> Path:
        assert self._folder is not None
        return self._folder / key[:2] / f"{key}.json"


@cache
def _tree(path: Path) -> str:
    """Hash of a file, or of all sources below a folder."""
    digest = hashlib.sha256()
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if _counts(p))
    for file in files:
        name = file.name if path.is_file() else str(file.relative_to(path))
        digest.update(f"\0{name}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def _counts(path: Path) -> bool:
    parts = set(path.parts)
    return path.suffix in _SUFFIXES and path.is_file() and not parts & {"tests", "__pycache__"}
