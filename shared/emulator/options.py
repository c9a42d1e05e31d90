"""`EmulatorOptions`: every knob of the emulator, documented once (emulator.md section 3)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from ..jit.errors import ConfigError

__all__ = ["CHECKS", "ENV_PREFIX", "EmulatorOptions"]

ENV_PREFIX = "DJ_EMU_"
CHECKS = ("memcheck", "racecheck", "initcheck", "synccheck")

_MAX_THREADS = 1024
_MAX_CORES = 1024
_MAX_SEED = (1 << 64) - 1


def _choice(first: str, *others: str, runtime: bool = False) -> Any:
    """A field with a fixed list of values; the first is the default."""
    metadata = {"allowed": (first, *others), "runtime": runtime}
    return field(default=first, metadata=metadata)


def _number(default: int | None, low: int, high: int) -> Any:
    return field(default=default, metadata={"range": (low, high), "runtime": True})


@dataclass(frozen=True)
class EmulatorOptions:
    """How kernels run on the CPU. The first value of each list is the default.

    Attributes:
        checks: names out of memcheck, racecheck, initcheck, synccheck, or ``all``; default none.
        schedule: ``immediate`` runs each instruction in program order; ``deferred`` queues them per
            pipe, as the hardware does, and runs them in an order that `seed` picks.
        seed: picks the order of schedule ``deferred``; 0 = the order of issue.
        uninitialized: what on-chip memory holds when a block starts: ``keep`` (whatever was
            there), ``nan`` or ``zero``.
        out_of_bounds: ``raise`` ends the kernel at the first bad access; ``report`` leaves it
            out, goes on and raises at the end.
        numerics: ``exact`` gives the same bits on every host and thread count; ``fast`` may use the
            host's low-precision instructions and other orders, within tolerance.
        timing: models the device's time, see `last_profile`: ``off``; ``fast`` (each core by
            itself); ``replay`` (all cores share HBM and L2). Results do not change.
        trace_path: file for a Chrome trace of each launch, the last one stays; needs `timing`.
        num_cores: AI cores of the emulated device.
        threads: host threads that run blocks; None = torch's number, without torch the CPUs of
            this process.
        isa: ``best`` of this host, or the name of an instruction set: runtime and kernels are built
            for it. It takes effect for kernels compiled or looked up afterwards.
        data: ``compute``, or ``skip`` all copies and arithmetic of the pipes: for timing alone.
            Outputs are not written then, and tensors may be `torch.empty` of any size. SIMD
            functions are timed all the same, unless their work depends on data.
        source_map: ``on`` keeps line numbers in kernels for reports; ``off`` compiles a little
            faster.
    """

    checks: tuple[str, ...] = field(default=(), metadata={"allowed": CHECKS, "runtime": True})
    schedule: str = _choice("immediate", "deferred", runtime=True)
    seed: int = _number(0, 0, _MAX_SEED)
    uninitialized: str = _choice("keep", "nan", "zero", runtime=True)
    out_of_bounds: str = _choice("raise", "report", runtime=True)
    numerics: str = _choice("exact", "fast", runtime=True)
    timing: str = _choice("off", "fast", "replay", runtime=True)
    trace_path: str | None = None
    num_cores: int = _number(32, 1, _MAX_CORES)
    threads: int | None = _number(None, 1, _MAX_THREADS)
    isa: str = "best"
    data: str = _choice("compute", "skip", runtime=True)
    source_map: str = _choice("on", "off")

    def __post_init__(self) -> None:
        """Raises ConfigError for a value that is not allowed, with those that are."""
        object.__setattr__(self, "checks", _check_names(self.checks))
        for item in fields(self):
            value = getattr(self, item.name)
            if "range" in item.metadata:
                _check_range(
                    item.name, value, *item.metadata["range"], optional=item.default is None
                )
            elif "allowed" in item.metadata and item.name != "checks":
                _check_choice(item.name, value, item.metadata["allowed"])
        _check_isa(self.isa)

    def check_together(self) -> None:
        """Raises ConfigError for a combination of values that means nothing."""
        if self.trace_path is not None and self.timing == "off":
            raise _not_allowed(
                "trace_path", self.trace_path, ("a path together with timing='replay' or 'fast'",)
            )

    def to_texts(self) -> dict[str, str]:
        """Returns every option as text; an option that is None is left out."""
        texts = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if value is not None:
                texts[item.name] = ",".join(value) if item.name == "checks" else str(value)
        return texts

    @classmethod
    def from_texts(cls, texts: Mapping[str, str]) -> EmulatorOptions:
        """Inverse of `to_texts`; used for ``DJ_EMU_*`` variables.

        Raises:
            ConfigError: an unknown name, or a value that is not allowed.
        """
        check_option_names(texts)
        return cls(**{name: _parse(name, text) for name, text in texts.items()})


def check_option_names(names: Mapping[str, object]) -> None:
    """Raises ConfigError unless every name is a field of `EmulatorOptions`."""
    known = [item.name for item in fields(EmulatorOptions)]
    for name in names:
        if name not in known:
            raise ConfigError(
                f"emulator option {name!r} does not exist; allowed: {', '.join(known)}"
            )


def options_from_environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Returns the options set by ``DJ_EMU_<NAME>`` variables, as texts.

    Raises:
        ConfigError: a variable names no option or holds a value that is not allowed.
    """
    environ = os.environ if environ is None else environ
    texts = {
        name[len(ENV_PREFIX) :].lower(): text
        for name, text in environ.items()
        if name.startswith(ENV_PREFIX)
    }
    try:
        EmulatorOptions.from_texts(texts)
    except ConfigError as error:
        raise ConfigError(f"{error} (set by a {ENV_PREFIX}* variable)") from None
    return texts


def runtime_option_names() -> tuple[str, ...]:
    """Returns the options that the runtime library itself holds."""
    return tuple(f.name for f in fields(EmulatorOptions) if f.metadata.get("runtime"))


def _parse(name: str, text: str) -> Any:
    if name == "checks":
        return tuple(word.strip() for word in text.split(",") if word.strip() not in ("", "none"))
    if name in ("seed", "num_cores", "threads"):
        if not (text.isascii() and text.isdigit()):
            raise ConfigError(f"emulator option {name}: got {text!r}; allowed: a decimal integer")
        return int(text)
    if name == "trace_path" and not text:
        return None
    return text


def _check_names(checks: object) -> tuple[str, ...]:
    if isinstance(checks, str):
        checks = () if checks == "none" else (checks,)
    if checks == ("all",) or checks == ["all"]:
        checks = CHECKS
    if not isinstance(checks, Sequence | set | frozenset):
        raise ConfigError(f"emulator option checks: got {checks!r}; allowed: names out of {CHECKS}")
    names = tuple(sorted(checks)) if isinstance(checks, set | frozenset) else tuple(checks)
    for name in names:
        if name not in CHECKS:
            raise _not_allowed("checks", name, ("none", "all", *CHECKS))
    return names


def _check_choice(name: str, value: object, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise _not_allowed(name, value, allowed)


def _check_range(name: str, value: object, low: int, high: int, *, optional: bool) -> None:
    if value is None and optional:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise _not_allowed(name, value, (f"an integer from {low} to {high}",))


def _check_isa(value: object) -> None:
    # NOTE: names are checked where a runtime is built: they depend on the host.
    if not isinstance(value, str) or not value:
        raise _not_allowed("isa", value, ("best", "the name of an instruction set"))


def _not_allowed(name: str, value: object, allowed: Sequence[str]) -> ConfigError:
    return ConfigError(f"emulator option {name}: got {value!r}; allowed: {', '.join(allowed)}")
