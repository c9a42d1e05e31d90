"""A `@tilelang.jit` function on CPU tensors."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...emulator.context import build_token
from .front_key import call_form, function_key
from .kernel import TileLangKernel
from .lower import version
from .text_cache import KnownCall

if TYPE_CHECKING:
    from .bridge import TileLangBridge

__all__ = ["TileLangFunction"]

# Counts changes of what a key on disk covers.
_SCHEMA = "1"
# Forms of calls that a process keeps, of one function.
_MOST_FORMS = 4096


class TileLangFunction:
    """A ``@tilelang.jit`` function that also runs on CPU tensors.

    Called as TileLang's own: an eager function with its tensors, which runs it; a lazy one with
    its parameters, which returns the kernel. A call that an earlier process made is not traced
    again, if the function reads nothing but plain values, functions and TileLang.

    Attributes:
        original: TileLang's object.
    """

    def __init__(self, bridge: TileLangBridge, original: Any) -> None:
        self._bridge = bridge
        self.original = original
        self._traced: dict[Any, TileLangKernel] = {}  # by TileLang's key
        self._known: dict[Any, tuple[TileLangKernel, bool]] = {}  # by the form of the call

    def compile(self, *args: Any, **kwargs: Any) -> TileLangKernel:
        """The kernel for these arguments, without running it."""
        return self._compile(args, kwargs)[1]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compiles for the arguments, and runs an eager function on its tensors' device."""
        device = _device_of(args, kwargs)
        if device not in ("cpu", None):
            return self.original(*args, **kwargs)
        given = self._given(args, kwargs)
        runtime = getattr(self.original.func, "tensor_args", {})
        form = call_form(given, runtime) if given is not None else None
        known = self._known.get((form, build_token())) if form is not None else None
        if known is None:
            known = self._find(form, args, kwargs)
        kernel, eager = known
        if not eager:
            return kernel
        if given is None:
            return kernel(
                **_kernel_arguments(kernel, self.original.func.parse_args(*args, **kwargs)[1])
            )
        tensors = {name: value for name, value in given.items() if name in runtime}
        return kernel(**_kernel_arguments(kernel, tensors))

    def _find(
        self, form: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[TileLangKernel, bool]:
        """The kernel of a call of a new form, and whether the call runs it."""
        known = None
        if self._traced:  # then this is fast, and one kernel may serve many shapes
            kernel = self._traced.get(self._tilelang_key(args, kwargs))
            known = (kernel, self.original.mode == "eager") if kernel is not None else None
        key = self._call_key(form) if known is None and form is not None else None
        if key is not None:
            known = self._from_disk(key)
        if known is None:
            tilelang_key = self._tilelang_key(args, kwargs)
            lowering, kernel = self._compile(args, kwargs)
            known = self._traced.setdefault(tilelang_key, kernel), self.original.mode == "eager"
            if key is not None:
                self._bridge.texts.store_call(key, KnownCall(lowering, known[1]))
        if form is not None:
            if len(self._known) >= _MOST_FORMS:
                self._known.clear()
            self._known[form, build_token()] = known
        return known

    def _tilelang_key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.original.initialize_jit_mode(*args, **kwargs)
        return self.original.func.parse_args(*args, **kwargs)[0], build_token()

    def _compile(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, TileLangKernel]:
        original = self.original
        return self._bridge.compile_with_key(
            original.get_tir(*args, **kwargs), original.out_idx, original.pass_configs
        )

    def _call_key(self, form: Any) -> str | None:
        original = self.original
        options = (
            original.out_idx,
            original.target,
            original.target_host,
            original.pass_configs,
            original.compile_flags,
        )
        function = getattr(original.func, "orig_func", None)
        if function is None:
            return None
        key = function_key(function, options, (_SCHEMA, sys.version, version()))
        return key and hashlib.sha256(f"{key} {form!r}".encode()).hexdigest()[:32]

    def _from_disk(self, key: str) -> tuple[TileLangKernel, bool] | None:
        call = self._bridge.texts.find_call(key)
        kernel = self._bridge.find(call.lowering) if call is not None else None
        if call is None or kernel is None:
            return None
        return kernel, call.eager

    def _given(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
        """The arguments by name, in the order of the parameters; None if they do not fit."""
        parameters = self.original.signature.parameters
        own = {name: value for name, value in kwargs.items() if name in parameters}
        try:
            given = self.original.signature.bind_partial(*args, **own).arguments
        except TypeError:
            return None
        # NOTE: TileLang takes values of T.const by name too.
        return {**given, **{name: kwargs[name] for name in kwargs if name not in own}}

    def __repr__(self) -> str:
        return f"TileLangFunction({getattr(self.original.func, '__name__', '?')})"


def _kernel_arguments(kernel: TileLangKernel, values: Mapping[str, Any]) -> dict[str, Any]:
    """By name of the kernel's parameters: TileLang names them as the function does, in order."""
    lowered = kernel.lowered
    inputs = [
        parameter.name
        for index, parameter in enumerate(lowered.parameters)
        if index not in lowered.outputs
    ]
    return dict(zip(inputs, values.values(), strict=True))


def _device_of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
    for value in (*args, *kwargs.values()):
        device = getattr(value, "device", None)
        if device is not None:
            return str(device.type)
    return None
