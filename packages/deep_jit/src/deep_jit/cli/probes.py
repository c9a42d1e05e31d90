"""What `deep-jit doctor` asks this machine, with the standard library only (style.md 2.19).

A probe returns plain JSON values. Whatever goes wrong inside one becomes `{"error": ...}`, so that
the report is always whole.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

__all__ = ["PROBES", "guarded"]

_DISTRIBUTIONS = (
    *("deep-jit", "deep-gemm", "torch", "torch_npu", "tilelang", "numpy", "ml_dtypes"),
    *("click", "rich", "tqdm", "filelock", "pyelftools"),
)
_VARIABLES = (
    *("DJ_", "DG_", "TK_", "MLA_", "DS_", "EP_", "ASCEND_"),
    *("CXX", "TMPDIR", "LD_LIBRARY_PATH"),
)
_DEVICE_NODES = "davinci[0-9]*"


def guarded(probe: Callable[[], Any]) -> Any:
    """Returns what a probe returns, or its error as a value."""
    try:
        return probe()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def versions() -> dict[str, Any]:
    """Python, and each distribution as installed; also as loaded where that differs."""
    found: dict[str, Any] = {"python": sys.version.split()[0], "executable": sys.executable}
    for name in _DISTRIBUTIONS:
        try:
            installed = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
            continue
        module = sys.modules.get(name.replace("-", "_"))
        loaded = vars(module).get("__version__", installed) if module else installed
        found[name] = installed if loaded == installed else f"{installed} (loaded: {loaded})"
    return found


def machine() -> dict[str, Any]:
    """System, processor, cores and memory."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "system": platform.platform(),
        "libc": " ".join(platform.libc_ver()),
        "processor": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": pages,
    }


def _cpu_model() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("model name", "CPU part")):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def compilers() -> dict[str, Any]:
    """Host compilers on the path, and the one the JIT takes."""
    found: dict[str, Any] = {}
    for name in ("g++", "c++", "clang++"):
        path = shutil.which(name)
        found[name] = None if path is None else {"path": path, "version": _first_line(path)}
    found["chosen"] = guarded(_chosen_compiler)
    return found


def _chosen_compiler() -> dict[str, str]:
    from .._shared.jit.backends.cpu import CpuBackend
    from .._shared.jit.env import Env

    compiler = CpuBackend(Env("DJ")).compiler
    return {"path": " ".join(compiler.argv), "version": compiler.version.splitlines()[0]}


def _first_line(program: str) -> str:
    done = subprocess.run(
        [program, "--version"], capture_output=True, text=True, timeout=30, check=False
    )
    return (done.stdout or done.stderr).partition("\n")[0]


def cann() -> dict[str, Any]:
    """The Ascend toolkit that the JIT would use."""
    from .._shared.jit.backends.ascend.toolkit import find_toolkit

    toolkit = find_toolkit()
    return {
        "home": str(toolkit.home),
        "bisheng": {"path": str(toolkit.bisheng), "version": _first_line(str(toolkit.bisheng))},
        "ld.lld": {"path": str(toolkit.linker), "version": _first_line(str(toolkit.linker))},
        "adv_api": str(toolkit.adv_api),
    }


def devices() -> dict[str, Any]:
    """Device nodes of the driver, the emulated device, and the current NPU as ACL describes it."""
    from .._shared.jit.device import cpu_device

    nodes = sorted(str(path) for path in Path("/dev").glob(_DEVICE_NODES))
    return {
        "nodes": nodes,
        "npu": guarded(_npu),
        "emulated": guarded(lambda: cpu_device().to_json()),
    }


def _npu() -> dict[str, Any]:
    from .._shared.jit.backends.ascend.acl import load_acl
    from .._shared.jit.backends.ascend.device import read_device
    from .._shared.jit.backends.ascend.toolkit import find_toolkit

    acl = load_acl(find_toolkit().library_dirs())
    return {"library": acl.name, **read_device(acl, acl.current_device()).to_json()}


def cache() -> dict[str, Any]:
    """Each cache root: can it be written, what is in it, how much room is left."""
    from .._shared.jit.env import Env, cache_roots

    return {str(root): guarded(partial(_root, root)) for root in cache_roots(Env("DJ"))}


def _root(root: Path) -> dict[str, Any]:
    from .._shared.jit.janitor import list_items

    items = list_items(root)
    place = next(path for path in (root, *root.absolute().parents) if path.exists())
    return {
        "exists": root.is_dir(),
        "writable": _writable(place),
        "entries": len(items),
        "entry_bytes": sum(item.size for item in items),
        "free_bytes": shutil.disk_usage(place).free,
    }


def _writable(folder: Path) -> bool:
    """Whether a file can be made there: modes do not tell for root or on read-only mounts."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def emulator() -> dict[str, Any]:
    """The compiled module, and the emulator runtime of this installation: built or not, where."""
    return {"native_module": guarded(_native), "runtime": guarded(_runtime)}


def _native() -> str:
    from .._shared._component import native

    return str(native().__file__)


def _runtime() -> dict[str, Any]:
    from .._shared.jit.backends.cpu import CpuBackend
    from .._shared.jit.env import Env, cache_roots

    env = Env("DJ")
    name = CpuBackend(env).compiler_info()["runtime"]
    override = env.get("JIT_RUNTIME_DIR")
    roots = (Path(override),) if override else cache_roots(env)
    built = [path for root in roots for path in root.glob(f"runtime/*/{name}")]
    state: dict[str, Any] = {"name": name, "built": bool(built)}
    if built:
        state |= {"path": str(built[0]), "file_bytes": built[0].stat().st_size}
    else:
        state["remedy"] = "built at first use, or by `deep-jit warm`"
    return state


def environment() -> dict[str, str]:
    """The variables that steer the JIT, the emulator and the toolkit."""
    return {
        name: value for name, value in sorted(os.environ.items()) if name.startswith(_VARIABLES)
    }


PROBES: Mapping[str, Callable[[], Any]] = {
    "versions": versions,
    "machine": machine,
    "compilers": compilers,
    "cann": cann,
    "devices": devices,
    "cache": cache,
    "emulator": emulator,
    "environment": environment,
}
