"""Public FP8 and FP4 calls down to the payload, on a runtime that interprets it (3.9)."""

from __future__ import annotations

import inspect
import itertools

import pytest
import torch

import deep_gemm
from deep_gemm._shared.emulator import gm_ranges
from deep_gemm.apis import plans
from deep_gemm.testing import (
    GemmCase,
    MxCase,
    MxInputs,
    assert_close_to_reference,
    assert_equal,
    bf16_reference,
    error_bound,
    make_mx_inputs,
)
from deep_gemm.testing.par_compile import dry_run

FUNCTIONS = {
    "nt": deep_gemm.fp8_fp4_gemm_nt,
    "nn": deep_gemm.fp8_fp4_gemm_nn,
    "tn": deep_gemm.fp8_fp4_gemm_tn,
    "tt": deep_gemm.fp8_fp4_gemm_tt,
}


def call_and_compare(case: MxCase) -> MxInputs:
    data = make_mx_inputs(case)
    base = case.base
    options = {} if base.compiled_dims is None else {"compiled_dims": base.compiled_dims}
    FUNCTIONS[base.suffix](data.a, data.b, data.d, data.c, alpha=base.alpha, **options)
    alpha = 1.0 if base.alpha is None else base.alpha
    reference = bf16_reference(data.a_value, data.b_value, data.c_value, alpha)
    bound = error_bound(data.a_value, data.b_value, base.dtype, data.c_value, alpha)
    assert_close_to_reference(data.d, reference, bound, str(case))
    return data


