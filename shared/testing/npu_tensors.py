"""Tensors on torch device `npu` without torch_npu, for tests (architecture.md section 7).

The bytes of such a tensor lie in a host tensor, so that the ACL stand-in can run kernels on them:
`data_ptr()` is a host address. Arithmetic of torch runs on the host tensor. Operands on different
devices are refused, as a real device does.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch.utils._pytree import tree_flatten, tree_map

__all__ = ["NpuEvent", "NpuModule", "NpuStream", "NpuTensor", "register_npu_device", "to_npu"]

_DEVICE = "npu"
_CROSSING = ("aten::copy_", "aten::_to_copy", "aten::_copy_from")


class NpuStream:
    """A stream as torch_npu shows one: `npu_stream` is the ACL handle."""

    def __init__(self, handle: int) -> None:
        self.npu_stream = handle

    def __repr__(self) -> str:
        return f"NpuStream({self.npu_stream:#x})"


class NpuEvent:
    """An event as torch_npu shows one: the host's time when the stream reached it.

    Work on the stand-in device is done when its call returns, so an event is reached at once.

    Args:
        enable_timing: whether `elapsed_time` may be asked.
    """

    def __init__(self, enable_timing: bool = False, **_: object) -> None:
        self._timed = enable_timing
        self._at: float | None = None

    def record(self, stream: object = None) -> None:
        """Notes the time."""
        self._at = time.perf_counter()

    def query(self) -> bool:
        """Always true."""
        return True

    def synchronize(self) -> None:
        """There is nothing to wait for."""

    def wait(self, stream: object = None) -> None:
        """There is nothing to wait for."""

    def elapsed_time(self, end: NpuEvent) -> float:
        """Milliseconds from this event to `end`.

        Raises:
            RuntimeError: one was not recorded, or made without `enable_timing=True`.
        """
        if self._at is None or end._at is None or not (self._timed and end._timed):
            raise RuntimeError(
                "both events must be recorded and made with enable_timing=True, as torch wants it"
            )
        return (end._at - self._at) * 1000


class NpuModule:
    """What `torch.npu` offers here: one device, and a current stream of each thread."""

    is_stand_in = True
    Event = NpuEvent
    Stream = NpuStream

    def __init__(self) -> None:
        self._current = threading.local()

    def is_initialized(self) -> bool:
        """Always true: there is nothing to initialise."""
        return True

    def is_available(self) -> bool:
        """Always true."""
        return True

    def device_count(self) -> int:
        """One device."""
        return 1

    def current_device(self) -> int:
        """Device 0."""
        return 0

    def synchronize(self, device: object = None) -> None:
        """There is nothing to wait for: calls return when their work is done."""

    @contextmanager
    def device(self, device: object) -> Iterator[None]:
        """Device 0 stays current."""
        yield

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        """Nothing draws random numbers on this device."""

    def current_stream(self, device: object = None) -> NpuStream:
        """The stream that `stream()` has made current, else the null stream."""
        return cast(NpuStream, getattr(self._current, "stream", NpuStream(0)))

    @contextmanager
    def stream(self, stream: NpuStream) -> Iterator[None]:
        """Makes a stream current in this thread."""
        before = self.current_stream()
        self._current.stream = stream
        try:
            yield
        finally:
            self._current.stream = before


class NpuTensor(torch.Tensor):
    """A tensor of device `npu` whose bytes are those of the host tensor `host`."""

    host: torch.Tensor

    @staticmethod
    def __new__(cls: type[NpuTensor], host: torch.Tensor) -> NpuTensor:
        """Wraps a host tensor; both share their bytes."""
        register_npu_device()
        make = cast(Callable[..., NpuTensor], torch.Tensor._make_wrapper_subclass)
        tensor = make(
            cls,
            host.size(),
            strides=host.stride(),
            storage_offset=host.storage_offset(),
            dtype=host.dtype,
            device=torch.device(_DEVICE, 0),
        )
        tensor.host = host
        return tensor

    def data_ptr(self) -> int:
        """The address of the first element, in host memory."""
        return self.host.data_ptr()

    def untyped_storage(self) -> torch.UntypedStorage:
        """The storage of the host tensor."""
        return self.host.untyped_storage()

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]  # as torch
        return f"NpuTensor({self.host!r})"

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # torch declares a plain function
        cls,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Runs an operator of torch on the host tensors."""
        named = dict(kwargs or {})
        _check_devices(func, args, named)
        wanted = torch.device(named["device"]).type if named.get("device") else _DEVICE
        if named.get("device"):
            named["device"] = torch.device("cpu")
        result = func(*tree_map(_unwrap, args), **tree_map(_unwrap, named))
        if func._schema.name.endswith("_"):
            return args[0]
        if "out" in named:
            return (kwargs or {})["out"]
        return tree_map(_wrap, result) if wanted == _DEVICE else result


def to_npu(host: torch.Tensor) -> NpuTensor:
    """Returns a tensor on device `npu` that shares the bytes of a host tensor."""
    return NpuTensor(host)


def register_npu_device() -> NpuModule:
    """Gives this process the torch device `npu`; a second call changes nothing.

    Raises:
        RuntimeError: torch has a real device `npu`.
    """
    existing = getattr(torch, _DEVICE, None)
    if existing is None:
        return _register()
    if not getattr(existing, "is_stand_in", False):
        raise RuntimeError("torch_npu is loaded, so device npu is real; run this test without it")
    return cast(NpuModule, existing)  # of this copy of the shared code, or of another component's


def _register() -> NpuModule:
    from torch.utils import backend_registration

    module = NpuModule()
    setup = cast(Callable[..., None], backend_registration._setup_privateuseone_for_python_backend)
    setup(_DEVICE, backend_module=module)
    for name, implementation in (
        ("empty.memory_format", _empty),
        ("empty_strided", _empty_strided),
    ):
        torch.library.impl(f"aten::{name}", "PrivateUse1")(implementation)
    return module


def _empty(size: Sequence[int], *, dtype: torch.dtype | None = None, **_: Any) -> torch.Tensor:
    return NpuTensor(torch.empty(tuple(size), dtype=dtype, device="cpu"))


def _empty_strided(
    size: Sequence[int], stride: Sequence[int], *, dtype: torch.dtype | None = None, **_: Any
) -> torch.Tensor:
    host = torch.empty_strided(tuple(size), tuple(stride), dtype=dtype, device="cpu")
    return NpuTensor(host)


def _check_devices(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    if func._schema.name in _CROSSING:
        return
    for value in tree_flatten((args, dict(kwargs)))[0]:
        if _is_plain(value) and value.dim() > 0:
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"npu:0 and {value.device}! ({func._schema.name})"
            )


def _is_plain(value: object) -> bool:
    return isinstance(value, torch.Tensor) and _host_of(value) is None


def _host_of(value: object) -> torch.Tensor | None:
    """The host tensor of an npu tensor; each copy of the shared code has a class of its own."""
    host = getattr(value, "host", None)
    return host if isinstance(host, torch.Tensor) else None


def _unwrap(value: Any) -> Any:
    host = _host_of(value)
    return value if host is None else host


def _wrap(value: Any) -> Any:
    return NpuTensor(value) if _is_plain(value) else value
