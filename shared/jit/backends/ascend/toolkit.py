"""Finds the Ascend toolkit: home, compiler, linker, headers (deep_jit.md section 10)."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import ToolchainError
from ...process import run_tool

__all__ = ["DEFAULT_HOMES", "HOME_VARIABLES", "AscendToolkit", "find_toolkit"]

HOME_VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
DEFAULT_HOMES = (Path("/usr/local/Ascend/ascend-toolkit/latest"), Path("/usr/local/Ascend/cann"))

_VERSION_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class AscendToolkit:
    """The parts of one installed toolkit that the JIT uses."""

    home: Path
    bisheng: Path
    linker: Path
    adv_api: Path

    def versions(self) -> tuple[str, str]:
        """Returns the whole `--version` output of the compiler and of the linker.

        Raises:
            ToolchainError: one of them does not run.
        """
        return _version_of(self.bisheng), _version_of(self.linker)

    def library_dirs(self) -> tuple[Path, ...]:
        """Returns the folders that can hold `libascendcl.so`, most usual first."""
        arch = f"{platform.machine()}-linux"
        return (self.home / "lib64", self.home / arch / "lib64", self.home / "runtime" / "lib64")


def find_toolkit(
    environ: Mapping[str, str] | None = None, *, default_homes: Sequence[Path] = DEFAULT_HOMES
) -> AscendToolkit:
    """Finds the toolkit that the environment names, or one of the usual places.

    Args:
        environ: the variables to read; the process's own by default.
        default_homes: where to look when no variable is set; the first existing folder counts.

    Raises:
        ToolchainError: no toolkit, or one without a needed part; the text lists the places tried.
    """
    home = _find_home(os.environ if environ is None else environ, default_homes)
    bisheng = home / "bin" / "bisheng"
    linker = home / "bin" / "ld.lld"
    _require_executable(bisheng, "Bisheng compiler is not executable")
    _require_executable(linker, "Ascend linker is not executable")
    return AscendToolkit(home, bisheng, linker, _find_adv_api(home))


def adv_api_places(home: Path) -> tuple[Path, ...]:
    """Returns where the compiler's extra headers can be, the host's own architecture first."""
    machines = dict.fromkeys((platform.machine(), "aarch64", "x86_64"))
    places = [home / f"{machine}-linux" / "asc" / "include" / "adv_api" for machine in machines]
    return (*places, home / "asc" / "include")


def _find_home(environ: Mapping[str, str], default_homes: Sequence[Path]) -> Path:
    for variable in HOME_VARIABLES:
        value = environ.get(variable, "")
        if value:
            return _named_home(variable, value)
    for home in default_homes:
        if home.is_dir():
            return home
    raise ToolchainError(
        f"Ascend toolkit home was not found: {' and '.join(HOME_VARIABLES)} are unset or empty, "
        "and there is none of "
        f"{_listed(default_homes)}; install the CANN toolkit or set {HOME_VARIABLES[0]}"
    )


def _named_home(variable: str, value: str) -> Path:
    home = Path(value)
    if not home.is_dir():
        raise ToolchainError(
            f"Ascend toolkit home was not found: {variable}={value!r} is not a folder; "
            f"set it to the folder that holds bin/bisheng, or unset it"
        )
    return home


def _require_executable(path: Path, message: str) -> None:
    if not (path.is_file() and os.access(path, os.X_OK)):
        raise ToolchainError(f"{message}: {path}; install the compiler package of the CANN toolkit")


def _find_adv_api(home: Path) -> Path:
    places = adv_api_places(home)
    for place in places:
        if place.is_dir():
            return place
    raise ToolchainError(
        f"Ascend adv_api include directory was not found: {places[0]}; tried {_listed(places)}; "
        "install the CANN toolkit's development headers"
    )


def _version_of(tool: Path) -> str:
    result = run_tool(
        [str(tool), "--version"], cwd=None, timeout=_VERSION_TIMEOUT_S, env_extra=None
    )
    if result.returncode != 0:
        raise ToolchainError(
            f"{tool} --version failed with exit code {result.returncode}:\n{result.output}\n"
            "repair or reinstall the CANN toolkit"
        )
    return result.output


def _listed(paths: Sequence[Path]) -> str:
    return ", ".join(str(path) for path in paths)
