"""ACL calls: load, find a function, launch, synchronise (deep_jit.md sections 5.1, 8, 18).

`libascendcl.so` is opened on first use and each call is resolved once. A foreign call through
ctypes releases the interpreter lock and costs about 2 us, so no compiled layer is needed.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ...errors import LaunchError, LaunchTimeout, ToolchainError
from .acl_types import SUCCESS, BinaryLoadOptions, DeviceAttribute, LaunchConfig

__all__ = ["LIBRARY_NAME", "TIMEOUT_CODES", "Acl", "load_acl"]

LIBRARY_NAME = "libascendcl.so"

# AI core, AICPU, vector core and stream synchronisation timeouts of `rt_error_codes.h`.
TIMEOUT_CODES = frozenset({507014, 507017, 507034, 507046})

_Handle = ctypes.c_void_p
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "aclrtBinaryLoadFromFile": (
        ctypes.c_char_p,
        ctypes.POINTER(BinaryLoadOptions),
        ctypes.POINTER(_Handle),
    ),
    "aclrtBinaryLoadFromData": (
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.POINTER(BinaryLoadOptions),
        ctypes.POINTER(_Handle),
    ),
    "aclrtBinaryGetFunction": (_Handle, ctypes.c_char_p, ctypes.POINTER(_Handle)),
    "aclrtRegisterCpuFunc": (_Handle, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(_Handle)),
    "aclrtBinaryUnLoad": (_Handle,),
    "aclrtLaunchKernelWithHostArgs": (
        _Handle,
        ctypes.c_uint32,
        _Handle,
        ctypes.POINTER(LaunchConfig),
        ctypes.c_char_p,
        ctypes.c_size_t,
        _Handle,
        ctypes.c_size_t,
    ),
    "aclrtGetDevice": (ctypes.POINTER(ctypes.c_int32),),
    "aclrtGetDeviceInfo": (ctypes.c_uint32, ctypes.c_uint32, ctypes.POINTER(ctypes.c_int64)),
    "aclrtSynchronizeStream": (_Handle,),
    "aclrtSynchronizeDevice": (),
}


class Acl:
    """The functions of one `libascendcl.so`; a failure is a `LaunchError` with ACL's words."""

    def __init__(self, library: ctypes.CDLL, name: str) -> None:
        self._library = library
        self._name = name
        self._calls = {call: self._resolve(call, types) for call, types in _SIGNATURES.items()}
        self._recent_message = self._resolve("aclGetRecentErrMsg", (), ctypes.c_char_p)
        self._soc_name = self._resolve("aclrtGetSocName", (), ctypes.c_char_p)
        self._launch = self._calls["aclrtLaunchKernelWithHostArgs"]

    @property
    def name(self) -> str:
        """The file or name that was opened."""
        return self._name

    def load_file(self, path: Path) -> int:
        """Loads an AICore object and returns its handle."""
        handle = _Handle()
        self._check(
            "aclrtBinaryLoadFromFile", os.fsencode(path.absolute()), None, ctypes.byref(handle)
        )
        return handle.value or 0

    def load_data(self, data: bytes, options: BinaryLoadOptions) -> int:
        """Loads a binary from host memory; the caller keeps `data` alive until `unload`."""
        handle = _Handle()
        self._check(
            "aclrtBinaryLoadFromData", data, len(data), ctypes.byref(options), ctypes.byref(handle)
        )
        return handle.value or 0

    def get_function(self, binary: int, name: str) -> int:
        """Returns the handle of the kernel `name` of a loaded binary."""
        handle = _Handle()
        self._check("aclrtBinaryGetFunction", binary, _encoded(name), ctypes.byref(handle))
        return handle.value or 0

    def register_cpu_function(self, binary: int, function: str, kernel: str) -> int:
        """Registers an AICPU kernel by its entry `function` and its name; returns its handle."""
        handle = _Handle()
        self._check(
            "aclrtRegisterCpuFunc",
            binary,
            _encoded(function),
            _encoded(kernel),
            ctypes.byref(handle),
        )
        return handle.value or 0

    def unload(self, binary: int) -> None:
        """Unloads a binary."""
        self._check("aclrtBinaryUnLoad", binary)

    def launch(
        self,
        function: int,
        num_blocks: int,
        stream: int,
        config: LaunchConfig | None,
        payload: bytes,
    ) -> None:
        """Puts one launch on a stream; returns before the kernel has run."""
        code = self._launch(function, num_blocks, stream, config, payload, len(payload), None, 0)
        if code != SUCCESS:
            raise self._error("aclrtLaunchKernelWithHostArgs", code)

    def current_device(self) -> int:
        """Returns the device of the calling thread."""
        device = ctypes.c_int32()
        self._check("aclrtGetDevice", ctypes.byref(device))
        return device.value

    def device_info(self, device: int, attribute: DeviceAttribute) -> int:
        """Returns one number that describes a device."""
        value = ctypes.c_int64()
        self._check("aclrtGetDeviceInfo", device, attribute, ctypes.byref(value))
        return value.value

    def soc_name(self) -> str:
        """Returns the name of the chip, for example `Ascend950PR_9599`."""
        name: bytes | None = self._soc_name()
        if not name:
            raise LaunchError(f"aclrtGetSocName failed: {self.recent_message()}")
        return name.decode("utf-8", "replace")

    def synchronize_stream(self, stream: int) -> None:
        """Waits for one stream."""
        self._check("aclrtSynchronizeStream", stream)

    def synchronize_device(self) -> None:
        """Waits for everything on the current device."""
        self._check("aclrtSynchronizeDevice")

    def recent_message(self) -> str:
        """Returns the text of this thread's last failure, `unknown` when ACL has none."""
        text: bytes | None = self._recent_message()
        return text.decode("utf-8", "replace") if text else "unknown"

    def _check(self, call: str, *arguments: object) -> None:
        code = self._calls[call](*arguments)
        if code != SUCCESS:
            raise self._error(call, code)

    def _error(self, call: str, code: int) -> LaunchError:
        kind = LaunchTimeout if code in TIMEOUT_CODES else LaunchError
        return kind(f"{call} failed with ACL error {code}: {self.recent_message()}")

    def _resolve(self, name: str, types: tuple[Any, ...], result: Any = ctypes.c_int) -> Any:
        try:
            function = getattr(self._library, name)
        except AttributeError as error:
            raise ToolchainError(
                f"failed to load {name} from {self._name}: {error}; install a CANN toolkit of the "
                "950 series"
            ) from error
        function.argtypes = types
        function.restype = result
        return function


@cache
def load_acl(directories: Sequence[Path]) -> Acl:
    """Opens `libascendcl.so`: this process's, the loader path's, or one of the given folders.

    Args:
        directories: a tuple of folders, tried in order.

    Raises:
        ToolchainError: the library or one of its functions cannot be loaded.
    """
    failures = []
    # NOTE: the bare name finds a library that torch_npu has loaded; a path could load a second copy
    # of it.
    for candidate in (LIBRARY_NAME, *(str(folder / LIBRARY_NAME) for folder in directories)):
        try:
            return Acl(ctypes.CDLL(candidate), candidate)
        except OSError as error:
            failures.append(str(error))
    raise ToolchainError(
        f"failed to load {LIBRARY_NAME}: {'; '.join(failures)}; "
        "run `source <toolkit>/set_env.sh` or set ASCEND_HOME_PATH to a toolkit that holds the "
        "runtime"
    )


def _encoded(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
