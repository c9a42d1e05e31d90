"""Runs the BF16 GEMM of one include folder under all checkers; a worker process of `mutate.py`.

Prints one JSON object: who noticed something first, and what. Cases go from the most telling one to
the rest, and the first that notices ends the run.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

FILES = (
    "deep_gemm/impls/bf16_gemm.hpp",
    "deep_gemm/common/cube_pipeline.hpp",
    "deep_gemm/epilogue/tile_ring.hpp",
    "deep_gemm/epilogue/operators.hpp",
    "deep_gemm/scheduler/tile_scheduler.hpp",
)

# (m, n, k), suffix, fp32 result, accumulate, alpha: several tiles for the one core, tails, more K
# blocks than stages; the vector-core form with and without a transformation, and the direct store.
CASES: tuple[tuple[tuple[int, int, int], str, bool, bool, float | None], ...] = (
    ((300, 500, 1100), "nt", False, False, 1.5),
    ((300, 500, 1100), "nt", True, False, None),
    ((300, 500, 1100), "tn", False, False, None),
    ((300, 520, 200), "nt", True, True, None),
    ((600, 130, 330), "nt", False, True, None),
    ((130, 1100, 77), "nt", True, False, None),
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


def _run_case(case: tuple[Any, ...]) -> tuple[str, str] | None:
    import torch

    import deep_gemm
    from deep_gemm._shared.emulator import emulator, record
    from deep_gemm.errors import Error

    (m, n, k), suffix, fp32, accumulate, alpha = case
    generator = torch.Generator().manual_seed(1)
    a = torch.randn(m, k, generator=generator).bfloat16()
    b = torch.randn(n, k, generator=generator).bfloat16()
    d = torch.ones(m, n, dtype=torch.float32 if fp32 else torch.bfloat16)
    want = (alpha or 1.0) * (a.double() @ b.double().T) + (d.double() if accumulate else 0.0)
    a = a.T.contiguous() if suffix[0] == "t" else a
    b = b.T.contiguous() if suffix[1] == "n" else b
    with emulator(checks="all", threads=1), record() as reports:
        try:
            function = getattr(deep_gemm, f"bf16_gemm_{suffix}")
            function(a, b, d, d if accumulate else None, compiled_dims="", alpha=alpha)
        except Error as error:
            if not reports:
                return type(error).__name__, str(error)[:300]
    if reports:
        return reports[0].checker, str(reports[0])
    tolerance = 1e-3 * k**0.5 if fp32 else 2e-2 * k**0.5
    worst = float((d.double() - want).abs().max())
    return None if worst <= tolerance else ("numeric", f"largest difference {worst:.3g}")


def main(include: str) -> None:
    """Runs the cases until one notices something."""
    import resource

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    _use(Path(include))
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
