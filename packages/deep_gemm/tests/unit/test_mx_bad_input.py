"""Every rejected argument of the FP8 and FP4 GEMM: class, text, untouched D (1.2, 1.3, 2.2)."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import deep_gemm
from deep_gemm import DeepGemmError, DeepGemmTypeError, DeepGemmValueError, epilogue
from deep_gemm.testing import assert_equal, pack_scales

M, N, K = 4, 5, 70
PAIRS = 2


def fp8(*shape: int) -> torch.Tensor:
    return torch.ones(*shape).to(torch.float8_e4m3fn)


def fp4(*shape: int) -> torch.Tensor:
    return torch.full(shape, 0x22, dtype=torch.int8)


def scales(rows: int, k: int = K) -> torch.Tensor:
    return pack_scales(torch.full((rows, -(-k // 32)), 127, dtype=torch.uint8))


def fp32(*shape: int) -> torch.Tensor:
    return torch.full(shape, 7.0)


A, B, SFA, SFB, D = fp8(M, K), fp8(N, K), scales(M), scales(N), fp32(M, N)
A4, B4 = fp4(M, K // 2), fp4(N, K // 2)
NOT_YET = "not there yet"

BAD: list[tuple[str, dict[str, Any], type[DeepGemmError], list[str]]] = [
    # Pairs
    ("a_plain", {"a": A}, DeepGemmTypeError, ["a must be a pair", "got Tensor", "a_scales"]),
    ("b_triple", {"b": (B, SFB, SFB)}, DeepGemmTypeError, ["b must be a pair", "3 items"]),
    ("sfa_none", {"a": (A, None)}, DeepGemmTypeError, ["sfa must be a torch.Tensor", "NoneType"]),
    ("data_none", {"b": (None, SFB)}, DeepGemmTypeError, ["b must be a torch.Tensor"]),
    ("d_pair", {"d": (D, SFA)}, DeepGemmTypeError, ["d must be a torch.Tensor", NOT_YET]),
    # Dtypes
    ("bf16", {"a": (A.bfloat16(), SFA)}, DeepGemmTypeError,
     ["Unsupported operand dtypes", "a is bfloat16", "b is float8_e4m3fn"]),
    ("e5m2", {"a": (A.to(torch.float8_e5m2), SFA)}, DeepGemmTypeError, ["a is float8_e5m2"]),
    ("fp8_fp4", {"b": (B4, SFB)}, DeepGemmTypeError, [NOT_YET, "fp8 x fp4", "exact"]),
    ("fp4_fp8", {"a": (A4, SFA)}, DeepGemmTypeError, ["Unsupported operand dtypes", "a is int8"]),
    ("d_fp8", {"d": fp8(M, N)}, DeepGemmTypeError, ["d is float8_e4m3fn", "bfloat16 or float32"]),
    ("c_dtype", {"c": D.bfloat16()}, DeepGemmTypeError, ["c is bfloat16", "d is float32"]),
    ("sf_fp32", {"a": (A, torch.ones(M, 3))}, DeepGemmTypeError,
     [NOT_YET, "sfa is float32", "transform kernel", "pack_scales"]),
    ("sf_fp32_no_cast", {"a": (A, torch.ones(M, 3)), "disable_ue8m0_cast": True},
     DeepGemmTypeError, ["disable_ue8m0_cast is True", "UE8M0"]),
    ("sf_bytes", {"b": (B, torch.ones(N, 3, dtype=torch.uint8))}, DeepGemmTypeError,
     ["sfb is uint8", "int16", ".view(torch.int16)"]),
    # Shapes
    ("a_3d", {"a": (fp8(1, M, K), SFA)}, DeepGemmValueError, ["Shape mismatch: tensor #0", "2-D"]),
    ("sf_1d", {"a": (A, SFA[:, 0])}, DeepGemmValueError, ["Shape mismatch", "sfa", "(4,)"]),
    ("k", {"b": (fp8(N, K + 1), SFB)}, DeepGemmValueError,
     ["Conflicting shape dimension 'k'", "gives 70", "gives 71"]),
    ("k_fp4", {"a": (A4, SFA), "b": (fp4(N, 36), SFB)}, DeepGemmValueError,
     ["Conflicting shape dimension 'k'", "gives 70", "gives 72", "packed along k"]),
    ("m", {"d": fp32(M + 1, N)}, DeepGemmValueError, ["Conflicting shape dimension 'm'"]),
    ("sf_rows", {"a": (A, scales(M + 1))}, DeepGemmValueError,
     ["sfa has shape (5, 2)", "(4, 2) = [m, ceil(k/64)]", "64 k"]),
    ("sf_pairs", {"b": (B, scales(N, 128 + 1))}, DeepGemmValueError,
     ["sfb has shape (5, 3)", "(5, 2) = [n, ceil(k/64)]"]),
    # Layouts
    ("a_mn", {"a": (fp8(K, M).t(), SFA)}, DeepGemmValueError,
     [NOT_YET, "M-major", "K-major", "a.contiguous()"]),
    ("b_mn_fp4", {"a": (A4, SFA), "b": (fp4(K // 2, N).t(), SFB)}, DeepGemmValueError,
     [NOT_YET, "N-major", "pack the fp4 values along k"]),
    ("a_none", {"a": (fp8(M, 2 * K)[:, ::2], SFA)}, DeepGemmValueError,
     ["doesn't have major axis", "a.contiguous()"]),
    ("sf_k_major", {"a": (A, SFA.contiguous())}, DeepGemmValueError,
     [NOT_YET, "sfa has strides (2, 1)", "transform kernel", "sfa.t().contiguous().t()"]),
    ("sf_row_stride", {"a": (A, scales(2 * M)[::2])}, DeepGemmValueError,
     [NOT_YET, "strides (2, 8)"]),
    ("d_transposed", {"d": fp32(N, M).t()}, DeepGemmValueError, ["d [m, n] must have stride(-1)"]),
    ("d_expanded", {"d": fp32(1, N).expand(M, N)}, DeepGemmValueError, ["overlap"]),
    # Devices
    ("meta", {"a": (A, SFA.to("meta"))}, DeepGemmValueError, ["several devices", "sfa on meta"]),
    # Recipes
    ("recipe_and_a", {"recipe": (1, 1, 32), "recipe_a": (1, 32)}, DeepGemmValueError,
     ["exclude each other", "recipe=(1, 1, 32)"]),
    ("recipe_pair", {"recipe": (1, 32)}, DeepGemmTypeError, ["recipe is (1, 32)", "3 ints"]),
    ("recipe_a_int", {"recipe_a": 32}, DeepGemmTypeError, ["recipe_a is 32", "2 ints", "(1, 32)"]),
    ("recipe_floats", {"recipe_b": (1.0, 32)}, DeepGemmTypeError, ["recipe_b is (1.0, 32)"]),
    ("gran_k", {"recipe": (1, 1, 128)}, DeepGemmValueError, ["gran_k is 128", "allowed: 32"]),
    ("gran_k_differ", {"recipe_a": (1, 64)}, DeepGemmValueError, ["recipe_a is 64", "recipe_b 32"]),
    ("gran_odd", {"recipe": (3, 1, 32)}, DeepGemmValueError, ["gran_m is 3", "power of two"]),
    ("gran_zero", {"recipe": (1, 0, 32)}, DeepGemmValueError, ["gran_n is 0", "power of two"]),
    ("gran_256", {"recipe_b": (256, 32)}, DeepGemmValueError, ["gran_n is 256", "1..128"]),
    ("gran_128", {"recipe": (1, 128, 32)}, DeepGemmValueError,
     [NOT_YET, "gran_n=128", "repeat_interleave(128"]),
    # Options
    ("dims", {"compiled_dims": "nx"}, DeepGemmValueError, ["'nx'"]),
    ("alpha", {"alpha": "2"}, DeepGemmTypeError, ["alpha is str"]),
    ("both", {"alpha": 2.0, "epilogue": epilogue.Identity()}, DeepGemmValueError,
     ["exclude each other"]),
    ("quantisation", {"epilogue": object()}, DeepGemmTypeError, ["FP8Quantization is not there"]),
]  # fmt: skip


@pytest.mark.parametrize(("change", "error", "texts"), [row[1:] for row in BAD],
                         ids=[row[0] for row in BAD])  # fmt: skip
def test_rejected_with_a_helpful_text(fake_runtime, change, error, texts) -> None:
    arguments = {"a": (A, SFA), "b": (B, SFB), "d": D.clone(), **change}
    d = arguments["d"]
    snapshot = d.clone() if isinstance(d, torch.Tensor) else None
    with pytest.raises(error) as caught:
        deep_gemm.fp8_fp4_gemm_nt(**arguments)
    for text in texts:
        assert text in str(caught.value)
    assert isinstance(caught.value, RuntimeError)
    assert not fake_runtime.kernels
    if snapshot is not None:
        assert_equal(d.contiguous(), snapshot.contiguous())


@pytest.mark.parametrize("suffix", ["nn", "tt"])
def test_advice_follows_the_orientation_of_the_call(fake_runtime, suffix: str) -> None:
    a, sfa, b, sfb = A, SFA, B, SFB
    if suffix == "tt":
        a, sfa = a.t(), sfa.t()
    else:
        b, sfb = b.t(), sfb.t()
    function, d = getattr(deep_gemm, f"fp8_gemm_{suffix}"), D.clone()
    name, data = ("a", a) if suffix == "tt" else ("b", b)
    with pytest.raises(DeepGemmValueError, match=rf"{name}\.t\(\)\.contiguous\(\)\.t\(\)"):
        function(**{"a": (a, sfa), "b": (b, sfb), name: (data.contiguous(), SFA)}, d=d)
    bad = {"a": (a, sfa), "b": (b, sfb)}
    bad[name] = (bad[name][0], bad[name][1].t().contiguous().t())
    with pytest.raises(DeepGemmValueError, match=rf"pass sf{name}\.contiguous\(\)"):
        function(**bad, d=d)
    assert_equal(d, D)


@pytest.mark.parametrize("repeat", range(2))
def test_a_bad_call_does_not_spoil_the_good_one(fake_runtime, repeat: int) -> None:
    d = D.clone()
    with pytest.raises(DeepGemmValueError):
        deep_gemm.fp8_gemm_nt((A, SFA.contiguous()), (B, SFB), d)
    deep_gemm.fp8_gemm_nt((A, SFA), (B, SFB), d)
    assert_equal(d, torch.full((M, N), float(K)))
    with pytest.raises(DeepGemmTypeError, match="disable_ue8m0_cast"):
        deep_gemm.fp8_gemm_nt((A, SFA.float()), (B, SFB), d, disable_ue8m0_cast=True)


@pytest.mark.parametrize("name", ["sfa", "sfb"])
def test_d_must_not_overlap_scales(fake_runtime, name: str) -> None:
    storage = torch.zeros(64, dtype=torch.int16)
    storage[: PAIRS * M] = SFA.t().flatten()
    shared = (A, storage[: PAIRS * M].view(PAIRS, M).t())
    other = (B, SFB)
    a, b = (shared, other) if name == "sfa" else (other, shared)
    d = storage[4 : 4 + M * N].view(torch.bfloat16).view(a[0].shape[0], b[0].shape[0])
    before = storage.clone()
    with pytest.raises(DeepGemmValueError, match=f"d overlaps {name} in memory"):
        deep_gemm.fp8_gemm_nt(a, b, d)
    assert_equal(storage, before)


def test_row_strides_of_single_rows_and_pairs_are_free(fake_runtime) -> None:
    one = pack_scales(torch.full((1, 3), 127, dtype=torch.uint8))
    for sfa in (one, one.contiguous(), one.expand(1, 2).as_strided((1, 2), (9, 1))):
        d = fp32(1, N)
        deep_gemm.fp8_gemm_nt((A[:1], sfa), (B, SFB), d)
        assert_equal(d, torch.full((1, N), float(K)))
