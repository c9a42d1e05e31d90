"""Runs the BF16 GEMM of one include folder under all checkers; a worker process of `mutate.py`.

Prints one JSON object: who noticed something first, and what. Cases go from the most telling one to
the rest, and the first that notices ends the run.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

FILES = (
    "deep_gemm/impls/bf16_gemm.hpp",
    "deep_gemm/common/cube_pipeline.hpp",
    "deep_gemm/epilogue/tile_ring.hpp",
    "deep_gemm/epilogue/operators.hpp",
    "deep_gemm/scheduler/tile_scheduler.hpp",
)


class Case(NamedTuple):
    """One launch on one core: tails, several tiles, more K blocks than stages."""

    shape: tuple[int, int, int]
    config: dict[str, Any]
    suffix: str = "nt"
    fp32: bool = False
    accumulate: bool = False
    alpha: float | None = None
    compiled_dims: str = ""


_SPLIT_N = {"block_m": 128, "block_n": 256, "block_k": 128, "mad_m": 128, "mad_n": 128, "mad_k": 64}
_SPLIT_M = {**_SPLIT_N, "block_m": 256, "block_n": 128}
_ONE = {**_SPLIT_N, "block_n": 128}
_DIRECT = {"direct_store": True}

# Both halves of a block, and blocks with one half only; each way out of L0C; resident operands.
CASES = (
    Case((300, 300, 1100), _SPLIT_N, alpha=1.5),
    Case((300, 300, 700), _SPLIT_M),
    Case((300, 300, 700), {**_SPLIT_M, **_DIRECT}, fp32=True),
    Case((300, 300, 330), {**_SPLIT_N, **_DIRECT}, suffix="tn", fp32=True, accumulate=True),
    Case((300, 300, 330), _ONE, suffix="nn", accumulate=True),
    Case((100, 300, 330), {**_ONE, "resident_a": True, "num_l1_stages": 2}, compiled_dims="k"),
    Case(
        (100, 300, 330),
        {**_ONE, "resident_a": True, "num_l1_stages": 2},
        suffix="tn",
        compiled_dims="k",
    ),
    Case((300, 100, 128), {**_ONE, "resident_b": True}, compiled_dims="k"),
)


def include_root() -> Path:
    """The include folder of the installed package."""
    import deep_gemm

    return Path(deep_gemm.__file__).resolve().parent / "include"


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


def _choose(config: dict[str, Any]) -> None:
    """Fixes fields of the configuration that the heuristics would choose."""
    from dataclasses import replace

    from deep_gemm.apis import plans
    from deep_gemm.heuristics import choose_config

    plans.clear_plans()
    vars(plans)["choose_config"] = lambda desc: replace(choose_config(desc), **config)


def _run_case(case: Case) -> tuple[str, str] | None:
    import torch

    import deep_gemm
    from deep_gemm._shared.emulator import emulator, record
    from deep_gemm.errors import Error

    m, n, k = case.shape
    generator = torch.Generator().manual_seed(1)
    a = torch.randn(m, k, generator=generator).bfloat16()
    b = torch.randn(n, k, generator=generator).bfloat16()
    d = torch.ones(m, n, dtype=torch.float32 if case.fp32 else torch.bfloat16)
    want = (case.alpha or 1.0) * (a.double() @ b.double().T)
    want += d.double() if case.accumulate else 0.0
    a = a.T.contiguous() if case.suffix[0] == "t" else a
    b = b.T.contiguous() if case.suffix[1] == "n" else b
    _choose(case.config)
    with emulator(checks="all", threads=1), record() as reports:
        try:
            function = getattr(deep_gemm, f"bf16_gemm_{case.suffix}")
            c = d if case.accumulate else None
            function(a, b, d, c, compiled_dims=case.compiled_dims, alpha=case.alpha)
        except Error as error:
            if not reports:
                return type(error).__name__, str(error)[:300]
    if reports:
        return reports[0].checker, str(reports[0])
    tolerance = 1e-3 * k**0.5 if case.fp32 else 2e-2 * k**0.5
    worst = float((d.double() - want).abs().max())
    return None if worst <= tolerance else ("numeric", f"largest difference {worst:.3g}")


def main(include: str) -> None:
    """Runs the cases until one notices something."""
    import resource

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    _use(Path(include).resolve())
    import deep_gemm

    deep_gemm.set_num_sms(1)
    for index, case in enumerate(CASES):
        found = _run_case(case)
        if found is not None:
            print(json.dumps({"by": found[0], "detail": found[1], "case": index}))
            return
    print(json.dumps({"by": "", "detail": "", "case": len(CASES)}))


if __name__ == "__main__":
    main(sys.argv[1])
