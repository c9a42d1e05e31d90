"""Public calls down to the payload, on a runtime that interprets it (deep_gemm.md 1.2, 3.9)."""

from __future__ import annotations

import itertools

import pytest
import torch

import deep_gemm
from deep_gemm import _C
from deep_gemm.apis import plans
from deep_gemm.testing import (
    GemmCase,
    assert_close_to_reference,
    assert_equal,
    bf16_reference,
    error_bound,
    make_inputs,
)
from deep_gemm.testing.par_compile import dry_run, par_compile

FUNCTIONS = {
    "nt": deep_gemm.bf16_gemm_nt,
    "nn": deep_gemm.bf16_gemm_nn,
    "tn": deep_gemm.bf16_gemm_tn,
    "tt": deep_gemm.bf16_gemm_tt,
}


def call_and_compare(case: GemmCase) -> None:
    data = make_inputs(case)
    options = {} if case.compiled_dims is None else {"compiled_dims": case.compiled_dims}
    FUNCTIONS[case.suffix](data.a, data.b, data.d, data.c, alpha=case.alpha, **options)
    alpha = 1.0 if case.alpha is None else case.alpha
    reference = bf16_reference(data.a_mk, data.b_nk, data.c_value, alpha)
    bound = error_bound(data.a_mk, data.b_nk, case.dtype, data.c_value, alpha)
    assert_close_to_reference(data.d, reference, bound, str(case))


