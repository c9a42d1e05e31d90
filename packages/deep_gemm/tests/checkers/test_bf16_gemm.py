"""The BF16 GEMM is silent under all four checkers, with tails, in both forms and both schedules."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import deep_gemm
from deep_gemm._shared.emulator import SanitizerError, emulator, record

SHAPES = [(64, 64, 64), (1, 1, 1), (17, 30, 50), (130, 257, 77), (300, 500, 200)]
SCHEDULES: list[dict[str, Any]] = [{"schedule": "immediate"}, {"schedule": "deferred", "seed": 3}]


def _operands(shape: tuple[int, int, int], dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    m, n, k = shape
    generator = torch.Generator().manual_seed(0)
    a = torch.randn(m, k, generator=generator).bfloat16()
    b = torch.randn(n, k, generator=generator).bfloat16()
    return a, b, torch.zeros(m, n, dtype=dtype)


@pytest.mark.parametrize("options", SCHEDULES, ids=["immediate", "deferred"])
@pytest.mark.parametrize("accumulate", [False, True], ids=["", "accumulate"])
@pytest.mark.parametrize("alpha", [None, 1.5], ids=["identity", "alpha"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=["bf16", "fp32"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "x".join(map(str, s)))
def test_silent(
    shape: tuple[int, int, int],
    dtype: torch.dtype,
    alpha: float | None,
    accumulate: bool,
    options: dict[str, Any],
) -> None:
    a, b, d = _operands(shape, dtype)
    with emulator(checks="all", **options), record() as reports:
        deep_gemm.bf16_gemm_nt(a, b, d, d if accumulate else None, compiled_dims="", alpha=alpha)
    assert [str(report) for report in reports] == []


@pytest.mark.parametrize("suffix", ["nn", "tn", "tt"])
def test_silent_for_every_memory_order(suffix: str) -> None:
    a, b, d = _operands((130, 257, 77), torch.float32)
    a = a.T.contiguous() if suffix[0] == "t" else a
    b = b.T.contiguous() if suffix[1] == "n" else b
    with emulator(checks="all"), record() as reports:
        getattr(deep_gemm, f"bf16_gemm_{suffix}")(a, b, d, compiled_dims="")
    assert [str(report) for report in reports] == []


def test_bounds_are_those_of_the_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch that is told of a smaller D is stopped before it writes behind it."""
    from deep_gemm.apis import plans

    a, b, d = _operands((64, 64, 64), torch.float32)
    exact = plans._ranges

    def one_element_less(plan: plans.Plan, call: plans.Call) -> tuple[Any, ...]:
        *inputs, out = exact(plan, call)
        address, size, *rest = out
        return (*inputs, (address, size - 4, *rest))

    monkeypatch.setattr(plans, "_ranges", one_element_less)
    with emulator(checks="memcheck"), pytest.raises(SanitizerError, match="behind the end of 'd'"):
        deep_gemm.bf16_gemm_nt(a, b, d)
