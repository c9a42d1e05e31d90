"""TileLang functions on the tensors' device: `npu` by TileLang itself, `cpu` in the emulator.

The text TileLang generates for Ascend is compiled by the JIT's cpu backend against the emulated
API, with the device templates of the TileLang installation as they are (emulator.md section 7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from ...emulator.context import build_token
from ..config import Config
from ..errors import ArgumentError, CompileError, CompileManyError
from ..mem_cache import MemCache
from ..runtime import Runtime
from .diagnosis import explained
from .jit_function import TileLangFunction
from .kernel import TileLangKernel
from .lower import (
    Outputs,
    function_name,
    lower,
    lowering_keys,
    output_indices,
    template_dir,
)
from .lowered import Lowered
from .shipped_texts import ShippedTexts
from .text_cache import TextCache

__all__ = ["TextRequest", "TileLangBridge", "TileLangFunction"]


@dataclass(frozen=True)
class TextRequest:
    """A traced function whose text is wanted.

    Attributes:
        function: the ``T.prim_func``.
        pass_configs: TileLang's pass configuration.
        outputs: indices of the parameters that a call allocates.
        key: of the text, in the cache of this machine.
        portable_key: of the text, in `ShippedTexts`.
    """

    function: Any
    pass_configs: Mapping[str, Any]
    outputs: tuple[int, ...]
    key: str
    portable_key: str

    @property
    def name(self) -> str:
        """Name of the function."""
        return function_name(self.function)


class TileLangBridge:
    """Compiles TileLang functions; calling it wraps one.

    Args:
        env_prefix: prefix of the environment variables of its runtime; None for ``DJ``.
        texts: folder of lowered kernels that came with the package, see `ShippedTexts`; it is not
            read while ``JIT_SHIPPED_TEXTS`` is 0.

    Example:
        >>> add = TileLangBridge()(add)  # a function with @tilelang.jit
        >>> c = add(a, b)  # CPU tensors: lowered, compiled and run in the emulator
    """

    def __init__(self, env_prefix: str | None = None, texts: Path | None = None) -> None:
        self._env_prefix = env_prefix
        self._text_folder = texts
        self._kernels: MemCache[TileLangKernel] = MemCache()

    @cached_property
    def runtime(self) -> Runtime:
        """The runtime that compiles and launches, with TileLang's templates as includes."""
        templates = template_dir()
        fields: dict[str, Any] = {
            "include_dirs": (templates,),
            "include_prefixes": ("tl_templates/",),
        }
        if self._env_prefix is None:
            config = Config.with_global_prefix(templates, **fields)
        else:
            config = Config(templates, self._env_prefix, **fields)
        return Runtime(config, "cpu")

    @cached_property
    def texts(self) -> TextCache:
        """Lowered kernels in the cache."""
        return TextCache(self.runtime.disk_cache, self.runtime.log)

    @cached_property
    def shipped(self) -> ShippedTexts | None:
        """Lowered kernels that came with the package, if there are any and they are wanted."""
        folder = self._text_folder
        if folder is None or not self.runtime.env_snapshot.shipped_texts:
            return None
        return ShippedTexts(folder)

    def __call__(self, function: Any, **options: Any) -> Any:
        """Wraps a TileLang function.

        Args:
            function: what ``@tilelang.jit`` made, or a ``T.prim_func``.
            options: ``out_idx`` and ``pass_configs``, for a ``T.prim_func``.

        Returns:
            A callable: for ``@tilelang.jit`` functions with TileLang's own way to call them, for a
            ``T.prim_func`` the kernel.
        """
        if hasattr(function, "get_tir"):
            if options:
                raise ArgumentError(
                    f"{', '.join(options)} cannot be given for a @tilelang.jit function; put them "
                    "into the decorator"
                )
            return TileLangFunction(self, function)
        return self.compile(function, **options)

    def lowered(
        self,
        function: Any,
        *,
        out_idx: Outputs = None,
        pass_configs: Mapping[str, Any] | None = None,
    ) -> Lowered:
        """The generated text of a ``T.prim_func``, from the cache or the package if it is there."""
        return self.text(self.request(function, out_idx, pass_configs))

    def compile(
        self,
        function: Any,
        *,
        out_idx: Outputs = None,
        pass_configs: Mapping[str, Any] | None = None,
    ) -> TileLangKernel:
        """The kernel of a ``T.prim_func``, for CPU tensors.

        Args:
            function: the function.
            out_idx: parameters that a call allocates and returns.
            pass_configs: TileLang's pass configuration.

        Raises:
            ToolchainError: TileLang or a C++ compiler is missing.
            CompileError: the function cannot be lowered, or its text uses something the emulator
                does not have, which the message names.
        """
        request = self.request(function, out_idx, pass_configs)
        return self.kernel(request.key, self.text(request))

    def compile_many(
        self, requests: Sequence[Any], workers: int | None = None
    ) -> list[TileLangKernel]:
        """Compiles several functions in parallel.

        Args:
            requests: ``T.prim_func`` each, or (function, options) with the options of `compile`.
            workers: threads; None = one per core.

        Raises:
            CompileManyError: some failed; it holds every error and the other results.
        """
        from concurrent.futures import ThreadPoolExecutor

        jobs = [item if isinstance(item, tuple) else (item, {}) for item in requests]
        with ThreadPoolExecutor(self.runtime.worker_count(workers)) as pool:
            futures = [pool.submit(partial(self.compile, job, **options)) for job, options in jobs]
        results: list[Any] = []
        errors: list[tuple[int, str, Exception]] = []
        for index, future in enumerate(futures):
            error = future.exception()
            results.append(None if error else future.result())
            if isinstance(error, Exception):
                errors.append((index, function_name(jobs[index][0]), error))
            elif error is not None:
                raise error
        if errors:
            lines = [f"{len(errors)} of {len(jobs)} kernels failed:"]
            lines += [f"  {name} (request {index}): {error}" for index, name, error in errors]
            raise CompileManyError("\n".join(lines), errors=errors, results=results)
        return results

    def request(
        self, function: Any, out_idx: Outputs, pass_configs: Mapping[str, Any] | None
    ) -> TextRequest:
        """What the text of a traced function depends on, and its keys."""
        outputs = output_indices(function, out_idx)
        own = (function.attrs or {}).get("tilelang_pass_configs") or {}
        configs = {**{str(key): value for key, value in own.items()}, **(pass_configs or {})}
        configs = {getattr(key, "value", key): value for key, value in configs.items()}
        return TextRequest(function, configs, outputs, *lowering_keys(function, configs, outputs))

    def text(self, request: TextRequest) -> Lowered:
        """The text of a traced function: from this process, the cache, the package, or new."""
        return self.find_text(request.key) or self._text(request)

    def find_text(self, key: str) -> Lowered | None:
        """The text of a key, if this process or the cache has it."""
        kernel = self._kernels.peek((key, build_token()))
        return kernel.lowered if kernel is not None else self.texts.find(key)

    def kernel(self, key: str, lowered: Lowered) -> TileLangKernel:
        """The kernel of a text with this key, compiled once, whichever threads ask for it."""
        return self._kernels.get((key, build_token()), lambda: self._compiled(lowered))

    def _text(self, request: TextRequest) -> Lowered:
        """The text of a function that the cache does not have: the shipped one, or a new one."""
        lowered = self.shipped.find(request.name, request.portable_key) if self.shipped else None
        if lowered is None:
            lowered = lower(request.function, request.pass_configs, request.outputs)
        # NOTE: a shipped text too, for the next process: what it knows of a call is `key`.
        self.texts.store(request.key, lowered)
        return lowered

    def _compiled(self, lowered: Lowered) -> TileLangKernel:
        tag = "".join(char if char.isalnum() else "_" for char in lowered.name)
        try:
            kernel = self.runtime.compile(tag, lowered.source)
        except CompileError as error:
            raise explained(lowered, error) from error
        return TileLangKernel(lowered, kernel)
