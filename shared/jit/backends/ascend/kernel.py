"""A kernel that ACL has loaded, and its launches (deep_jit.md sections 5.1, 6 and 8)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from ...elf import AICPU_SUFFIX
from ...env import Env
from ...errors import LaunchError
from ...options import LaunchOptions
from ..base import KernelInfo, Payload
from .acl import Acl
from .acl_types import LaunchConfig, cpu_kernel_options, launch_config
from .stream import stream_handle

__all__ = ["AscendKernel", "load_aicore_kernel", "load_aicpu_kernel"]

_BLOCKING_VARIABLE = "ASCEND_LAUNCH_BLOCKING"


class AscendKernel:
    """One loaded kernel, for any number of threads; it unloads itself when it is collected.

    Args:
        acl: the opened driver library.
        env: live environment; `ASCEND_LAUNCH_BLOCKING` is read at every launch.
        device: index of the device it was loaded on.
        info: what is known of the kernel.
        binary: handle of the loaded binary.
        function: handle of the kernel in it.
        image: bytes that ACL keeps using while the binary is loaded.
    """

    def __init__(
        self,
        acl: Acl,
        env: Env,
        device: int,
        info: KernelInfo,
        binary: int,
        function: int,
        *,
        image: bytes | None = None,
    ) -> None:
        self._acl = acl
        self._env = env
        self._device = device
        self._info = info
        self._binary = binary
        self._function = function
        self._image = image
        self._process = os.getpid()
        self._configs: dict[tuple[int, int], LaunchConfig | None] = {}

    @property
    def info(self) -> KernelInfo:
        """Name and, where the binary tells, the cores of one block."""
        return self._info

    def launch(self, payload: Payload, options: LaunchOptions) -> None:
        """Puts the kernel on its stream; waits for it only under ASCEND_LAUNCH_BLOCKING.

        Raises:
            LaunchOptionError: an option is missing or out of range.
            LaunchError: ACL refused the launch, the kernel is unloaded, or the process is a fork of
                the loader's.
        """
        options.check(aicpu=self._image is not None)
        if not self._function:
            raise LaunchError(
                f"kernel must be loaded before launch: {self._info.demangled} was unloaded"
            )
        if os.getpid() != self._process:
            raise LaunchError(
                f"kernel {self._info.demangled} was loaded before a fork; a device cannot be "
                "shared with the child: "
                "create the runtime in the process that launches"
            )
        self._acl.launch(
            self._function,
            options.num_blocks or 0,
            stream_handle(options.stream, self._device),
            self._config(options.num_ubuf_bytes or 0, options.num_launch_timeout_secs or 0),
            payload if isinstance(payload, bytes) else bytes(payload),
        )
        if _BLOCKING_VARIABLE in os.environ and self._env.standard_bool(_BLOCKING_VARIABLE):
            self._acl.synchronize_device()

    def unload(self) -> None:
        """Gives the binary back; a second call does nothing, and nothing is raised."""
        binary, self._binary, self._function = self._binary, 0, 0
        if binary and os.getpid() == self._process:
            with contextlib.suppress(LaunchError):
                self._acl.unload(binary)

    def __del__(self) -> None:
        if getattr(self, "_binary", 0):
            self.unload()

    def _config(self, ubuf_bytes: int, timeout_seconds: int) -> LaunchConfig | None:
        key = (ubuf_bytes, timeout_seconds)
        if key not in self._configs:
            self._configs[key] = launch_config(*key)
        return self._configs[key]


def load_aicore_kernel(
    acl: Acl, env: Env, device: int, info: KernelInfo, path: Path
) -> AscendKernel:
    """Loads the kernel `info.name` from an AICore object."""
    binary = acl.load_file(path)
    function = _or_unload(acl, binary, lambda: acl.get_function(binary, info.name))
    return AscendKernel(acl, env, device, info, binary, function)


def load_aicpu_kernel(
    acl: Acl, env: Env, device: int, info: KernelInfo, path: Path
) -> AscendKernel:
    """Loads an AICPU shared object and registers the kernel `info.name` with its entry."""
    image = path.read_bytes()
    binary = acl.load_data(image, cpu_kernel_options())
    entry = info.name + AICPU_SUFFIX
    function = _or_unload(acl, binary, lambda: acl.register_cpu_function(binary, entry, info.name))
    return AscendKernel(acl, env, device, info, binary, function, image=image)


def _or_unload(acl: Acl, binary: int, find: Callable[[], int]) -> int:
    try:
        return find()
    except LaunchError:
        with contextlib.suppress(LaunchError):
            acl.unload(binary)
        raise