CASES = [
    GemmCase(m, n, k, suffix, major_a, major_b, fp32=fp32, c=c, alpha=alpha, pad=pad, offset=offset)
    for index, (suffix, major_a, major_b, fp32, c, alpha) in enumerate(
        itertools.product(
            ("nt", "nn", "tn", "tt"), ("K", "MN"), ("K", "MN"), (False, True),
            ("none", "in_place", "other"), (None, -0.5),
        )
    )
    for m, n, k in [((1, 1, 1), (7, 5, 3), (33, 64, 20), (5, 1, 9), (1, 6, 4))[index % 5]]
    for pad, offset in [((0, 0), (3, 0), (8, 5))[index % 3]]
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_combination_of_options(fake_runtime: object, case: GemmCase) -> None:
    call_and_compare(case)


def test_template_constants_in_order(fake_runtime) -> None:
    a = torch.randn(128, 2048).bfloat16()
    b = torch.randn(7168, 2048).bfloat16()
    d = torch.empty(128, 7168, dtype=torch.bfloat16)
    deep_gemm.bf16_gemm_nt(a, b, d)
    (kernel,) = fake_runtime.kernels.values()
    assert kernel.source.startswith("#include <deep_gemm/impls/bf16_gemm.hpp>\n")
    assert "&deep_gemm::bf16_gemm_impl_direct_store<" in kernel.source
    assert kernel.constants() == [
        "mad::Major::K", "mad::Major::K",
        "0", "7168", "2048",
        "128", "224", "128",
        "128", "224", "64",
        "5", "2", "1",
        "32",
        "asc_load_l2_cache_mode::NORMAL_FIRST_VICTIM", "asc_load_l2_cache_mode::NOTALLOC_KEEP",
        "asc_store_l2_cache_mode::NOTALLOC_CLEAN",
        "false", "deep_gemm::GemmType::Normal",
        "bfloat16_t", "deep_gemm::epilogue::Identity",
        "256",
        "true", "false", "false",
    ]  # fmt: skip


def test_mix_kernel_for_an_epilogue_or_a_ragged_d(fake_runtime) -> None:
    call_and_compare(GemmCase(130, 257, 96))
    (kernel,) = fake_runtime.kernels.values()
    assert "&deep_gemm::bf16_gemm_impl<" in kernel.source


@pytest.mark.parametrize(
    ("compiled_dims", "wanted"),
    [("", ["0", "0", "0"]), ("kn", ["0", "64", "32"]), ("m", ["48", "0", "0"])],
)
def test_compiled_dims_reach_the_kernel(fake_runtime, compiled_dims: str, wanted) -> None:
    call_and_compare(GemmCase(48, 64, 32, compiled_dims=compiled_dims))
    (kernel,) = fake_runtime.kernels.values()
    assert kernel.constants()[2:5] == wanted


def test_default_compiled_dims_per_suffix(fake_runtime) -> None:
    for suffix, wanted in (("nt", [0, 64, 32]), ("nn", [0, 64, 32]), ("tn", [48, 64, 0])):
        fake_runtime.kernels.clear()
        plans.clear_plans()
        call_and_compare(GemmCase(48, 64, 32, suffix))
        (kernel,) = fake_runtime.kernels.values()
        assert [int(text) for text in kernel.constants()[2:5]] == wanted


def test_a_repeated_call_builds_nothing(fake_runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    call_and_compare(GemmCase(9, 8, 7))

    def refuse(*args: object) -> None:
        raise AssertionError("the hot path must not come here")

    monkeypatch.setattr(plans, "_build", refuse)
    call_and_compare(GemmCase(9, 8, 7))
    assert len(fake_runtime.kernels) == 1


@pytest.mark.parametrize(
    "options", [{"checks": "all"}, {"checks": "memcheck"}, {"timing": "fast"}, {"isa": "generic"}]
)
def test_plans_do_not_mix_builds_of_the_emulator(fake_runtime, options: dict[str, str]) -> None:
    """A plan keeps its kernel, and checkers, timing and the ISA each want a build of their own."""
    case = GemmCase(9, 8, 7)
    neutral = {"checks": "none", "timing": "off", "isa": "auto"}
    for layer in (neutral, {**neutral, **options}, neutral, {**neutral, **options}):
        with deep_gemm.emulator(**layer):
            call_and_compare(case)
    assert len(fake_runtime.options) == 2


def test_plans_do_not_mix_alignment_or_c(fake_runtime) -> None:
    base = torch.zeros(16 * 16 + 8, dtype=torch.float32)
    a, b = torch.eye(16).bfloat16(), torch.eye(16).bfloat16()
    for offset in (0, 1):
        d = base.as_strided((16, 16), (16, 1), offset)
        deep_gemm.bf16_gemm_nt(a, b, d)
        deep_gemm.bf16_gemm_nt(a, b, d, c=d)
        assert_equal(d, 2 * torch.eye(16))
    assert len(fake_runtime.kernels) == 4


def test_c_with_the_address_of_d_is_d(fake_runtime) -> None:
    d = torch.ones(4, 4)
    a = b = torch.eye(4).bfloat16()
    deep_gemm.bf16_gemm_nt(a, b, d, c=d.view(4, 4))
    assert_equal(d, torch.ones(4, 4) + torch.eye(4))


def test_c_elsewhere_is_never_written(fake_runtime) -> None:
    d, c = torch.full((4, 4), 7.0), torch.ones(4, 4)
    a = b = torch.eye(4).bfloat16()
    deep_gemm.bf16_gemm_nt(a, b, d, c=c)
    assert_equal(d, torch.ones(4, 4) + torch.eye(4))
    assert_equal(c, torch.ones(4, 4))


def test_c_may_be_broadcast(fake_runtime) -> None:
    d, c = torch.empty(3, 4), torch.tensor([1.0, 2.0, 3.0, 4.0]).expand(3, 4)
    a, b = torch.zeros(3, 2).bfloat16(), torch.zeros(4, 2).bfloat16()
    deep_gemm.bf16_gemm_nt(a, b, d, c=c)
    assert_equal(d, c.contiguous())


@pytest.mark.parametrize("shape", [(0, 5, 7), (5, 0, 7), (0, 0, 0), (0, 5, 0)])
@pytest.mark.parametrize("suffix", FUNCTIONS)
def test_empty_output_launches_nothing(fake_runtime, suffix: str, shape) -> None:
    data = make_inputs(GemmCase(*shape, suffix))
    FUNCTIONS[suffix](data.a, data.b, data.d)
    assert not fake_runtime.kernels


@pytest.mark.parametrize("suffix", FUNCTIONS)
@pytest.mark.parametrize("c", ["none", "in_place", "other"])
@pytest.mark.parametrize("pad", [0, 3])
def test_zero_k_gives_c_or_zero(fake_runtime, suffix: str, c: str, pad: int) -> None:
    data = make_inputs(GemmCase(5, 6, 0, suffix, c=c, pad=pad))
    FUNCTIONS[suffix](data.a, data.b, data.d, data.c)
    wanted = torch.zeros(5, 6, dtype=torch.bfloat16) if data.c_value is None else data.c_value
    assert_equal(data.d.clone(), wanted.clone())
    assert not fake_runtime.kernels


def test_strided_output_leaves_the_gaps(fake_runtime) -> None:
    storage = torch.full((6, 10), 9.0)
    d = storage[1:5, 2:7]
    a, b = torch.ones(4, 3).bfloat16(), torch.ones(5, 3).bfloat16()
    deep_gemm.bf16_gemm_nt(a, b, d)
    wanted = torch.full((6, 10), 9.0)
    wanted[1:5, 2:7] = 3.0
    assert_equal(storage, wanted)


def test_broadcast_operands(fake_runtime) -> None:
    row = torch.arange(6.0).bfloat16()
    a, b = row.expand(4, 6), torch.eye(6).bfloat16()
    d = torch.empty(4, 6)
    deep_gemm.bf16_gemm_nt(a, b, d)
    assert_equal(d, row.float().expand(4, 6).contiguous())


def test_grad_mode_is_left_alone(fake_runtime) -> None:
    a = torch.ones(2, 2, dtype=torch.bfloat16, requires_grad=True)
    c = torch.ones(2, 2, requires_grad=True)
    d = torch.empty(2, 2)
    deep_gemm.bf16_gemm_nt(a, a, d, c=c)
    assert d.grad_fn is None
    assert_equal(d, torch.full((2, 2), 3.0))


def test_num_sms_selects_another_kernel(fake_runtime, fresh_settings) -> None:
    case = GemmCase(64, 64, 64)
    call_and_compare(case)
    deep_gemm.set_num_sms(8)
    assert deep_gemm.get_num_sms() == 8
    call_and_compare(case)
    assert sorted(kernel.constants()[14] for kernel in fake_runtime.kernels.values()) == ["32", "8"]


def test_npu_arch_reaches_the_compiler(fake_runtime, fresh_settings) -> None:
    assert deep_gemm.get_npu_arch() == 3510
    call_and_compare(GemmCase(4, 4, 4))
    deep_gemm.set_npu_arch(3511)
    assert deep_gemm.get_npu_arch() == 3511
    call_and_compare(GemmCase(4, 4, 4))
    assert fake_runtime.options == [None, {"arch": 3511}]


def test_dry_run_compiles_and_writes_nothing(fake_runtime) -> None:
    data = make_inputs(GemmCase(5, 6, 7, c="other"))
    before = data.d.clone()
    with dry_run():
        deep_gemm.bf16_gemm_nt(data.a, data.b, data.d, data.c)
        empty = make_inputs(GemmCase(5, 6, 0))
        kept = empty.d.clone()
        deep_gemm.bf16_gemm_nt(empty.a, empty.b, empty.d)
    assert_equal(data.d, before)
    assert_equal(empty.d, kept)
    assert len(fake_runtime.built_without_load) == 1
    assert not fake_runtime.kernels


def test_dry_run_switch(fake_runtime) -> None:
    assert _C.get_dry_run() is False
    _C.set_dry_run(True)
    try:
        assert _C.get_dry_run() is True
        d = torch.full((4, 4), 5.0)
        a = torch.eye(4).bfloat16()
        deep_gemm.bf16_gemm_nt(a, a, d)
        assert_equal(d, torch.full((4, 4), 5.0))
    finally:
        _C.set_dry_run(False)


def test_par_compile_takes_meta_tensors(fake_runtime) -> None:
    def call(m: int, c: bool) -> None:
        a = torch.empty(m, 64, dtype=torch.bfloat16, device="meta")
        d = torch.empty(m, 64, dtype=torch.float32, device="meta")
        other = torch.empty(m, 64, dtype=torch.float32, device="meta") if c else None
        deep_gemm.bf16_gemm_nt(a, torch.empty_like(a[:1]).expand(64, 64).contiguous(), d, c=other)

    functions = [lambda m=m, c=c: call(m, c) for m in (16, 64) for c in (False, True)]
    par_compile(functions, max_workers=2, progress=False)
    assert len(set(fake_runtime.built_without_load)) == 4
    assert _C.get_dry_run() is False


def test_par_compile_passes_the_first_error_on(fake_runtime) -> None:
    def bad() -> None:
        raise KeyError("first")

    with pytest.raises(KeyError, match="first"):
        par_compile([bad, bad], max_workers=1, progress=False)
    assert _C.get_dry_run() is False


def test_configurations_are_printed_once(
    fake_runtime, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DG_PRINT_CONFIGS", "1")
    monkeypatch.setattr(plans, "_printed", set())
    for _ in range(2):
        plans.clear_plans()
        call_and_compare(GemmCase(21, 22, 23))
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("GemmDesc(m=21, n=22, k=23, cd_dtype=BFloat16")
    assert "GemmConfig(block=" in lines[0]


def test_nothing_is_printed_by_default(
    fake_runtime, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DG_PRINT_CONFIGS", "DG_JIT_DEBUG", "DJ_JIT_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(plans, "_printed", set())
    call_and_compare(GemmCase(24, 22, 23))
    assert capfd.readouterr().err == ""
