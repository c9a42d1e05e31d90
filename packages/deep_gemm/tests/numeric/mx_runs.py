"""Running FP8 and FP4 cases on the emulator and looking at every byte around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from gemm_runs import whole_storage

import deep_gemm
from deep_gemm import _settings
from deep_gemm._checks import Scales
from deep_gemm.apis import plans
from deep_gemm.heuristics import EpilogueType, choose_config
from deep_gemm.kernels import fp8_gemm
from deep_gemm.testing import (
    MxCase,
    MxInputs,
    assert_close_to_reference,
    assert_equal,
    bf16_reference,
    calc_diff,
    error_bound,
    make_mx_inputs,
)
from deep_gemm.testing.par_compile import par_compile

if TYPE_CHECKING:
    from collections.abc import Sequence

FUNCTIONS = {
    "nt": deep_gemm.fp8_fp4_gemm_nt,
    "nn": deep_gemm.fp8_fp4_gemm_nn,
    "tn": deep_gemm.fp8_fp4_gemm_tn,
    "tt": deep_gemm.fp8_fp4_gemm_tt,
}
MAX_DIFF = 1e-5


def call_mx(case: MxCase, data: MxInputs) -> None:
    """The public call of a case."""
    base = case.base
    options: dict[str, Any] = {}
    if base.compiled_dims is not None:
        options["compiled_dims"] = base.compiled_dims
    if base.alpha is not None:
        options["alpha"] = base.alpha
    FUNCTIONS[base.suffix](data.a, data.b, data.d, data.c, **options)


def run_mx_case(case: MxCase, seed: int, /, **options: object) -> tuple[MxInputs, torch.Tensor]:
    """Fresh inputs, one call, checks that only D changed; returns the inputs and D."""
    data = make_mx_inputs(case, seed=seed)
    around = whole_storage(data.d).clone()
    inputs = [whole_storage(tensor).clone() for tensor in data.inputs]
    with deep_gemm.emulator(**options):
        call_mx(case, data)
    result = data.d.clone()
    around.as_strided(data.d.shape, data.d.stride(), data.d.storage_offset()).copy_(result)
    assert_equal(whole_storage(data.d), around, f"{case}: memory around D")
    for tensor, before in zip(data.inputs, inputs, strict=True):
        assert_equal(whole_storage(tensor), before, f"{case}: an input")
    if case.base.c == "other":
        assert data.c is not None
        assert data.c_value is not None
        assert_equal(data.c.clone(), data.c_value, f"{case}: C")
    return data, result


def assert_within_bound(case: MxCase, data: MxInputs, result: torch.Tensor) -> None:
    """Against fp64 of the exactly decoded operands, element by element."""
    alpha = 1.0 if case.base.alpha is None else case.base.alpha
    reference = bf16_reference(data.a_value, data.b_value, data.c_value, alpha)
    bound = error_bound(data.a_value, data.b_value, case.base.dtype, data.c_value, alpha)
    assert_close_to_reference(result, reference, bound, str(case))
    assert calc_diff(result, reference) < MAX_DIFF


def kernel_text(case: MxCase) -> str:
    """The text the public call of a case compiles."""
    data = make_mx_inputs(case)
    scales = Scales(data.a[1], data.b[1], True)
    kind = EpilogueType.IDENTITY if case.base.alpha is None else EpilogueType.ALPHA
    call = plans.Call(case.base.suffix, data.a[0], data.b[0], data.d, data.c, "", kind, 1.0, scales)
    problem = plans.check(call, dry_run=False)
    cores = _settings.current().num_sms
    desc = plans.describe(call, problem, cores)
    return fp8_gemm.kernel_source(desc, choose_config(desc))


def compile_mx_cases(cases: Sequence[tuple[MxCase, int]]) -> None:
    """Brings the kernels of (case, num_sms) pairs into the cache, several at a time."""
    for num_sms in sorted({number for _, number in cases}):
        group = [case for case, number in cases if number == num_sms]
        before = _settings.update(num_sms=num_sms)
        try:
            calls = [lambda case=case: call_mx(case, make_mx_inputs(case)) for case in group]
            par_compile(calls, progress=False)
        finally:
            _settings.update(num_sms=before.num_sms)
