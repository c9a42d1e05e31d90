"""What the GEMM subjects share: where sources are, and the verdict."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .verdicts import CHECKER_OPTIONS

Verdict = tuple[str, str]


def package() -> Path:
    """The folder of the installed package."""
    import deep_gemm

    return Path(deep_gemm.__file__).resolve().parent


def copy_includes(folder: Path) -> None:
    """Copies the package's device sources."""
    shutil.copytree(package() / "include", folder, dirs_exist_ok=True)


def warm() -> None:
    """Imports what judging needs."""
    import torch  # noqa: F401

    from deep_gemm import _jit  # noqa: F401
    from deep_gemm._shared.emulator import emulator  # noqa: F401
    from deep_gemm.testing import generators  # noqa: F401


def sources(file: str) -> list[Path]:
    """What decides a verdict besides the device sources: the package, and this module."""
    return [package(), Path(__file__)]


def read(file: str) -> str:
    """Kernels include each other's headers."""
    return "*"


def fix_config(config: dict[str, Any]) -> None:
    """Fixes fields of the configuration that the heuristics would choose."""
    from dataclasses import replace

    from deep_gemm.apis import plans
    from deep_gemm.heuristics import choose_config

    plans.clear_plans()
    vars(plans)["choose_config"] = lambda desc: replace(choose_config(desc), **config)


def judge_call(
    call: Callable[[], object], worst: Callable[[], float], most: float
) -> Verdict | None:
    """Runs a call under all checkers and says who noticed something first.

    Args:
        call: the GEMM.
        worst: the largest difference from the right result, asked after the call.
        most: what is allowed.
    """
    from deep_gemm._shared.emulator import emulator, record
    from deep_gemm.errors import Error

    with emulator(**CHECKER_OPTIONS), record() as reports:
        try:
            call()
        except Error as error:
            if not reports:
                return type(error).__name__, str(error)[:300]
    if reports:
        return reports[0].checker, str(reports[0])
    # NOTE: asked this way, a NaN is a difference
    return None if worst() <= most else ("numeric", f"largest difference {worst():.3g}")


def run_cases(
    folder: Path, cases: Sequence[Any], run: Callable[[Any], Verdict | None]
) -> Verdict | None:
    """Runs cases on one core with the device sources of a folder, until one notices something."""
    _use(folder)
    import deep_gemm

    deep_gemm.set_num_sms(1)
    return next((found for case in cases if (found := run(case)) is not None), None)


def _use(include: Path) -> None:
    """Lets the package's runtime read its device sources from another folder."""
    from deep_gemm import _jit
    from deep_gemm._shared._component import shared_root
    from deep_gemm._shared.jit.config import Config
    from deep_gemm._shared.jit.runtime import Runtime

    def create(backend: str, index: int) -> Runtime:
        config = Config(
            include.parent,
            _jit.ENV_PREFIX,
            include_dirs=(include, shared_root() / "include"),
            include_prefixes=_jit.INCLUDE_PREFIXES,
        )
        return Runtime(config, backend=backend, device=index)

    _jit._create = create
