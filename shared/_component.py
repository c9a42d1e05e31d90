"""Where this copy of the shared code lives: component, `_native`, headers (architecture.md 3)."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from types import ModuleType

__all__ = ["component_name", "include_dirs", "native", "shared_root"]


@cache
def component_name() -> str:
    """Returns the import name of the component that holds this copy, for example `deep_jit`."""
    component, separator, _ = __name__.rpartition("._shared.")
    if not separator:
        raise ImportError(
            f"the shared code was imported as {__name__!r}; "
            "allowed: <component>._shared._component; "
            "import it through a component, for example `import deep_jit._shared`"
        )
    return component


@cache
def native() -> ModuleType:
    """Returns the compiled module `<component>._native`; the first call loads it."""
    name = f"{component_name()}._native"
    try:
        return importlib.import_module(name)
    except ImportError as error:
        distribution = component_name().replace("_", "-")
        raise ImportError(
            f"cannot load {name} ({error}); it is compiled when the component is installed: "
            f"run `pip install --force-reinstall {distribution}`, "
            f"in a checkout `pip install -e packages/{component_name()}`"
        ) from error


@cache
def shared_root() -> Path:
    """Returns the real folder of this code: `shared/` in a checkout, `_shared/` in a wheel."""
    return Path(__file__).resolve().parent


def include_dirs() -> list[Path]:
    """Returns the include folders for target cpu: that of `mad` and that of the emulated API."""
    include = shared_root() / "include"
    return [include, include / "ascend_emu"]
