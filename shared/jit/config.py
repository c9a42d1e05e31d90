"""Configuration of a runtime (deep_jit.md section 2)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

from .env import GLOBAL_PREFIX
from .errors import ConfigError

__all__ = ["Config", "PathLike"]

PathLike = Union[str, "os.PathLike[str]"]

CONFIG_SCHEMA = 1


def _normal(path: PathLike) -> Path:
    return Path(os.path.normpath(os.fspath(path)))


@dataclass(frozen=True)
class Config:
    """What a component tells the JIT about itself; checked when built.

    Attributes:
        python_library_root: absolute directory of the component's Python package.
        env_prefix: prefix of its environment variables, e.g. ``DG``.
        extra_signature: first component of the cache key; any text or bytes.
        include_dirs: absolute directories passed to the compiler, in order.
        include_prefixes: headers whose name starts with one of these are part of the key.
        device_model: fields of the emulated device to replace; for tests.
    """

    python_library_root: PathLike
    env_prefix: str
    extra_signature: str | bytes = ""
    include_dirs: Iterable[PathLike] = ()
    include_prefixes: Iterable[str] = ()
    device_model: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        _check_root(self.python_library_root)
        _check_prefix(self.env_prefix)
        for name in ("include_dirs", "include_prefixes"):
            if isinstance(getattr(self, name), (str, bytes)):
                raise ConfigError(f"{name} must be a list, got {getattr(self, name)!r}")
        dirs = tuple(self.include_dirs)
        for path in dirs:
            _check_include_dir(path)
        object.__setattr__(self, "python_library_root", _normal(self.python_library_root))
        object.__setattr__(self, "include_dirs", tuple(_normal(path) for path in dirs))
        object.__setattr__(self, "include_prefixes", tuple(self.include_prefixes))

    @classmethod
    def with_global_prefix(cls, python_library_root: PathLike, **fields: Any) -> Config:
        """A configuration that reads the ``DJ_*`` names, as deep_jit's own runtime does."""
        config = cls(python_library_root, "placeholder", **fields)
        object.__setattr__(config, "env_prefix", GLOBAL_PREFIX)
        return config

    @property
    def root(self) -> Path:
        """`python_library_root` as a path."""
        return Path(self.python_library_root)

    @property
    def include_paths(self) -> tuple[Path, ...]:
        """`include_dirs` as paths."""
        return tuple(Path(path) for path in self.include_dirs)

    @property
    def signature_bytes(self) -> bytes:
        """`extra_signature` as bytes."""
        value = self.extra_signature
        return value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")

    def get_python_path(self, relative: PathLike) -> Path:
        """A path below `python_library_root`, lexically normalised."""
        return self.root / _normal(relative)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values in upstream's order, then our additions."""
        return {
            "python_library_root": str(self.root),
            "extra_signature": self.signature_bytes.decode("utf-8", "surrogateescape"),
            "include_dirs": [str(path) for path in self.include_paths],
            "include_prefixes": list(self.include_prefixes),
            "env_prefix": self.env_prefix,
            "schema": CONFIG_SCHEMA,
        }


def _check_root(root: PathLike) -> None:
    text = os.fspath(root)
    if not text:
        raise ConfigError(
            "Python library root must not be empty; pass the package's absolute directory"
        )
    if not os.path.isabs(text):
        raise ConfigError(f"Python library root must be absolute: {text}")


def _check_prefix(prefix: str) -> None:
    if not prefix:
        raise ConfigError("environment variable prefix must not be empty; pass e.g. 'DG'")
    if prefix == GLOBAL_PREFIX:
        raise ConfigError(
            "DJ is reserved for global environment variables; choose another env_prefix"
        )


def _check_include_dir(path: PathLike) -> None:
    text = os.fspath(path)
    if not text:
        raise ConfigError("JIT include directory must not be empty")
    if not os.path.isabs(text):
        raise ConfigError(f"JIT include directory must be absolute: {text}")
