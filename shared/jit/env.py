"""Environment variables: live look-up and one frozen snapshot (deep_jit.md section 3).

Suffix S in a runtime with prefix P is ``P_S`` if set, else ``DJ_S`` if set, else the default. A
variable set to the empty string is set. The bare name ``S`` is never read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .errors import ConfigError

__all__ = ["GLOBAL_PREFIX", "STANDARD_VARIABLES", "Env", "EnvSettings"]

GLOBAL_PREFIX = "DJ"

STANDARD_VARIABLES = ("HOME", "PATH", "CXX", "TMPDIR", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
"""Variables without a prefix that a runtime reads once, when it is built."""

_DECIMAL = re.compile(r"-?[0-9]+", re.ASCII)
_SIZE = re.compile(r"([0-9]+)([KMG]?)", re.ASCII)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_VERIFY_MODES = ("hash", "size", "off")


def _invalid(name: str, raw: str, wanted: str) -> ConfigError:
    return ConfigError(f"invalid value for {name}: {raw} (allowed: {wanted}; or unset {name})")


def parse_int(name: str, raw: str, low: int = -(1 << 63), high: int = (1 << 63) - 1) -> int:
    """A decimal integer that fills the whole string and lies in [low, high]."""
    wanted = f"a decimal integer from {low} to {high}"
    if not _DECIMAL.fullmatch(raw):
        raise _invalid(name, raw, wanted)
    try:
        value = int(raw)
    except ValueError as error:  # more digits than int() converts
        raise _invalid(name, raw, wanted) from error
    if not low <= value <= high:
        raise _invalid(name, raw, wanted)
    return value


def parse_bool(name: str, raw: str) -> bool:
    """true|yes|false|no in any case, or a 64-bit decimal integer (non-zero = true)."""
    lowered = raw.lower()
    if lowered in ("true", "yes"):
        return True
    if lowered in ("false", "no"):
        return False
    try:
        return parse_int(name, raw) != 0
    except ConfigError:
        raise _invalid(name, raw, "true, yes, false, no, or a decimal integer") from None


def parse_size(name: str, raw: str) -> int:
    """Bytes, or a number followed by K, M or G (powers of 1024)."""
    match = _SIZE.fullmatch(raw.upper())
    if match is None or len(match.group(1)) > 18:
        raise _invalid(name, raw, "bytes, or a number followed by K, M or G, e.g. 2G")
    return int(match.group(1)) * _UNITS[match.group(2)]


class Env:
    """Live view of the environment under one prefix.

    Args:
        prefix: prefix of the component, e.g. ``DG``.
        environ: mapping to read, by default the process environment, read anew at every call.
    """

    def __init__(self, prefix: str, environ: Mapping[str, str] | None = None) -> None:
        self.prefix = prefix
        self._environ = os.environ if environ is None else environ

    def name_of(self, suffix: str) -> str | None:
        """The variable that decides `suffix` now, or None when none is set."""
        for name in (f"{self.prefix}_{suffix}", f"{GLOBAL_PREFIX}_{suffix}"):
            if name in self._environ:
                return name
        return None

    def get(self, suffix: str, default: str | None = None) -> str | None:
        """The raw value of `suffix`, or `default` when it is not set."""
        name = self.name_of(suffix)
        return default if name is None else self._environ[name]

    def get_bool(self, suffix: str, default: bool = False) -> bool:
        """The value as bool; see `parse_bool`."""
        name = self.name_of(suffix)
        return default if name is None else parse_bool(name, self._environ[name])

    def get_int(self, suffix: str, default: int, low: int, high: int) -> int:
        """The value as integer in [low, high]."""
        name = self.name_of(suffix)
        return default if name is None else parse_int(name, self._environ[name], low, high)

    def get_size(self, suffix: str, default: int = 0) -> int:
        """The value as a number of bytes; see `parse_size`."""
        name = self.name_of(suffix)
        return default if name is None else parse_size(name, self._environ[name])

    def get_choice(self, suffix: str, choices: tuple[str, ...]) -> str:
        """One of `choices`; the first is the default."""
        name = self.name_of(suffix)
        if name is None:
            return choices[0]
        raw = self._environ[name]
        if raw not in choices:
            raise _invalid(name, raw, "|".join(choices))
        return raw

    def standard(self, name: str, default: str = "") -> str:
        """A variable without prefix, such as ``HOME``."""
        return self._environ.get(name, default)

    def standard_bool(self, name: str) -> bool:
        """A variable without prefix as bool, such as ``ASCEND_LAUNCH_BLOCKING``; unset = false."""
        return parse_bool(name, self._environ[name]) if name in self._environ else False

    def snapshot(self) -> EnvSettings:
        """Read and check every variable once."""
        return EnvSettings(
            prefix=self.prefix,
            cache_dir=cache_roots(self),
            debug=self.get_bool("JIT_DEBUG"),
            print_compiler_command=self.get_bool("JIT_PRINT_COMPILER_COMMAND"),
            print_load_time=self.get_bool("JIT_PRINT_LOAD_TIME"),
            dump_asm=self.get_bool("JIT_DUMP_ASM"),
            kernel_debug_info=self.get_bool("JIT_KERNEL_DEBUG_INFO"),
            launch_timeout=self.get_int("JIT_LAUNCH_TIMEOUT", 300, 0, 65535),
            backend=self.get_choice("JIT_BACKEND", ("auto", "cpu", "ascend", "cuda")),
            host_compiler=self.get("JIT_HOST_COMPILER", "") or "",
            compile_timeout=self.get_int("JIT_COMPILE_TIMEOUT", 0, 0, 1 << 31),
            cache_verify=self.get_choice("JIT_CACHE_VERIFY", _VERIFY_MODES),
            cache_readonly=self.get_bool("JIT_CACHE_READONLY"),
            cache_disable=self.get_bool("JIT_CACHE_DISABLE"),
            cache_shared=self.get_bool("JIT_CACHE_SHARED"),
            cache_max_size=self.get_size("JIT_CACHE_MAX_SIZE"),
            shipped_texts=self.get_bool("JIT_SHIPPED_TEXTS", True),
            num_workers=self.get_int("JIT_NUM_WORKERS", 0, 0, 4096),
            log=self.get("JIT_LOG", "stderr") or "stderr",
            npu_arch=self.get_int("JIT_NPU_ARCH", 3510, 1, 1 << 31),
            standard=MappingProxyType(
                {name: self.standard(name) for name in STANDARD_VARIABLES if self.standard(name)}
            ),
        )


def cache_roots(env: Env) -> tuple[Path, ...]:
    """The roots of ``JIT_CACHE_DIR`` in order; ``$HOME/.dj`` when it is not set."""
    raw = env.get("JIT_CACHE_DIR")
    if raw is None:
        home = env.standard("HOME")
        if not home:
            raise ConfigError(
                "HOME environment variable must not be empty; set HOME or "
                f"{env.prefix}_JIT_CACHE_DIR"
            )
        return (Path(home) / ".dj",)
    parts = raw.split(":")
    if not all(parts):
        raise ConfigError(f"disk cache path list contains an empty path: {raw}")
    return tuple(Path(part) for part in parts)


@dataclass(frozen=True)
class EnvSettings:
    """All settings of a runtime as they were when it was built: one field per suffix.

    Field ``x`` is the suffix ``JIT_X``. The suffixes of the CUDA and ROCm backends are not read
    yet; they get their fields here when those backends are written.
    """

    prefix: str
    cache_dir: tuple[Path, ...]
    debug: bool = False
    print_compiler_command: bool = False
    print_load_time: bool = False
    dump_asm: bool = False
    kernel_debug_info: bool = False
    launch_timeout: int = 300
    backend: str = "auto"
    host_compiler: str = ""
    compile_timeout: int = 0
    cache_verify: str = "hash"
    cache_readonly: bool = False
    cache_disable: bool = False
    cache_shared: bool = False
    cache_max_size: int = 0
    shipped_texts: bool = True
    num_workers: int = 0
    log: str = "stderr"
    npu_arch: int = 3510
    standard: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def to_json(self) -> dict[str, Any]:
        """The settings as plain JSON values, for reports."""
        values: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        values["cache_dir"] = [str(path) for path in self.cache_dir]
        values["standard"] = dict(self.standard)
        return values
