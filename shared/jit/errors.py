"""Typed errors of the JIT (deep_jit.md section 18).

Message fragments of the published library are kept word for word inside the texts, because callers
match them. Argument and configuration errors are also ``ValueError`` or ``TypeError``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = [
    "ArgumentError",
    "CacheError",
    "CompileError",
    "CompileManyError",
    "CompileTimeout",
    "ConfigError",
    "Error",
    "IncludeError",
    "KernelCountError",
    "LaunchError",
    "LaunchOptionError",
    "LaunchTimeout",
    "ToolchainError",
]


class Error(RuntimeError):
    """Base of every error raised by this package."""


class ConfigError(Error, ValueError):
    """A configuration value, environment variable, option or cache tag is not acceptable."""


class ToolchainError(Error):
    """A compiler, linker, driver library or toolkit directory is missing or not usable."""


class CompileError(Error):
    """An external tool failed.

    Attributes:
        returncode: exit status; 128 + signal number when the tool was killed.
        command: the argument vector.
        output: stdout and stderr of the tool, merged, whole.
        source_path: the source file, only when the build directory was kept (``JIT_DEBUG=1``).
        source: the source text that failed.
    """

    def __init__(
        self,
        message: str,
        *,
        returncode: int | None = None,
        command: Sequence[str] = (),
        output: str = "",
        source_path: Path | None = None,
        source: str | None = None,
    ) -> None:
        super().__init__(message)
        self.returncode = returncode
        self.command = tuple(command)
        self.output = output
        self.source_path = source_path
        self.source = source

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), self.args, self.__dict__)


class CompileTimeout(CompileError):
    """An external tool ran longer than ``JIT_COMPILE_TIMEOUT`` and was killed."""


class IncludeError(Error):
    """The include scan met something it must not guess about."""


class CacheError(Error):
    """No cache location, not even a private one, could take the build."""


class KernelCountError(Error):
    """A binary holds no kernel or more than one.

    Attributes:
        names: the kernels found, demangled.
    """

    def __init__(self, message: str, *, names: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.names = tuple(names)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), self.args, self.__dict__)


class LaunchError(Error):
    """A kernel could not be launched, or failed while it ran.

    Attributes:
        report: the emulator's structured report of the failure, when there is one.
    """

    def __init__(self, message: str, *, report: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.report = report

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), self.args, self.__dict__)


class LaunchOptionError(LaunchError, ValueError):
    """A launch option is missing or out of range."""


class LaunchTimeout(LaunchError):
    """A kernel ran longer than ``num_launch_timeout_secs``."""


class ArgumentError(Error, TypeError):
    """A kernel argument does not fit the kernel's signature."""


class CompileManyError(Error):
    """Some builds of ``compile_many`` failed; the others were done.

    Attributes:
        errors: (index, name, exception) of each failed request.
        results: one item per request, None where it failed.
    """

    def __init__(
        self,
        message: str,
        *,
        errors: Sequence[tuple[int, str, Exception]] = (),
        results: Sequence[object] = (),
    ) -> None:
        super().__init__(message)
        self.errors = tuple(errors)
        self.results = list(results)

    @property
    def exceptions(self) -> tuple[Exception, ...]:
        """The exceptions alone, as ``ExceptionGroup`` names them."""
        return tuple(error for _, _, error in self.errors)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), self.args, self.__dict__)
