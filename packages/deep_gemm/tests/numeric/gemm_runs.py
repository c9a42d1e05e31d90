"""Running GEMM cases on the emulator and looking at every byte of D's storage."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import torch

import deep_gemm
from deep_gemm import _settings
from deep_gemm.testing import GemmCase, GemmInputs, assert_equal, make_inputs
from deep_gemm.testing.par_compile import par_compile

if TYPE_CHECKING:
    from collections.abc import Iterable

FUNCTIONS = {
    "nt": deep_gemm.bf16_gemm_nt,
    "nn": deep_gemm.bf16_gemm_nn,
    "tn": deep_gemm.bf16_gemm_tn,
    "tt": deep_gemm.bf16_gemm_tt,
}


def call(case: GemmCase, data: GemmInputs) -> None:
    """The public call of a case."""
    options: dict[str, Any] = {}
    if case.compiled_dims is not None:
        options["compiled_dims"] = case.compiled_dims
    if case.alpha is not None:
        options["alpha"] = case.alpha
    FUNCTIONS[case.suffix](data.a, data.b, data.d, data.c, **options)


def whole_storage(tensor: torch.Tensor) -> torch.Tensor:
    """Everything around a slice, as one flat tensor that shares its memory."""
    flat = torch.empty(0, dtype=tensor.dtype)
    return flat.set_(tensor.untyped_storage())


def run_case(case: GemmCase, seed: int, /, **options: object) -> tuple[GemmInputs, torch.Tensor]:
    """Fresh inputs, one call, checks that only D changed; returns the inputs and D."""
    data = make_inputs(case, seed=seed)
    around = whole_storage(data.d).clone()
    inputs = [whole_storage(data.a).clone(), whole_storage(data.b).clone()]
    with deep_gemm.emulator(**options):
        call(case, data)
    result = data.d.clone()
    around.as_strided(data.d.shape, data.d.stride(), data.d.storage_offset()).copy_(result)
    assert_equal(whole_storage(data.d), around, f"{case}: memory around D")
    assert_equal(whole_storage(data.a), inputs[0], f"{case}: A")
    assert_equal(whole_storage(data.b), inputs[1], f"{case}: B")
    if case.c == "other":
        assert data.c is not None
        assert data.c_value is not None
        assert_equal(data.c.clone(), data.c_value, f"{case}: C")
    return data, result


def compile_cases(cases: Iterable[tuple[GemmCase, int]]) -> None:
    """Brings the kernels of (case, num_sms) pairs into the cache, several at a time."""
    groups: dict[int, list[GemmCase]] = defaultdict(list)
    for case, num_sms in cases:
        groups[num_sms].append(case)
    for num_sms, group in groups.items():
        before = _settings.update(num_sms=num_sms)
        try:
            calls = [lambda case=case: call(case, make_inputs(case)) for case in group]
            par_compile(calls, progress=False)
        finally:
            _settings.update(num_sms=before.num_sms)
