"""Every rejected argument: error class, text, untouched D (deep_gemm.md section 1.2)."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import deep_gemm
from deep_gemm import DeepGemmError, DeepGemmTypeError, DeepGemmValueError, epilogue
from deep_gemm._shapes import NamedTensor, operand_matrix
from deep_gemm.heuristics import Major
from deep_gemm.testing import assert_equal


def bf16(*shape: int) -> torch.Tensor:
    return torch.ones(*shape, dtype=torch.bfloat16)


def fp32(*shape: int) -> torch.Tensor:
    return torch.full(shape, 7.0)


A, B, D = bf16(4, 6), bf16(5, 6), fp32(4, 5)

BAD: list[tuple[str, dict[str, Any], type[DeepGemmError], list[str]]] = [
    # Types
    ("a_list", {"a": [[1.0]]}, DeepGemmTypeError, ["a must be a torch.Tensor", "got list"]),
    ("a_none", {"a": None}, DeepGemmTypeError, ["a must be a torch.Tensor", "NoneType"]),
    ("a_pair", {"a": (A, A)}, DeepGemmTypeError, ["got tuple", "scale factors"]),
    ("d_none", {"d": None}, DeepGemmTypeError, ["d must be a torch.Tensor"]),
    ("c_number", {"c": 1.0}, DeepGemmTypeError, ["c must be a torch.Tensor", "got float"]),
    ("a_sparse", {"a": A.to_sparse()}, DeepGemmTypeError, ["torch.sparse_coo", "to_dense()"]),
    # Dtypes
    ("a_fp16", {"a": A.half()}, DeepGemmTypeError,
     ["Unsupported operand dtypes", "a is float16", "b is bfloat16", "torch.bfloat16"]),
    ("b_fp32", {"b": B.float()}, DeepGemmTypeError, ["Unsupported operand dtypes", "b is float32"]),
    ("d_fp64", {"d": D.double()}, DeepGemmTypeError, ["d is float64", "bfloat16 or float32"]),
    ("c_dtype", {"c": D.bfloat16()}, DeepGemmTypeError, ["c is bfloat16", "d is float32"]),
    # Ranks and sizes
    ("a_3d", {"a": bf16(1, 4, 6)}, DeepGemmValueError,
     ["Shape mismatch: tensor #0", "(1, 4, 6)", "2-D [m, k]"]),
    ("d_1d", {"d": fp32(5)}, DeepGemmValueError, ["Shape mismatch: tensor #2", "(5,)"]),
    ("k", {"b": bf16(5, 7)}, DeepGemmValueError,
     ["Conflicting shape dimension 'k'", "tensor #0", "gives 6", "tensor #1", "gives 7"]),
    ("m", {"d": fp32(3, 5)}, DeepGemmValueError, ["Conflicting shape dimension 'm'", "gives 3"]),
    ("n", {"d": fp32(4, 8)}, DeepGemmValueError, ["Conflicting shape dimension 'n'", "gives 8"]),
    ("c_shape", {"c": fp32(4, 1)}, DeepGemmValueError, ["Conflicting shape dimension 'n'"]),
    # Strides
    ("a_both", {"a": bf16(9).as_strided((4, 6), (1, 1))}, DeepGemmValueError,
     ["ambiguous major axis", "(1, 1)", "a.contiguous()"]),
    ("b_none", {"b": bf16(10, 12)[::2, ::2]}, DeepGemmValueError,
     ["b [n, k] doesn't have major axis", "(24, 2)", "b.contiguous()"]),
    ("d_transposed", {"d": fp32(5, 4).t()}, DeepGemmValueError,
     ["d [m, n] must have stride(-1) == 1", "(1, 4)"]),
    ("c_transposed", {"c": fp32(5, 4).t()}, DeepGemmValueError, ["c [m, n] must have stride(-1)"]),
    ("d_expanded", {"d": fp32(1, 5).expand(4, 5)}, DeepGemmValueError,
     ["rows of 5 elements", "only 0 elements", "overlap"]),
    ("d_window", {"d": fp32(20).as_strided((4, 5), (3, 1))}, DeepGemmValueError,
     ["rows of 5 elements", "only 3 elements"]),
    # Devices
    ("meta", {"a": A.to("meta"), "b": B.to("meta"), "d": D.to("meta")}, DeepGemmValueError,
     ["on device meta", "allowed: cpu", "set_dry_run(True)"]),
    ("mixed", {"b": B.to("meta")}, DeepGemmValueError,
     ["several devices", "a on cpu", "b on meta", ".to('cpu')"]),
    # Options
    ("dims_type", {"compiled_dims": None}, DeepGemmTypeError, ["compiled_dims must be a str"]),
    ("dims_letter", {"compiled_dims": "nx"}, DeepGemmValueError, ["'nx'", "'m', 'n', 'k'"]),
    ("dims_twice", {"compiled_dims": "nn"}, DeepGemmValueError, ["'nn'", "at most once"]),
    ("alpha_text", {"alpha": "2"}, DeepGemmTypeError, ["alpha is str", "real number"]),
    ("alpha_bool", {"alpha": True}, DeepGemmTypeError, ["alpha is bool"]),
    ("alpha_complex", {"alpha": 1j}, DeepGemmTypeError, ["alpha is complex"]),
    ("alpha_huge", {"alpha": 1e39}, DeepGemmValueError, ["alpha=1e+39", "fp32"]),
    ("both", {"alpha": 2.0, "epilogue": epilogue.Identity()}, DeepGemmValueError,
     ["alpha=2.0", "Identity()", "exclude each other"]),
    ("epilogue_class", {"epilogue": epilogue.Alpha}, DeepGemmTypeError, ["epilogue is type"]),
    ("epilogue_base", {"epilogue": epilogue.Epilogue()}, DeepGemmTypeError, ["is Epilogue"]),
]  # fmt: skip


@pytest.mark.parametrize(("change", "error", "texts"), [row[1:] for row in BAD],
                         ids=[row[0] for row in BAD])  # fmt: skip
def test_rejected_with_a_helpful_text(fake_runtime, change, error, texts) -> None:
    arguments = {"a": A.clone(), "b": B.clone(), "d": D.clone(), **change}
    d = arguments["d"]
    snapshot = d.clone() if isinstance(d, torch.Tensor) else None
    with pytest.raises(error) as caught:
        deep_gemm.bf16_gemm_nt(**arguments)
    for text in texts:
        assert text in str(caught.value)
    assert isinstance(caught.value, RuntimeError)
    assert not fake_runtime.kernels
    if snapshot is not None and not d.is_meta:
        assert_equal(d.contiguous(), snapshot.contiguous())


@pytest.mark.parametrize("repeat", range(2))
def test_a_bad_call_does_not_spoil_the_good_one(fake_runtime, repeat: int) -> None:
    d = D.clone()
    with pytest.raises(DeepGemmValueError):
        deep_gemm.bf16_gemm_nt(A, bf16(5, 7), d)
    deep_gemm.bf16_gemm_nt(A, B, d)
    assert_equal(d, torch.full((4, 5), 6.0))


class TestOverlap:
    """D must share no element with an input; ranges may interleave."""

    def test_d_is_a(self, fake_runtime) -> None:
        square = bf16(4, 4)
        with pytest.raises(DeepGemmValueError, match="d overlaps a in memory"):
            deep_gemm.bf16_gemm_nt(square, bf16(4, 4), square)
        assert_equal(square, bf16(4, 4))

    def test_d_overlaps_b_partly(self, fake_runtime) -> None:
        storage = bf16(64)
        b, d = storage[:16].view(4, 4), storage[15:31].view(4, 4)
        with pytest.raises(DeepGemmValueError, match="d overlaps b in memory"):
            deep_gemm.bf16_gemm_nt(bf16(4, 4), b, d)
        assert_equal(storage, bf16(64))

    def test_d_overlaps_c_partly(self, fake_runtime) -> None:
        storage = fp32(64)
        d, c = storage[:16].view(4, 4), storage[4:20].view(4, 4)
        with pytest.raises(DeepGemmValueError, match="d overlaps c in memory"):
            deep_gemm.bf16_gemm_nt(bf16(4, 4), bf16(4, 4), d, c=c)
        assert_equal(storage, fp32(64))

    def test_c_at_the_address_of_d_with_other_strides(self, fake_runtime) -> None:
        storage = fp32(64)
        d, c = storage.as_strided((4, 4), (4, 1)), storage.as_strided((4, 4), (8, 1))
        with pytest.raises(DeepGemmValueError, match=r"\(8, 1\).*\(4, 1\)"):
            deep_gemm.bf16_gemm_nt(bf16(4, 4), bf16(4, 4), d, c=c)
        assert_equal(storage, fp32(64))

    def test_an_overlap_after_a_cached_good_call(self, fake_runtime) -> None:
        storage = bf16(64)
        a, b = storage[:16].view(4, 4), bf16(4, 4)
        deep_gemm.bf16_gemm_nt(a, b, storage[16:32].view(4, 4))
        with pytest.raises(DeepGemmValueError, match="overlaps a"):
            deep_gemm.bf16_gemm_nt(a, b, storage[8:24].view(4, 4))

    def test_interleaved_columns_are_fine(self, fake_runtime) -> None:
        storage = torch.zeros(4, 12, dtype=torch.bfloat16)
        a, d = storage[:, :4], storage[:, 4:8]
        a.copy_(torch.eye(4))
        deep_gemm.bf16_gemm_nt(a, 2 * torch.eye(4).bfloat16(), d)
        assert_equal(d.contiguous(), 2 * torch.eye(4).bfloat16())
        assert_equal(storage[:, 8:].contiguous(), torch.zeros(4, 4).bfloat16())

    def test_inputs_may_share_memory(self, fake_runtime) -> None:
        a, d = torch.eye(4).bfloat16(), torch.empty(4, 4)
        deep_gemm.bf16_gemm_nt(a, a, d)
        assert_equal(d, torch.eye(4))


class TestMajorAxis:
    """Size-1 axes never make a layout ambiguous (deep_gemm.md section 7)."""

    @pytest.mark.parametrize(
        ("size", "stride", "major", "pitch"),
        [
            ((5, 3), (3, 1), Major.K, 3),
            ((5, 3), (1, 5), Major.MN, 5),
            ((5, 3), (0, 1), Major.K, 0),
            ((5, 1), (1, 1), Major.K, 1),
            ((5, 1), (7, 1), Major.K, 7),
            ((5, 1), (7, 3), Major.K, 7),
            ((1, 3), (1, 1), Major.K, 3),
            ((1, 3), (9, 1), Major.K, 3),
            ((1, 3), (1, 4), Major.MN, 4),
            ((1, 3), (3, 4), Major.MN, 4),
            ((1, 1), (1, 1), Major.K, 1),
            ((1, 1), (5, 5), Major.K, 1),
            ((3, 0), (1, 1), Major.K, 1),
            ((0, 3), (3, 1), Major.K, 3),
        ],
    )
    def test_table(self, size, stride, major, pitch) -> None:
        tensor = bf16(64).as_strided(size, stride)
        matrix = operand_matrix(NamedTensor("a", tensor, "mk"), "m")
        assert (matrix.major, matrix.stride) == (major, pitch)
        assert (matrix.rows, matrix.cols) == size

    def test_column_output_is_not_ambiguous(self, fake_runtime) -> None:
        d = torch.empty(4, 1)
        deep_gemm.bf16_gemm_nt(bf16(4, 6), bf16(1, 6), d)
        assert_equal(d, torch.full((4, 1), 6.0))


def test_a_row_distance_beyond_forty_bits() -> None:
    tensor = torch.empty(2, 3, dtype=torch.bfloat16, device="meta").as_strided((2, 3), (2**39, 1))
    with pytest.raises(DeepGemmValueError, match=r"1099511627776 bytes.*less than 2\*\*40 bytes"):
        operand_matrix(NamedTensor("a", tensor, "mk"), "m")


def test_sizes_beyond_int32() -> None:
    from deep_gemm._C import set_dry_run

    a = torch.empty(1, 8, dtype=torch.bfloat16, device="meta").expand(2**31, 8)
    b = torch.empty(4, 8, dtype=torch.bfloat16, device="meta")
    d = torch.empty(2**31, 4, dtype=torch.bfloat16, device="meta")
    set_dry_run(True)
    try:
        with pytest.raises(DeepGemmValueError, match=r"'m' of a is 2147483648.*at most 2147483647"):
            deep_gemm.bf16_gemm_nt(a, b, d)
    finally:
        set_dry_run(False)


def test_products_of_sizes_beyond_int32_are_accepted(fake_runtime) -> None:
    from deep_gemm.testing.par_compile import dry_run

    a = torch.empty(2**20, 8, dtype=torch.bfloat16, device="meta")
    b = torch.empty(2**12, 8, dtype=torch.bfloat16, device="meta")
    with dry_run():
        deep_gemm.bf16_gemm_nt(a, b, torch.empty(2**20, 2**12, device="meta"))
    assert len(fake_runtime.built_without_load) == 1


def test_compile_errors_leave_d_and_the_next_call_alone(fake_runtime) -> None:
    d, c = D.clone(), fp32(4, 5)
    fake_runtime.fail = deep_gemm.errors.CompileError("the compiler said no")
    with pytest.raises(deep_gemm.errors.CompileError, match="said no"):
        deep_gemm.bf16_gemm_nt(A, B, d, c=c + 1)
    assert_equal(d, D)
    fake_runtime.fail = None
    deep_gemm.bf16_gemm_nt(A, B, d, c=c)
    assert_equal(d, torch.full((4, 5), 13.0))
