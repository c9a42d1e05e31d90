"""What the worker processes of the GEMM subjects share: where sources are, and the verdict."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Verdict = tuple[str, str]


def include_root() -> Path:
    """The include folder of the installed package."""
    import deep_gemm

    return Path(deep_gemm.__file__).resolve().parent / "include"


def fix_config(config: dict[str, Any]) -> None:
    """Fixes fields of the configuration that the heuristics would choose."""
    from dataclasses import replace

    from deep_gemm.apis import plans
    from deep_gemm.heuristics import choose_config

    plans.clear_plans()
    vars(plans)["choose_config"] = lambda desc: replace(choose_config(desc), **config)


def judge(call: Callable[[], object], worst: Callable[[], float], most: float) -> Verdict | None:
    """Runs a call under all checkers and says who noticed something first.

    Args:
        call: the GEMM.
        worst: the largest difference from the right result, asked after the call.
        most: what is allowed.
    """
    from deep_gemm._shared.emulator import emulator, record
    from deep_gemm.errors import Error

    with emulator(checks="all", threads=1), record() as reports:
        try:
            call()
        except Error as error:
            if not reports:
                return type(error).__name__, str(error)[:300]
    if reports:
        return reports[0].checker, str(reports[0])
    # NOTE: asked this way, a NaN is a difference
    return None if worst() <= most else ("numeric", f"largest difference {worst():.3g}")


def run_cases(include: str, cases: Sequence[Any], run: Callable[[Any], Verdict | None]) -> None:
    """Runs cases on one core until one notices something, and prints the verdict as JSON."""
    import resource

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    _use(Path(include).resolve())
    import deep_gemm

    deep_gemm.set_num_sms(1)
    for index, case in enumerate(cases):
        found = run(case)
        if found is not None:
            print(json.dumps({"by": found[0], "detail": found[1], "case": index}))
            return
    print(json.dumps({"by": "", "detail": "", "case": len(cases)}))


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
