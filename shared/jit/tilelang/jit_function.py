"""A `@tilelang.jit` function on CPU tensors."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ...emulator.context import build_token
from .front_key import Form, call_form, function_key, means_the_same_elsewhere
from .kernel import TileLangKernel
from .lower import version
from .lowered import Lowered
from .text_cache import KnownCall

if TYPE_CHECKING:
    from .bridge import TextRequest, TileLangBridge

__all__ = ["PreparedCall", "TileLangFunction", "is_on_cpu"]

# Counts changes of what a key on disk covers.
_SCHEMA = "1"
# Forms of calls that a process keeps, of one function.
_MOST_FORMS = 4096

# A kernel, and whether a call runs it (else it returns it).
_Known = tuple[TileLangKernel, bool]


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
        self._known: dict[Any, _Known] = {}  # by the form of the call

    def compile(self, *args: Any, **kwargs: Any) -> TileLangKernel:
        """The kernel for these arguments, without running it."""
        request = self._traced_request(args, kwargs)
        return self._bridge.kernel(request.key, self._bridge.text(request))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compiles for the arguments, and runs an eager function on its tensors' device."""
        if not is_on_cpu(args, kwargs):
            return self.original(*args, **kwargs)
        return self.prepare(*args, **kwargs).run()

    def prepare(self, *args: Any, **kwargs: Any) -> PreparedCall:
        """Finds or makes the text for a call on CPU tensors, and compiles nothing."""
        given = self._given(args, kwargs)
        form = self._form(given)
        known = self._known.get((form, build_token())) if form is not None else None
        if known is None and self._traced:  # one kernel may serve many shapes
            known = self._by_trace(form, args, kwargs)
        if known is not None:
            return PreparedCall(self, args, kwargs, given, known)
        return PreparedCall(self, args, kwargs, given, None, self._start(form, args, kwargs))

    def _form(self, given: Mapping[str, Any] | None) -> Form | None:
        """What tells calls apart, if this one can be told."""
        if given is None:
            return None
        return call_form(given, getattr(self.original.func, "tensor_args", {}))

    def _by_trace(
        self, form: Form | None, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> _Known | None:
        """What an earlier call gave that TileLang does not tell from this one."""
        kernel = self._traced.get(self._tilelang_key(args, kwargs))
        return None if kernel is None else self._keep(form, (kernel, self._is_eager()))

    def _start(
        self, form: Form | None, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Callable[[], _Known]:
        """Does all that TileLang does for a call of a new form.

        Returns:
            What compiles the text, and gives the kernel and whether the call runs it.
        """
        call_key = self._call_key(form) if form is not None else None
        call = self._bridge.texts.find_call(call_key) if call_key is not None else None
        lowered = self._bridge.find_text(call.lowering) if call is not None else None
        if call is not None and lowered is not None:
            return partial(self._finish, form, None, call, lowered)
        tilelang_key = self._tilelang_key(args, kwargs)
        request = self._traced_request(args, kwargs)
        lowered = self._bridge.text(request)
        call = KnownCall(request.key, self._is_eager())
        if call_key is not None:
            self._bridge.texts.store_call(call_key, call)
        return partial(self._finish, form, tilelang_key, call, lowered)

    def _finish(
        self, form: Form | None, tilelang_key: Any, call: KnownCall, lowered: Lowered
    ) -> _Known:
        """Compiles a text; in any thread."""
        kernel = self._bridge.kernel(call.lowering, lowered)
        if tilelang_key is not None:
            kernel = self._traced.setdefault(tilelang_key, kernel)
        return self._keep(form, (kernel, call.eager))

    def _keep(self, form: Form | None, known: _Known) -> _Known:
        if form is not None:
            if len(self._known) >= _MOST_FORMS:
                self._known.clear()
            self._known[form, build_token()] = known
        return known

    def _is_eager(self) -> bool:
        return bool(self.original.mode == "eager")

    def _tilelang_key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.original.initialize_jit_mode(*args, **kwargs)
        return self.original.func.parse_args(*args, **kwargs)[0], build_token()

    def _traced_request(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TextRequest:
        original = self.original
        function = original.get_tir(*args, **kwargs)
        return self._bridge.request(function, original.out_idx, original.pass_configs)

    def _call_key(self, form: Form) -> str | None:
        if not means_the_same_elsewhere(form):
            return None
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


class PreparedCall:
    """A call whose text is there. `compile` may run in any thread, `run` does it if it must.

    Args:
        function: what is called, with `args` and `kwargs`.
        given: the arguments by name; None if they do not fit.
        known: the kernel and whether the call runs it, if the kernel is compiled.
        finish: compiles and gives both, otherwise.
    """

    __slots__ = ("_args", "_finish", "_function", "_given", "_known", "_kwargs")

    def __init__(
        self,
        function: TileLangFunction,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        given: dict[str, Any] | None,
        known: _Known | None,
        finish: Callable[[], _Known] | None = None,
    ) -> None:
        self._function = function
        self._args = args
        self._kwargs = kwargs
        self._given = given
        self._known = known
        self._finish = finish

    @property
    def is_compiled(self) -> bool:
        """The kernel is there."""
        return self._known is not None

    def compile(self) -> _Known:
        """Compiles the text; returns the kernel, and whether the call runs it."""
        if self._known is None:
            assert self._finish is not None
            self._known = self._finish()
        return self._known

    def run(self) -> Any:
        """Makes the call: results of an eager function, the kernel of a lazy one."""
        kernel, eager = self._known or self.compile()
        if not eager:
            return kernel
        function = self._function.original.func
        if self._given is None:
            tensors = function.parse_args(*self._args, **self._kwargs)[1]
        else:
            runtime = getattr(function, "tensor_args", {})
            tensors = {name: value for name, value in self._given.items() if name in runtime}
        return kernel(**_kernel_arguments(kernel, tensors))


def _kernel_arguments(kernel: TileLangKernel, values: Mapping[str, Any]) -> dict[str, Any]:
    """By name of the kernel's parameters: TileLang names them as the function does, in order."""
    lowered = kernel.lowered
    inputs = [
        parameter.name
        for index, parameter in enumerate(lowered.parameters)
        if index not in lowered.outputs
    ]
    return dict(zip(inputs, values.values(), strict=True))


def is_on_cpu(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a call runs in the emulator: its first tensor, if any, is on the CPU."""
    for value in (*args, *kwargs.values()):
        device = getattr(value, "device", None)
        if device is not None:
            return str(device.type) == "cpu"
    return True
