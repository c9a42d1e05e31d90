"""The options in force, and the context manager that changes them (emulator.md section 3).

Every component carries a copy of this module, and one context must reach them all. So the state is
not kept here: it is one plain module object in `sys.modules` that all copies find, holding only
built-in types, and the runtime libraries, which copies share by their path.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

from .._component import native
from ..jit.errors import ConfigError
from .options import (
    EmulatorOptions,
    check_option_names,
    options_from_environment,
    runtime_option_names,
)

__all__ = [
    "after_launch",
    "attach_runtime",
    "build_token",
    "current_options",
    "emulator",
    "launch_listeners",
    "loaded_runtimes",
    "onlookers",
    "sync_threads",
]

_STATE_NAME = "_ascend_emulator_options_v1"

_remembered: tuple[int, EmulatorOptions] = (-1, EmulatorOptions())
"""Generation of the shared state, and the options it means."""


def _state() -> Any:
    """The shared state: `lock`, `layers` (option texts, later ones win), `runtimes`, ..."""
    state = sys.modules.get(_STATE_NAME)
    if state is not None:
        return state
    fresh: Any = ModuleType(_STATE_NAME, "Options of the Ascend emulator in this process.")
    fresh.lock = threading.RLock()
    fresh.layers = [options_from_environment()]
    fresh.generation = 0
    fresh.runtimes = []
    fresh.threads = 0
    fresh.threads_fixed = False
    fresh.trace_path = None
    fresh.listeners = []
    # NOTE: `setdefault` is atomic, so two threads, or two copies, agree on one state.
    return sys.modules.setdefault(_STATE_NAME, fresh)


def current_options() -> EmulatorOptions:
    """Returns the options in force: defaults, ``DJ_EMU_*`` variables, then open contexts.

    Variables are read once, at the first use in a process.

    Raises:
        ConfigError: a ``DJ_EMU_*`` variable is not acceptable.
    """
    global _remembered
    state = _state()
    generation, options = _remembered
    if generation != state.generation:
        with state.lock:
            generation, options = state.generation, _merged(state)
        _remembered = (generation, options)
    return options


def _merged(state: Any) -> EmulatorOptions:
    texts: dict[str, str] = {}
    for layer in state.layers:
        texts.update(layer)
    options = EmulatorOptions.from_texts(
        {name: text for name, text in texts.items() if text is not None}
    )
    options.check_together()
    return options


@contextmanager
def emulator(**options: object) -> Iterator[EmulatorOptions]:
    """Runs kernels with other emulator options until the block ends.

    Contexts nest: an inner one changes only the options it names. The options belong to the
    process: every component and every thread sees them, and a launch works on those at its start.
    When contexts of several threads overlap, the one entered last wins where they name the same
    option, and each exit takes away only what its own entry brought.

    Args:
        **options: fields of `EmulatorOptions`.

    Yields:
        The options now in force.

    Raises:
        ConfigError: an unknown name, or a value that is not allowed; nothing was changed.

    Example:
        >>> with emulator(numerics="fast", threads=1) as options:
        ...     options.numerics
        'fast'
    """
    layer = _layer_of(options)
    state = _state()
    with state.lock:
        state.layers.append(layer)
        state.generation += 1
        try:
            in_force = _merged(state)
            _push(state, in_force)
        except BaseException:
            _remove(state, layer)
            raise
    try:
        yield in_force
    finally:
        with state.lock:
            _remove(state, layer)
            _push(state, _merged(state))


def _layer_of(options: dict[str, Any]) -> dict[str, str | None]:
    check_option_names(options)
    texts = EmulatorOptions(**options).to_texts()
    return {name: texts.get(name) for name in options}


def _remove(state: Any, layer: dict[str, str | None]) -> None:
    state.layers = [other for other in state.layers if other is not layer]
    state.generation += 1


def attach_runtime(path: str) -> Any:
    """Loads a runtime library into this process, gives it the options in force, and returns it."""
    state = _state()
    with state.lock:
        runtime = native().load_runtime(path)
        options = _merged(state)
        _push_to(runtime, options)
        _note_threads(state, options)
        if path not in state.runtimes:
            state.runtimes.append(path)
    return runtime


def _push(state: Any, options: EmulatorOptions) -> None:
    for path in state.runtimes:
        _push_to(native().load_runtime(path), options)
    _note_threads(state, options)


def _push_to(runtime: Any, options: EmulatorOptions) -> None:
    texts = options.to_texts()
    texts["threads"] = str(options.threads or automatic_threads())
    for name in runtime_option_names():
        _set(runtime, name, texts[name])


def _set(runtime: Any, name: str, text: str) -> None:
    try:
        runtime.set_option(name, text)
    except ValueError as error:
        raise ConfigError(f"the emulator runtime refused option {name}: {error}") from error


def _note_threads(state: Any, options: EmulatorOptions) -> None:
    state.threads = options.threads or automatic_threads()
    state.threads_fixed = options.threads is not None
    state.trace_path = options.trace_path


def build_token() -> tuple[str, str, bool, bool]:
    """What selects another build: ISA, line numbers, do checkers or the timing model look on."""
    options = current_options()
    return options.isa, options.source_map, *onlookers()


def onlookers() -> tuple[bool, bool]:
    """Whether checkers, and whether the timing model look on: kernels may need another build."""
    options = current_options()
    return bool(options.checks), options.timing != "off"


def sync_threads() -> None:
    """Follows a change of torch's thread number since the last launch, unless `threads` is set."""
    state = _state()
    if state.threads_fixed or automatic_threads() == state.threads:
        return
    with state.lock:
        for path in state.runtimes:
            _set(native().load_runtime(path), "threads", str(automatic_threads()))
        _note_threads(state, _merged(state))


def loaded_runtimes() -> tuple[str, ...]:
    """Returns the files of the runtime libraries in this process."""
    return tuple(_state().runtimes)


def launch_listeners() -> list[Callable[[], object]]:
    """Returns the functions to call after each launch of this process; change it in place."""
    listeners: list[Callable[[], object]] = _state().listeners
    return listeners


def after_launch() -> None:
    """Calls the listeners, and writes the timeline when the option `trace_path` asks for one."""
    state = _state()
    for listener in state.listeners:
        listener()
    if state.trace_path is not None:
        from .timeline import write_chrome_trace  # for traces only

        write_chrome_trace(state.trace_path)


def automatic_threads() -> int:
    """Returns torch's number of threads, without torch the CPUs that this process may use."""
    torch = sys.modules.get("torch")
    get_num_threads = getattr(torch, "get_num_threads", None)
    return int(get_num_threads()) if get_num_threads is not None else _num_cpus()


@cache
def _num_cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _fresh_lock_in_child() -> None:
    # NOTE: another thread of the parent may have held the lock when the process was forked.
    if _STATE_NAME in sys.modules:
        _state().lock = threading.RLock()


os.register_at_fork(after_in_child=_fresh_lock_in_child)
