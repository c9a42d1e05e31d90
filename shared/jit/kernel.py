"""Handle of a kernel: checks arguments, packs them, launches (deep_jit.md sections 6, 7 and 19)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .backends.base import KernelInfo, LoadedKernel, ParamInfo, Payload
from .dry_run import is_dry_run
from .errors import ArgumentError, LaunchError, LaunchOptionError
from .options import UNSET, LaunchOptions

if TYPE_CHECKING:
    from ..emulator.gm_ranges import GmRange
    from .args import PayloadLayout
    from .runtime import Runtime
    from .variants import Variants

__all__ = ["Kernel"]


class Kernel:
    """A compiled kernel. Immutable but for `unload`; shared by everybody who compiles the same key.

    Call it like ``kernel(LaunchOptions(num_blocks=8), a, b)``. In the emulator a launch under
    checkers or with `timing` runs the build that lets them look into vector and SIMT functions,
    whenever the handle was made: such a build is compiled at the first launch that needs it.

    Attributes:
        name: cache tag.
        digest: key of the artifact, 32 hex digits.
        artifact: directory of the cache entry.
        info: description of the entry point; None for a dry-run stub of a foreign entry.
        signature: parameters, from the binary or from ``signature=``; None when not known.
    """

    __slots__ = (
        "__weakref__",
        "_layout",
        "_loaded",
        "_memory_key",
        "_runtime",
        "_variants",
        "artifact",
        "digest",
        "info",
        "name",
        "signature",
    )

    def __init__(
        self,
        runtime: Runtime,
        name: str,
        digest: str,
        artifact: Path,
        info: KernelInfo | None,
        loaded: LoadedKernel | None,
        signature: tuple[ParamInfo, ...] | None = None,
        memory_key: object = None,
        variants: Variants[Kernel] | None = None,
    ) -> None:
        self._runtime = runtime
        self._variants = variants
        self._loaded = loaded
        self._layout: PayloadLayout | None = None
        self._memory_key = memory_key
        self.name = name
        self.digest = digest
        self.artifact = artifact
        self.info = info
        self.signature = signature if signature is not None else info.params if info else None

    @property
    def loaded(self) -> LoadedKernel:
        """The backend's handle, for callers that pack payloads themselves.

        Raises:
            LaunchError: the kernel was unloaded, is a dry-run stub, or was lost in a fork.
        """
        self._runtime.check_usable()
        if self._loaded is None:
            raise LaunchError(
                f"kernel must be loaded before launch: {self.name} was unloaded or comes from a "
                "dry run; compile it again"
            )
        return self._loaded

    def pack(self, *args: object) -> bytes:
        """The payload of the arguments, checked against `signature` when that is known."""
        from .args import PayloadLayout, pack_arguments

        if self.signature is None:
            return pack_arguments(args, None)
        layout = self._layout
        if layout is None:
            layout = self._layout = PayloadLayout(self.signature)
        return layout.pack(args)

    def launch(
        self,
        options: LaunchOptions | Mapping[str, Any] | None,
        *args: object,
        memory: Sequence[GmRange] | None = None,
        isolate: bool = False,
    ) -> None:
        """Launch with options over the runtime's defaults.

        Args:
            options: overrides; `num_blocks` must come from here or from the defaults.
            args: one per parameter, see deep_jit.md section 7.3.
            memory: the tensors it may touch, made by `emulator.gm_range`, for the emulator's
                memcheck; what they call read-only must keep its content during the launch, and the
                emulator may read it later than the kernel does. None = the tensors among `args`; a
                kernel that takes addresses in structs is then not checked against the bounds of GM.
            isolate: backend cpu: run in a forked child, so that a crash or a hang ends only the
                child. Outputs (of `memory`, or the tensors among `args` that are not const) are
                copied back when the launch succeeds, and untouched otherwise. A modelled time
                stays in the child.

        Raises:
            ArgumentError: count, type or range of an argument; `isolate` without knowing all
                tensors.
            LaunchOptionError: an option is missing or out of range.
            LaunchError: the kernel is not loaded, or failed.
            CompileError: the build for checkers or timing failed.
        """
        if is_dry_run():
            return
        loaded = self.loaded
        fitting = self._variants.fitting(self) if self._variants is not None else self
        if fitting is not self:
            fitting.launch(options, *args, memory=memory, isolate=isolate)
            return
        effective = self._runtime.effective_launch_options(options)
        payload = self.pack(*args)
        stream = self._stream(effective)
        run: Callable[[Payload, LaunchOptions], None] = loaded.launch
        if self._runtime.backend.name == "cpu" and (ranges := self._ranges(args, memory)):
            run = partial(loaded.launch, ranges=ranges)  # type: ignore[call-arg]
        if isolate:
            run = self._isolated(run, args, memory)
        if stream is None:
            self._run(run, payload, effective, args)
        else:
            stream.submit(lambda: self._run(run, payload, effective, args))

    __call__ = launch

    def _stream(self, options: LaunchOptions) -> Any:
        """The FIFO to launch on; None = launch here (the ascend backend chooses by itself)."""
        runtime = self._runtime
        if runtime.backend.name != "cpu":
            return None
        stream = options.stream
        if stream is UNSET or stream is None or (isinstance(stream, int) and stream == 0):
            return runtime.default_stream
        if not callable(getattr(stream, "submit", None)):
            raise LaunchOptionError(
                f"stream must be a deep_jit.Stream, None or unset on backend cpu, got {stream!r}"
            )
        return stream

    def _ranges(
        self, args: Sequence[object], memory: Sequence[GmRange] | None
    ) -> Sequence[GmRange]:
        """The tensors of a launch: as the caller names them, else as the checkers want them."""
        from ..emulator.context import current_options

        if memory is not None:
            return memory
        if not current_options().checks:
            return ()
        return self._tensors(args) or ()

    def _tensors(self, args: Sequence[object]) -> list[GmRange] | None:
        from ..emulator.gm_ranges import ranges_of_arguments

        const = [param.type_name.startswith("const ") for param in self.signature or ()]
        return ranges_of_arguments(args, const)

    def _isolated(
        self,
        run: Callable[[Payload, LaunchOptions], None],
        args: Sequence[object],
        memory: Sequence[GmRange] | None,
    ) -> Callable[[Payload, LaunchOptions], None]:
        """`run` in a child process that gives the tensors back."""
        if self._runtime.backend.name != "cpu":
            raise LaunchOptionError(
                f"isolate=True works on backend cpu, got backend {self._runtime.backend.name}"
            )
        tensors = memory if memory is not None else self._tensors(args)
        if tensors is None:
            raise ArgumentError(
                f"isolate=True must know every tensor of {self._title()}, but an argument may hold "
                "addresses: pass memory=[gm_range(tensor), ...]"
            )
        from .isolate import run_isolated

        def run_in_child(payload: Payload, options: LaunchOptions) -> None:
            limit = options.num_launch_timeout_secs or 0
            run_isolated(lambda: run(payload, options), tensors, limit, self._title())

        return run_in_child

    def _run(
        self,
        run: Callable[[Payload, LaunchOptions], None],
        payload: Payload,
        options: LaunchOptions,
        args: object,
    ) -> None:
        """One launch; `args` is held so that buffers live until it ends."""
        try:
            run(payload, options)
        except LaunchError as error:
            text = str(error)
            if self.name not in text:
                error.args = (f"kernel {self._title()} (tag {self.name}): {text}",)
            raise
        self._runtime.stats.add("launches")

    def _title(self) -> str:
        return self.info.demangled if self.info else self.name

    def unload(self) -> None:
        """Free the kernel; idempotent, never raises. The next compile loads it anew."""
        loaded, self._loaded = self._loaded, None
        if loaded is not None:
            self._runtime.forget(self._memory_key)
            loaded.unload()

    def __repr__(self) -> str:
        state = "loaded" if self._loaded is not None else "not loaded"
        return f"Kernel({self.name}.{self.digest}, {state})"


def require_kernel(kernel: object) -> Kernel:
    """`kernel` if it is one; upstream's message for None."""
    if kernel is None:
        raise ArgumentError("kernel must not be null; pass the result of Runtime.compile")
    if not isinstance(kernel, Kernel):
        raise ArgumentError(f"kernel must be a Kernel, got {type(kernel).__name__}")
    return kernel