CASES = [
    MxCase(
        GemmCase(m, n, k, suffix, fp32=fp32, c=c, alpha=alpha, pad=pad, offset=offset),
        fp4, sf_pad=index % 3,
    )
    for index, (fp4, suffix, fp32, c, alpha) in enumerate(
        itertools.product(
            (False, True), ("nt", "nn", "tn", "tt"), (False, True),
            ("none", "in_place", "other"), (None, -0.5),
        )
    )
    for m, n, k in [((1, 1, 2), (7, 5, 34), (33, 64, 130), (5, 1, 98), (1, 6, 64))[index % 5]]
    for pad, offset in [((0, 0), (3, 0), (8, 5))[index % 3]]
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_combination_of_options(fake_runtime: object, case: MxCase) -> None:
    call_and_compare(case)


def test_fp8_names_are_the_same_objects() -> None:
    for suffix, function in FUNCTIONS.items():
        assert getattr(deep_gemm, f"fp8_gemm_{suffix}") is function


@pytest.mark.parametrize(("suffix", "dims"), [("nt", "nk"), ("nn", "nk"), ("tn", "mn"),
                                              ("tt", "mn")])  # fmt: skip
def test_signature_is_the_published_one(suffix: str, dims: str) -> None:
    parameters = inspect.signature(FUNCTIONS[suffix]).parameters
    assert list(parameters) == [
        "a", "b", "d", "c", "recipe", "recipe_a", "recipe_b", "compiled_dims",
        "disable_ue8m0_cast", "alpha", "epilogue",
    ]  # fmt: skip
    assert parameters["compiled_dims"].default == dims
    assert parameters["disable_ue8m0_cast"].default is False


def test_template_constants_in_order(fake_runtime) -> None:
    call_and_compare(MxCase(GemmCase(128, 4096, 7168)))
    (kernel,) = fake_runtime.kernels.values()
    assert kernel.source.startswith("#include <deep_gemm/impls/fp8_gemm.hpp>\n")
    assert "&deep_gemm::fp8_gemm_impl_direct_store<" in kernel.source
    assert kernel.constants() == [
        "mad::Major::K", "mad::Major::K",
        "0", "4096", "7168",
        "128", "128", "512",
        "128", "128", "256",
        "3", "2",
        "14", "2",
        "1",
        "32",
        "asc_load_l2_cache_mode::NORMAL_FIRST_VICTIM", "asc_load_l2_cache_mode::NOTALLOC_KEEP",
        "asc_store_l2_cache_mode::NOTALLOC_CLEAN",
        "false", "deep_gemm::GemmType::Normal",
        "fp8_e4m3fn_t", "bfloat16_t", "deep_gemm::epilogue::Identity",
        "256",
        "true", "true",
    ]  # fmt: skip


def test_unit_names(fake_runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []
    compile_ = fake_runtime.compile
    monkeypatch.setattr(
        fake_runtime, "compile", lambda name, *rest: names.append(name) or compile_(name, *rest)
    )
    for fp4 in (False, True):
        call_and_compare(MxCase(GemmCase(4, 4, 64), fp4))
    assert names == ["fp8_gemm", "fp4_gemm"]


def test_a_repeated_call_builds_nothing(fake_runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    case = MxCase(GemmCase(9, 8, 70))
    call_and_compare(case)

    def refuse(*args: object) -> None:
        raise AssertionError("the hot path must not come here")

    monkeypatch.setattr(plans, "_build", refuse)
    call_and_compare(case)
    assert len(fake_runtime.kernels) == 1


def test_plans_do_not_mix_scale_strides(fake_runtime) -> None:
    for sf_pad in (0, 3, 0, 3):
        call_and_compare(MxCase(GemmCase(9, 8, 130), sf_pad=sf_pad))
    (kernel,) = fake_runtime.kernels.values()
    assert len(kernel.launches) == 4


def test_broadcast_scales(fake_runtime) -> None:
    data = make_mx_inputs(MxCase(GemmCase(9, 8, 256, fp32=True)))
    sf = data.a[1][:, :1]
    dense = make_mx_inputs(MxCase(GemmCase(9, 8, 256, fp32=True)))
    dense.a[1].copy_(sf.expand(9, 4))
    deep_gemm.fp8_gemm_nt(dense.a, dense.b, dense.d)
    deep_gemm.fp8_gemm_nt((data.a[0], sf.expand(9, 4)), data.b, data.d)
    assert_equal(data.d, dense.d)


@pytest.mark.parametrize("recipes", [
    {"recipe": (1, 1, 32)}, {"recipe": [1, 1, 32]}, {"recipe_a": (1, 32)},
    {"recipe_a": (1, 32), "recipe_b": (1, 32)}, {"disable_ue8m0_cast": True},
])  # fmt: skip
def test_recipes_that_change_nothing(fake_runtime, recipes) -> None:
    data = make_mx_inputs(MxCase(GemmCase(9, 8, 70)))
    wanted = make_mx_inputs(MxCase(GemmCase(9, 8, 70)))
    deep_gemm.fp8_gemm_nt(wanted.a, wanted.b, wanted.d)
    deep_gemm.fp8_gemm_nt(data.a, data.b, data.d, **recipes)
    assert_equal(data.d, wanted.d)


@pytest.mark.parametrize("fp4", [False, True])
@pytest.mark.parametrize("suffix", FUNCTIONS)
@pytest.mark.parametrize("shape", [(0, 5, 64), (5, 0, 64), (0, 0, 0)])
def test_empty_output_launches_nothing(fake_runtime, fp4: bool, suffix: str, shape) -> None:
    data = make_mx_inputs(MxCase(GemmCase(*shape), fp4))
    a = data.a if suffix[0] == "n" else tuple(tensor.t() for tensor in data.a)
    b = data.b if suffix[1] == "t" else tuple(tensor.t() for tensor in data.b)
    FUNCTIONS[suffix](a, b, data.d)
    assert not fake_runtime.kernels


@pytest.mark.parametrize("fp4", [False, True])
@pytest.mark.parametrize("c", ["none", "in_place", "other"])
@pytest.mark.parametrize("pad", [0, 3])
def test_zero_k_gives_c_or_zero(fake_runtime, fp4: bool, c: str, pad: int) -> None:
    data = make_mx_inputs(MxCase(GemmCase(5, 6, 0, c=c, pad=pad), fp4))
    deep_gemm.fp8_gemm_nt(data.a, data.b, data.d, data.c)
    wanted = torch.zeros(5, 6, dtype=torch.bfloat16) if data.c_value is None else data.c_value
    assert_equal(data.d.clone(), wanted.clone())
    assert not fake_runtime.kernels


@pytest.mark.parametrize("fp4", [False, True])
def test_dry_run_takes_meta_tensors_and_writes_nothing(fake_runtime, fp4: bool) -> None:
    data = make_mx_inputs(MxCase(GemmCase(5, 6, 70), fp4))
    before = data.d.clone()
    a, b = (tuple(tensor.to("meta") for tensor in pair) for pair in (data.a, data.b))
    with dry_run():
        deep_gemm.fp8_gemm_nt(data.a, data.b, data.d)
        deep_gemm.fp8_gemm_nt(a, b, data.d.to("meta"))
    assert_equal(data.d, before)
    assert len(fake_runtime.built_without_load) == 2
    assert not fake_runtime.kernels


def test_checkers_see_every_operand(fake_runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[gm_ranges.GmRange] = []
    monkeypatch.setattr(
        deep_gemm._jit, "bind", lambda *args: lambda payload, ranges: seen.extend(ranges)
    )
    data = make_mx_inputs(MxCase(GemmCase(5, 6, 70), fp4=True, sf_pad=2))
    with deep_gemm.emulator(checks="memcheck"):
        deep_gemm.fp8_gemm_nt(data.a, data.b, data.d)
    tensors = (data.a[0], data.b[0], data.a[1], data.b[1], data.d)
    assert [item[0] for item in seen] == [tensor.data_ptr() for tensor in tensors]
    assert [item[1] for item in seen] == [5 * 35, 6 * 35, 2 * (7 + 5), 2 * (8 + 6), 60]
    assert [item[2] for item in seen] == [True, True, True, True, False]
    assert [item[3] for item in seen] == ["a", "b", "sfa", "sfb", "d"]
