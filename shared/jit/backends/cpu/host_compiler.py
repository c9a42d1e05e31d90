"""The host C++ compiler: discovery, version check, identity (deep_jit.md sections 10 and 20)."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...env import EnvSettings
from ...errors import CompileTimeout, ToolchainError
from ...fs import sha256_file
from ...process import run_tool
from .probes import ProbeCache

__all__ = ["HostCompiler", "find_host_compiler"]

_MINIMUM = {"gcc": 11, "clang": 14}
_DEFAULT_NAMES = ("g++", "c++", "clang++")
_PROBE_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class HostCompiler:
    """A usable compiler.

    Attributes:
        argv: the driver and, if it was given with words, those ("ccache g++").
        family: ``gcc`` or ``clang``.
        major: major version.
        version: whole output of ``--version``.
        triple: output of ``-dumpmachine``.
        driver_sha256: hash of the driver file.
        origin: what named it, for messages.
    """

    argv: tuple[str, ...]
    family: str
    major: int
    version: str
    triple: str
    driver_sha256: str
    origin: str

    @property
    def identity(self) -> str:
        """What decides the code it makes, without its path: family, version text and target."""
        return f"{self.family}\n{self.version}\n{self.triple}"


def find_host_compiler(settings: EnvSettings, probes: ProbeCache) -> HostCompiler:
    """Finds the compiler and asks for its version, once per driver file.

    The first of ``JIT_HOST_COMPILER``, ``$CXX``, ``g++``, ``c++``, ``clang++`` counts; the first
    two, when set, must be usable.

    Args:
        settings: environment snapshot.
        probes: where answers of earlier processes are kept.

    Raises:
        ToolchainError: none found, or too old; names everything that was tried.
    """
    argv, origin = _discover(settings)
    return _probe(argv, origin, settings, probes)


def _discover(settings: EnvSettings) -> tuple[tuple[str, ...], str]:
    path = settings.standard.get("PATH")
    explicit = (
        (f"{settings.prefix}_JIT_HOST_COMPILER", settings.host_compiler),
        ("CXX", settings.standard.get("CXX", "")),
    )
    for variable, value in explicit:
        if value:
            return _resolve(value, path, variable), f"{variable}={value}"
    for name in _DEFAULT_NAMES:
        found = shutil.which(name, path=path)
        if found is not None:
            return (found,), f"{name} on PATH"
    names = ", ".join(_DEFAULT_NAMES)
    raise ToolchainError(
        f"no host C++ compiler found; tried {explicit[0][0]} and CXX (not set), and {names} on "
        f"PATH={path}; install g++ >= {_MINIMUM['gcc']} or clang >= {_MINIMUM['clang']}, "
        f"or set {explicit[0][0]}"
    )


def _resolve(value: str, path: str | None, variable: str) -> tuple[str, ...]:
    whole = shutil.which(value, path=path)
    if whole is not None:
        return (whole,)
    try:
        words = shlex.split(value)
    except ValueError:
        words = []
    first = shutil.which(words[0], path=path) if len(words) > 1 else None
    if first is None:
        raise ToolchainError(
            f"host compiler is not executable: {value} (from {variable}); "
            f"correct {variable}, or unset it to use one of {', '.join(_DEFAULT_NAMES)} on PATH"
        )
    return (first, *words[1:])


def _probe(
    argv: tuple[str, ...], origin: str, settings: EnvSettings, probes: ProbeCache
) -> HostCompiler:
    driver = Path(argv[0])
    known = probes.get(driver, argv[1:])
    if known is not None:
        compiler = _from_json(known, argv, origin)
        if compiler is not None:
            return compiler
    version = _ask(argv, "--version", origin, settings)
    family, major = _parse_version(version, argv, origin)
    triple = _ask(argv, "-dumpmachine", origin, settings).strip()
    compiler = HostCompiler(argv, family, major, version, triple, sha256_file(driver), origin)
    probes.put(driver, argv[1:], asdict(compiler))
    return compiler


def _from_json(
    values: Mapping[str, Any], argv: tuple[str, ...], origin: str
) -> HostCompiler | None:
    try:
        return HostCompiler(
            argv,
            str(values["family"]),
            int(values["major"]),
            str(values["version"]),
            str(values["triple"]),
            str(values["driver_sha256"]),
            origin,
        )
    except (KeyError, TypeError, ValueError):
        return None


def _ask(argv: tuple[str, ...], flag: str, origin: str, settings: EnvSettings) -> str:
    limit = min(settings.compile_timeout or _PROBE_TIMEOUT_S, _PROBE_TIMEOUT_S)
    try:
        done = run_tool((*argv, flag), timeout=limit)
    except CompileTimeout as error:
        raise ToolchainError(
            f"host compiler {argv[0]} (from {origin}) did not answer {flag} within {limit} s"
        ) from error
    if done.returncode != 0:
        raise ToolchainError(
            f"host compiler {argv[0]} (from {origin}) failed with exit code {done.returncode} on "
            f"{flag}:\n{done.output}"
        )
    return done.output


def _parse_version(text: str, argv: tuple[str, ...], origin: str) -> tuple[str, int]:
    family = "clang" if "clang" in text.lower() else "gcc"
    first_line = text.splitlines()[0] if text.strip() else ""
    pattern = r"version (\d+)\.\d+" if family == "clang" else r"(\d+)\.\d+(?:\.\d+)?"
    found = re.findall(pattern, first_line)
    if not found:
        raise ToolchainError(
            f"failed to parse the version of host compiler {argv[0]} (from {origin}) from:\n{text}"
        )
    major = int(found[-1])
    if major < _MINIMUM[family]:
        raise ToolchainError(
            f"host compiler {argv[0]} (from {origin}) is {family} {major}; needed: g++ >= "
            f"{_MINIMUM['gcc']} or clang >= {_MINIMUM['clang']} for C++20; install one or set "
            "JIT_HOST_COMPILER with the component's prefix"
        )
    return family, major
