"""Mapping, expanding and reducing rows: exact against the references."""

import pytest
import torch

import tile_kernels
from tile_kernels import config, moe
from tile_kernels import torch as reference

CASES = [(67, 72, 6, 1), (301, 256, 8, 128), (1, 4, 1, 16), (9, 3, 3, 32), (40, 300, 32, 8)]


def routed(tokens, experts, k, empty=0.2):
    idx = torch.rand(tokens, experts).argsort(dim=1)[:, :k].contiguous()
    idx[torch.rand(tokens, k) < empty] = -1
    return idx


@pytest.mark.parametrize(("tokens", "experts", "k", "alignment"), CASES)
def test_mapping_is_a_bijection_in_flat_order(tokens, experts, k, alignment):
    idx = routed(tokens, experts, k)
    result = moe.get_fused_mapping(idx, experts, 0, alignment)
    pos_to_expert, pos_to_token, pos_to_flat, to_pos, start, end, padded, counts = result
    assert padded.tolist() == counts
    assert sum(counts) == pos_to_expert.numel()
    flat, at = idx.flatten(), 0
    for expert in range(experts):
        mine = (flat == expert).nonzero().flatten()
        rows = slice(int(start[expert]), int(end[expert]))
        assert rows.start == at
        assert counts[expert] == -(-mine.numel() // alignment) * alignment
        assert torch.equal(pos_to_flat[rows].long(), mine)
        assert torch.equal(pos_to_token[rows].long(), mine // k)
        assert (pos_to_expert[rows] == expert).all()
        assert torch.equal(to_pos.flatten()[mine].long(), torch.arange(rows.start, rows.stop))
        padding = slice(rows.stop, at + counts[expert])
        for item in (pos_to_expert, pos_to_token, pos_to_flat):
            assert (item[padding] == -1).all()
        at += counts[expert]
    assert (to_pos[idx < 0] == -1).all()


def test_mapping_does_not_depend_on_the_number_of_cores():
    idx = routed(2000, 20, 5)  # slices of one AI core are longer than the unified buffer has room
    many = moe.get_fused_mapping(idx, 20, 0, 8)
    config.set_num_sms(1)
    few = moe.get_fused_mapping(idx, 20, 0, 8)
    assert all(torch.equal(a, b) for a, b in zip(many[:-1], few[:-1], strict=True))


def test_mapping_into_a_given_number_of_rows():
    idx = routed(30, 8, 2, empty=0.0)
    result = moe.get_fused_mapping(idx, 8, 150, 8)
    used = int(result[6].sum())
    assert result[7] == []
    assert result[0].shape == (150,)
    assert (result[0][used:] == -1).all()
    assert moe.get_fused_mapping(idx, 8, 0, 8, force_no_sync=True)[0].numel() == 112
    with pytest.raises(tile_kernels.errors.LaunchError):
        moe.get_fused_mapping(idx, 8, 56, 8)


def test_mapping_of_no_tokens():
    result = moe.get_fused_mapping(torch.empty(0, 4, dtype=torch.int64), 6, 0, 16)
    assert result[7] == [0] * 6
    assert result[0].numel() == 0
    assert result[3].shape == (0, 4)
    assert result[4].tolist() == result[5].tolist() == [0] * 6


@pytest.mark.parametrize(
    ("dtype", "hidden"),
    [(torch.bfloat16, 576), (torch.float32, 7168), (torch.float8_e4m3fn, 200), (torch.int8, 33)],
)
@pytest.mark.parametrize("tokens", [0, 37])
def test_expand(dtype, hidden, tokens):
    idx = routed(tokens, 12, 4)
    mapping = moe.get_fused_mapping(idx, 12, 0, 16)
    x = torch.randint(-128, 128, (tokens, hidden * dtype.itemsize), dtype=torch.int8).view(dtype)
    out = moe.expand_to_fused(x, mapping[3], mapping[0])
    expected = reference.expand_to_fused(x, mapping[3], mapping[0])
    assert out.shape == (mapping[0].numel(), hidden)
    assert torch.equal(out.view(torch.int8), expected.view(torch.int8))


@pytest.mark.parametrize("column_major", [False, True])
@pytest.mark.parametrize(("sf_dtype", "group"), [(torch.float32, 128), (torch.int32, 32)])
def test_expand_with_scales(column_major, sf_dtype, group):
    if sf_dtype != torch.float32 and not column_major:
        with pytest.raises(ValueError, match="need use_tma_aligned_col_major_sf=True"):
            moe.expand_to_fused_with_sf(
                (torch.zeros(2, 512, dtype=torch.float8_e4m3fn), torch.zeros(2, 4).int()),
                32, torch.zeros(2, 1).int(), torch.zeros(2).int(),
            )  # fmt: skip
        return
    idx = routed(29, 7, 3)
    mapping = moe.get_fused_mapping(idx, 7, 0, 6)
    data = torch.randn(29, 512).to(torch.float8_e4m3fn)
    words = 4
    sf = torch.randint(1, 1 << 30, (words, 29), dtype=torch.int32).T.view(sf_dtype)
    args = (group, mapping[3], mapping[0], column_major)
    out, out_sf = moe.expand_to_fused_with_sf((data, sf), *args)
    expected, expected_sf = reference.expand_to_fused_with_sf((data, sf), *args)
    assert torch.equal(out.view(torch.int8), expected.view(torch.int8))
    assert torch.equal(out_sf.view(torch.int32), expected_sf.view(torch.int32))
    assert out_sf.stride() == expected_sf.stride()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize(("tokens", "k", "hidden"), [(13, 6, 576), (5, 32, 4100), (3, 1, 64)])
@pytest.mark.parametrize("scaled", [False, True])
def test_reduce(dtype, tokens, k, hidden, scaled):
    rows = torch.randn(tokens * k, hidden).to(dtype)
    pos = torch.randperm(tokens * k).view(tokens, k).int()
    pos[torch.rand(tokens, k) < 0.2] = -1
    weights = torch.rand(tokens, k)
    x = (rows, torch.rand(tokens * k)) if scaled else rows
    assert torch.equal(moe.reduce_fused(x, weights, pos), reference.reduce_fused(x, weights, pos))


def test_reduce_to_fp8_with_a_factor_and_a_given_output():
    rows, weights, factor = torch.randn(24, 300).bfloat16(), torch.rand(8, 3), torch.tensor([30.0])
    pos = torch.randperm(24).view(8, 3).int()
    out = torch.empty(8, 300, dtype=torch.float8_e4m3fn)
    assert moe.reduce_fused(rows, weights, pos, "e4m3", factor, out) is out
    expected = reference.reduce_fused(rows, weights, pos, "e4m3", factor)
    assert torch.equal(out.view(torch.int8), expected.view(torch.int8))


def test_reduce_leaves_rows_without_weight_out():
    rows = torch.full((2, 64), float("nan"))
    rows[1] = 2.0
    pos = torch.tensor([[-1, 1], [-1, -1]], dtype=torch.int32)
    out = moe.reduce_fused(rows, torch.ones(2, 2), pos)
    assert torch.equal(out, torch.tensor([[2.0], [0.0]]).expand(2, 64))
