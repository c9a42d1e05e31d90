"""Environment handling at import (deep_gemm.md section 0): build-time defaults, toolkit path."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

__all__ = ["apply_persistent_envs", "ascend_home"]

TOOLKIT_VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
DEFAULT_TOOLKIT = "/usr/local/Ascend/ascend-toolkit/latest"


def persistent_envs() -> Mapping[str, str]:
    """`deep_gemm.envs.persistent_envs` when a build wrote that module, else nothing."""
    try:
        module = importlib.import_module("deep_gemm.envs")
    except ModuleNotFoundError as error:
        if error.name != "deep_gemm.envs":
            raise
        return {}
    return dict(getattr(module, "persistent_envs", {}))


def apply_persistent_envs(environ: MutableMapping[str, str] | None = None) -> None:
    """Sets the variables a build recorded, unless they are set already."""
    target = os.environ if environ is None else environ
    for name, value in persistent_envs().items():
        target.setdefault(name, value)


def ascend_home(environ: Mapping[str, str] | None = None) -> str:
    """Toolkit directory: the first variable that is set, else the default; existence unchecked."""
    source = os.environ if environ is None else environ
    for name in TOOLKIT_VARIABLES:
        if source.get(name):
            return source[name]
    return DEFAULT_TOOLKIT
