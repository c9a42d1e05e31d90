"""From a cache entry to a kernel handle (deep_jit.md sections 6 and 8)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .backends.base import ParamInfo
from .builder import Job
from .entry import Entry
from .kernel import Kernel
from .kernel_choice import choose_kernel
from .variants import Variants

if TYPE_CHECKING:
    from .runtime import Runtime

__all__ = ["LoadRequest", "load_kernel", "stub_kernel"]

_TITLES = {"cpu": "CPU", "ascend": "Ascend", "cuda": "CUDA"}


@dataclass(frozen=True)
class LoadRequest:
    """What to load from an entry.

    Attributes:
        job: the compile it belongs to.
        kernel: name of the entry point; None = the only one.
        signature: parameters given by the caller.
    """

    job: Job
    kernel: str | None
    signature: tuple[ParamInfo, ...] | None

    def memory_key(self, device: int) -> tuple[object, ...]:
        """Key in the memory cache: the tag is not part of it."""
        return (device, self.job.key.digest, self.kernel, self.signature)


def load_kernel(runtime: Runtime, request: LoadRequest, entry: Entry) -> Kernel:
    """Load the kernel of an entry and count and print what the user asked for."""
    backend, directory = runtime.backend, entry.directory
    infos = choose_kernel(entry.kernels, request.kernel, backend.binary_name)
    debug = runtime.env.get_bool("JIT_DEBUG")
    if debug:
        title = _TITLES.get(backend.name, backend.name)
        runtime.log.info(f"Loading {title} binary: {directory / backend.binary_name}")
    start = time.perf_counter()
    loaded = backend.load(directory, infos)
    seconds = time.perf_counter() - start
    runtime.stats.add("loads")
    runtime.stats.add("load_s", seconds)
    if debug or runtime.env.get_bool("JIT_PRINT_LOAD_TIME"):
        runtime.log.info(f"Load time ({directory}): {seconds * 1e3:.2f} ms")
    return Kernel(
        runtime,
        request.job.tag,
        request.job.key.digest,
        directory,
        loaded.info,
        loaded,
        request.signature,
        request.memory_key(runtime.device_index),
        Variants(lambda: runtime.compile_again(request)) if backend.name == "cpu" else None,
    )


def stub_kernel(runtime: Runtime, request: LoadRequest, entry: Entry) -> Kernel:
    """The handle of a dry run: knows its artifact, cannot be launched."""
    kernels = entry.kernels or ()
    info = kernels[0] if len(kernels) == 1 else None
    job = request.job
    return Kernel(runtime, job.tag, job.key.digest, entry.directory, info, None, request.signature)
