"""Compiles the stand-in for `libascendcl.so` from `acl/` (architecture.md section 7)."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from ..._component import shared_root

__all__ = ["build_acl_library"]

_SOURCES = ("ascendcl.cpp", "binary.cpp")
_FLAGS = ("-std=c++20", "-O1", "-Wall", "-Wextra", "-fPIC", "-shared", "-fvisibility=hidden")


def build_acl_library(cache_dir: Path) -> Path:
    """Returns the library, compiled once per content of its sources.

    Args:
        cache_dir: where it is kept; processes may build it at the same time.

    Raises:
        RuntimeError: no C++ compiler, or it refuses the sources.
    """
    folder = Path(__file__).parent / "acl"
    include = shared_root() / "include" / "ascend_emu"
    digest = hashlib.sha256()
    for source in (*sorted(folder.iterdir()), include / "asc_emu" / "core_api.h"):
        digest.update(source.read_bytes())
    library = cache_dir / f"ascendcl-{digest.hexdigest()[:16]}" / "libascendcl.so"
    if not library.exists():
        _compile([folder / name for name in _SOURCES], include, library)
    return library


def _compile(sources: list[Path], include: Path, library: Path) -> None:
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        raise RuntimeError("the ACL stand-in needs a C++20 compiler; install g++ or set CXX")
    library.parent.mkdir(parents=True, exist_ok=True)
    private = library.with_name(f"{library.name}.{os.getpid()}")
    command = [compiler, *_FLAGS, f"-I{include}", *map(str, sources), "-o", str(private), "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    private.replace(library)
