"""Compiler and launch options with their merge rules (deep_jit.md sections 4 and 5).

Every field is optional: None means "not set". ``defaults.override_with(other)`` copies each field
that is set in `other`; ``extra_*`` lists append, every other list replaces. Objects are immutable.
"""

from __future__ import annotations

import enum
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from .errors import ConfigError, LaunchOptionError

__all__ = [
    "UNSET",
    "AscendCompilerOptions",
    "CompilerOptions",
    "CpuCompilerOptions",
    "LaunchOptions",
    "OptionsLike",
    "coerce_compiler_options",
    "coerce_launch_options",
]

_Self = TypeVar("_Self", bound="_Options")


class _Unset(enum.Enum):
    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET = _Unset.UNSET
"""`LaunchOptions.stream` not given; None there is an explicit null stream."""

_SANITIZERS = ("none", "address", "undefined", "thread")
_HOST_FLAG_STARTS = ("-D", "-U", "-I", "-std", "-f")
_MAX_TIMEOUT_S = 65535
_MAX_BLOCK_STRIDE = 65535


@dataclass(frozen=True)
class _Options:
    """Shared behaviour: type checks, merge, JSON form."""

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if value is not None and value is not UNSET:
                object.__setattr__(self, f.name, self._checked(f.name, f.type, value))

    def _checked(self, name: str, annotation: object, value: object) -> object:
        kind = str(annotation)
        where = f"{type(self).__name__}.{name}"
        if kind.startswith("tuple"):
            if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
                raise ConfigError(f"{where} must be a list of strings, got {value!r}")
            words = tuple(value)
            if not all(isinstance(word, str) for word in words):
                raise ConfigError(f"{where} must hold strings only, got {value!r}")
            return words
        if kind.startswith("bool") and not isinstance(value, bool):
            raise ConfigError(f"{where} must be True or False, got {value!r}")
        if kind.startswith("str") and not isinstance(value, str):
            raise ConfigError(f"{where} must be a string, got {value!r}")
        if kind.startswith("int"):
            if isinstance(value, bool) or not hasattr(value, "__index__"):
                raise ConfigError(f"{where} must be an integer, got {value!r}")
            return value.__index__()
        return value

    def override_with(self: _Self, other: _Self) -> _Self:
        """A copy in which each field set in `other` wins; ``extra_*`` lists are appended."""
        changes: dict[str, Any] = {}
        for f in fields(self):
            theirs = getattr(other, f.name)
            if theirs is UNSET or (theirs is None and f.name != "stream"):
                continue
            ours = getattr(self, f.name)
            append = f.name.startswith("extra_") and ours is not None
            changes[f.name] = ours + theirs if append else theirs
        return replace(self, **changes) if changes else self

    def to_json(self) -> dict[str, Any]:
        """All fields in declaration order; unset is None, lists are lists."""
        out: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            out[f.name] = list(value) if isinstance(value, tuple) else value
        return out

    @classmethod
    def from_json(cls: type[_Self], values: Mapping[str, Any]) -> _Self:
        """Inverse of `to_json`; unknown names are errors that list the allowed ones."""
        known = {f.name for f in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise ConfigError(
                f"{cls.__name__} has no field {', '.join(unknown)}; allowed: "
                f"{', '.join(f.name for f in fields(cls))}"
            )
        return cls(**values)


@dataclass(frozen=True)
class AscendCompilerOptions(_Options):
    """Options of the bisheng tool chain (section 4.1), fields in upstream's order."""

    aicpu: bool | None = None
    optimize_level: str | None = None
    arch: int | None = None
    debug_info: bool | None = None
    dump_asm: bool | None = None
    bisheng_flags: tuple[str, ...] | None = None
    linker_flags: tuple[str, ...] | None = None
    aicpu_flags: tuple[str, ...] | None = None
    aicpu_linker_flags: tuple[str, ...] | None = None
    extra_bisheng_flags: tuple[str, ...] | None = None
    extra_linker_flags: tuple[str, ...] | None = None
    extra_aicpu_flags: tuple[str, ...] | None = None
    extra_aicpu_linker_flags: tuple[str, ...] | None = None

    @classmethod
    def defaults(
        cls, *, arch: int, debug_info: bool = False, dump_asm: bool = False
    ) -> AscendCompilerOptions:
        """The built-in defaults for one NPU architecture number."""
        return cls(
            aicpu=False,
            optimize_level="2",
            arch=arch,
            debug_info=debug_info,
            dump_asm=dump_asm,
            bisheng_flags=(
                "--cce-aicore-only",
                "-mllvm",
                "-enable-hiipu-vf-loop-unroll",
                "-mllvm",
                "-cce-aicore-dcpreload-args=false",
            ),
            linker_flags=("-m", "aicorelinux", "-Ttext", "0", "--no-mmap-output-file"),
            aicpu_flags=(
                "--cce-aicore-lang",
                "--cce-lite-aicpu",
                "--cce-aicpu-only",
                "--cce-aicpu-launch-with-interface",
                "--cce-aicore-arch=dav-c310-vec",
                "-fPIC",
                "-c",
            ),
            aicpu_linker_flags=(
                "-m",
                "aicpulinux",
                "-shared",
                "-soname=libkernel.aicpu.so",
                "-Bsymbolic",
                "--no-mmap-output-file",
            ),
            extra_bisheng_flags=(),
            extra_linker_flags=(),
            extra_aicpu_flags=(),
            extra_aicpu_linker_flags=(),
        )

    def check(self) -> None:
        """Raise ConfigError when the options cannot compile anything."""
        if not self.optimize_level:
            raise ConfigError(
                f"optimization level must be specified, got {self.optimize_level!r}; "
                'pass optimize_level="2"'
            )
        if not self.aicpu and (self.arch is None or self.arch <= 0):
            raise ConfigError(
                f"Ascend architecture must be specified, got {self.arch}; pass arch=3510"
            )

    def compile_flags(self) -> tuple[str, ...]:
        """Flags of the compile command in upstream's order."""
        arch = () if self.aicpu else (f"--npu-arch=dav-{self.arch}",)
        debug = ("-g", "-gdwarf-5", "-gembed-source", "-gline-tables-only")
        lists = (
            (self.aicpu_flags, self.extra_aicpu_flags)
            if self.aicpu
            else (self.bisheng_flags, self.extra_bisheng_flags)
        )
        tail = tuple(word for words in lists for word in words or ())
        return (f"-O{self.optimize_level}", *arch, *(debug if self.debug_info else ()), *tail)

    def link_flags(self) -> tuple[str, ...]:
        """Flags of the link command of the active mode."""
        lists = (
            (self.aicpu_linker_flags, self.extra_aicpu_linker_flags)
            if self.aicpu
            else (self.linker_flags, self.extra_linker_flags)
        )
        return tuple(word for words in lists for word in words or ())

    def key_flags(self) -> tuple[tuple[str, ...], ...]:
        """Groups for the cache key: ``("aicpu",)`` in that mode, compile flags, link flags."""
        mode = (("aicpu",),) if self.aicpu else ()
        return (*mode, self.compile_flags(), self.link_flags())


@dataclass(frozen=True)
class CpuCompilerOptions(_Options):
    """Options of the host compiler for target cpu (section 4.4)."""

    optimize_level: str | None = None
    arch: int | None = None
    debug_info: bool | None = None
    dump_asm: bool | None = None
    bisheng_flags: tuple[str, ...] | None = None
    cxx_flags: tuple[str, ...] | None = None
    linker_flags: tuple[str, ...] | None = None
    sanitize: str | None = None
    extra_bisheng_flags: tuple[str, ...] | None = None
    extra_cxx_flags: tuple[str, ...] | None = None
    extra_linker_flags: tuple[str, ...] | None = None

    @classmethod
    def defaults(
        cls, *, arch: int = 3510, debug_info: bool = False, dump_asm: bool = False
    ) -> CpuCompilerOptions:
        """The built-in defaults for one emulated architecture number."""
        return cls(
            optimize_level="2",
            arch=arch,
            debug_info=debug_info,
            dump_asm=dump_asm,
            bisheng_flags=(),
            cxx_flags=(),
            linker_flags=(),
            sanitize="none",
            extra_bisheng_flags=(),
            extra_cxx_flags=(),
            extra_linker_flags=(),
        )

    def check(self) -> None:
        """Raise ConfigError when the options cannot compile anything."""
        if not self.optimize_level:
            raise ConfigError(
                f"optimization level must be specified, got {self.optimize_level!r}; "
                'pass optimize_level="2"'
            )
        if self.arch is None or self.arch <= 0:
            raise ConfigError(
                f"Ascend architecture must be specified, got {self.arch}; pass arch=3510"
            )
        if self.sanitize not in (None, *_SANITIZERS):
            raise ConfigError(
                f"sanitize must be one of {', '.join(_SANITIZERS)}, got {self.sanitize!r}"
            )

    def host_flags(self) -> tuple[str, ...]:
        """The user's compile flags: usable `bisheng_flags`, `cxx_flags`, then the extras."""
        usable, _ = split_bisheng_flags((*(self.bisheng_flags or ()),))
        extra, _ = split_bisheng_flags((*(self.extra_bisheng_flags or ()),))
        return (*usable, *(self.cxx_flags or ()), *extra, *(self.extra_cxx_flags or ()))

    def host_link_flags(self) -> tuple[str, ...]:
        """The user's link flags, extras last."""
        return (*(self.linker_flags or ()), *(self.extra_linker_flags or ()))

    def ignored_flags(self) -> tuple[str, ...]:
        """bisheng flags that mean nothing to a host compiler."""
        words = (*(self.bisheng_flags or ()), *(self.extra_bisheng_flags or ()))
        return split_bisheng_flags(words)[1]

    @classmethod
    def from_ascend(cls, options: AscendCompilerOptions) -> CpuCompilerOptions:
        """The same request for the host compiler; linker lists of ld.lld are dropped."""
        if options.aicpu:
            raise ConfigError("AICPU kernels do not run on backend cpu; pass aicpu=False")
        return cls(
            optimize_level=options.optimize_level,
            arch=options.arch,
            debug_info=options.debug_info,
            dump_asm=options.dump_asm,
            bisheng_flags=options.bisheng_flags,
            extra_bisheng_flags=options.extra_bisheng_flags,
        )


def split_bisheng_flags(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(flags that a host compiler understands, flags to ignore); pairs stay together."""
    usable: list[str] = []
    ignored: list[str] = []
    pending: list[str] | None = None
    for word in words:
        if pending is not None:
            pending.append(word)
            pending = None
            continue
        chosen = usable if word.startswith(_HOST_FLAG_STARTS) else ignored
        chosen.append(word)
        if word in ("-D", "-U", "-I", "-mllvm", "-Xclang"):
            pending = chosen
    return tuple(usable), tuple(ignored)


CompilerOptions = AscendCompilerOptions | CpuCompilerOptions
OptionsLike = AscendCompilerOptions | CpuCompilerOptions | Mapping[str, Any] | None


def coerce_compiler_options(cls: type[Any], options: OptionsLike) -> Any:
    """Options of class `cls` from an instance, a mapping, None, or the other target's options."""
    if options is None:
        return cls()
    if isinstance(options, cls):
        return options
    if isinstance(options, AscendCompilerOptions) and cls is CpuCompilerOptions:
        return CpuCompilerOptions.from_ascend(options)
    if isinstance(options, Mapping):
        return cls.from_json(options)
    raise ConfigError(
        f"compiler options must be {cls.__name__}, a mapping or None, got {type(options).__name__}"
    )


def warn_ignored_flags(options: CpuCompilerOptions) -> None:
    """Warn once per distinct list about flags that target cpu ignores."""
    ignored = options.ignored_flags()
    if ignored:
        warnings.warn(
            f"backend cpu ignores these bisheng flags: {' '.join(ignored)}; only "
            f"{' '.join(_HOST_FLAG_STARTS)} are used",
            stacklevel=3,
        )


@dataclass(frozen=True)
class LaunchOptions(_Options):
    """Options of one launch (sections 5.1 and 5.3).

    Attributes:
        stream: UNSET = current stream at launch time; None = null stream; or a stream object.
        num_blocks: number of blocks, required at launch.
        num_ubuf_bytes: dynamic Unified Buffer bytes per block.
        num_launch_timeout_secs: watchdog in seconds; 0 = off.
        block_stride: a hint for target cpu: blocks this far apart read the same operands, so the
            emulator lets one worker run them in turn; None, 0 or 1 = none. Results are the same.
    """

    stream: object = UNSET
    num_blocks: int | None = None
    num_ubuf_bytes: int | None = None
    num_launch_timeout_secs: int | None = None
    block_stride: int | None = None

    @classmethod
    def defaults(cls, *, timeout_s: int = 300) -> LaunchOptions:
        """Stream and block count unset, no dynamic UB, the given timeout."""
        return cls(num_ubuf_bytes=0, num_launch_timeout_secs=timeout_s)

    def check(self, *, aicpu: bool = False, ubuf_limit: int | None = None) -> None:
        """Raise LaunchOptionError when the options cannot launch a kernel."""
        if self.num_blocks is None or self.num_blocks <= 0:
            raise LaunchOptionError(
                f"Ascend block count must be positive, got {self.num_blocks}; "
                "pass LaunchOptions(num_blocks=n) with n >= 1"
            )
        ubuf = self.num_ubuf_bytes or 0
        if ubuf < 0:
            raise LaunchOptionError(
                f"Ascend dynamic UB size must not be negative, got num_ubuf_bytes={ubuf}"
            )
        if aicpu and ubuf:
            raise LaunchOptionError(
                f"AICPU kernels do not support dynamic UB, got num_ubuf_bytes={ubuf}; pass 0"
            )
        if ubuf_limit is not None and ubuf > ubuf_limit:
            raise LaunchOptionError(
                f"num_ubuf_bytes={ubuf} exceeds the Unified Buffer of {ubuf_limit} bytes"
            )
        timeout = self.num_launch_timeout_secs or 0
        if not 0 <= timeout <= _MAX_TIMEOUT_S:
            raise LaunchOptionError(
                f"Ascend launch timeout is out of range, got {timeout} s; "
                f"allowed: 0 (off) to {_MAX_TIMEOUT_S}"
            )
        stride = self.block_stride or 0
        if not 0 <= stride <= _MAX_BLOCK_STRIDE:
            raise LaunchOptionError(
                f"block_stride is out of range, got {stride}; "
                f"allowed: 0 (no hint) to {_MAX_BLOCK_STRIDE}"
            )


def coerce_launch_options(options: LaunchOptions | Mapping[str, Any] | None) -> LaunchOptions:
    """LaunchOptions from an instance, a mapping or None; unknown names are errors."""
    if options is None:
        return LaunchOptions()
    if isinstance(options, LaunchOptions):
        return options
    if isinstance(options, Mapping):
        return LaunchOptions.from_json(options)
    raise LaunchOptionError(
        f"launch options must be LaunchOptions, a mapping or None, got {type(options).__name__}"
    )
