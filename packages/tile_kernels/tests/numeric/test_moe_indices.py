"""Routing of indices: exact against the references."""

import pytest
import torch

import tile_kernels
from tile_kernels import config, moe
from tile_kernels import torch as reference

TOPK = [
    (72, 6),
    (32, 6),
    (16, 6),
    (36, 6),
    (108, 6),
    (144, 6),
    (256, 8),
    (384, 32),
    (1, 1),
    (300, 1),
]


def routed(tokens, experts, k, empty=0.2):
    """Distinct experts a token, some slots -1."""
    idx = torch.rand(tokens, experts).argsort(dim=1)[:, :k].contiguous()
    idx[torch.rand(tokens, k) < empty] = -1
    return idx


@pytest.mark.parametrize(("experts", "k"), TOPK)
@pytest.mark.parametrize("tokens", [0, 1, 67])
def test_topk_gate(tokens, experts, k):
    scores = torch.randn(tokens, experts)
    assert torch.equal(moe.topk_gate(scores, k), reference.stable_topk(scores, k))


def test_topk_gate_on_two_cores():
    scores = torch.randn(67, 300)  # three tiles of 16 rows a core
    config.set_num_sms(1)
    assert torch.equal(moe.topk_gate(scores, 5), reference.stable_topk(scores, 5))


def test_topk_gate_gives_ties_to_the_smaller_index():
    scores = torch.randint(-2, 2, (50, 96)).float()
    scores[1] = 0.0
    scores[2] = torch.tensor([0.0, -0.0]).repeat(48)
    assert torch.equal(moe.topk_gate(scores, 96), reference.stable_topk(scores, 96))


def test_topk_gate_orders_the_largest_and_smallest_numbers():
    largest = torch.finfo(torch.float32).max
    scores = torch.tensor([[-largest, largest, 1e-45, -1e-45, 0.0, largest, -largest, 1.0]])
    assert moe.topk_gate(scores, 8).tolist() == [[1, 5, 7, 2, 4, 3, 0, 6]]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_topk_gate_refuses_what_is_not_finite(bad):
    scores = torch.zeros(9, 40)
    scores[8, 39] = bad
    with pytest.raises(tile_kernels.errors.LaunchError):
        moe.topk_gate(scores, 2)


@pytest.mark.parametrize(("groups", "per_group"), [(8, 32), (4, 18), (33, 3), (1, 2), (64, 2)])
@pytest.mark.parametrize("num_sum", [1, 2])
def test_topk_groups(groups, per_group, num_sum):
    scores = torch.randn(21, groups, per_group)
    scores[::3] = scores[::3].round()
    k = max(1, groups // 2)
    expected = reference.topk_sum_and_topk_group_idx(scores, num_sum, k)
    assert torch.equal(moe.topk_sum_and_topk_group_idx(scores, num_sum, k), expected)


@pytest.mark.parametrize("k", [1, 2, 8, 9, 32])
def test_normalize_weight(k):
    weights = torch.rand(45, k)
    weights[3] = 0.0
    total, normalized = moe.normalize_weight(weights)
    expected = reference.normalize_weight(weights)
    assert torch.equal(total, expected[0])
    assert torch.equal(normalized, expected[1])


@pytest.mark.parametrize(
    ("tokens", "experts", "k"), [(67, 72, 6), (1, 8, 1), (0, 8, 2), (301, 256, 9)]
)
def test_group_count_and_aux_fi(tokens, experts, k):
    idx = routed(tokens, experts, min(k, experts))
    assert torch.equal(moe.group_count(idx, experts), reference.group_count(idx, experts))
    expected = reference.aux_fi(idx, experts, k) if tokens else torch.zeros(experts)
    torch.testing.assert_close(moe.aux_fi(idx, experts, k), expected, rtol=2e-7, atol=0)


def test_group_count_refuses_an_index_beyond_the_groups():
    with pytest.raises(tile_kernels.errors.LaunchError):
        moe.group_count(torch.tensor([0, 5, 8]), 8)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16])
@pytest.mark.parametrize(("ep", "tp"), [(8, 1), (8, 2), (64, 8), (1, 1)])
def test_mask_indices_by_tp(dtype, ep, tp):
    experts = 256
    idx = torch.randint(-1, experts, (33, 7), dtype=dtype)
    for rank in {0, tp - 1}:
        expected = reference.mask_indices_by_tp(idx, experts, ep, rank, tp)
        assert torch.equal(moe.mask_indices_by_tp(idx, experts, ep, rank, tp), expected)


@pytest.mark.parametrize(("k", "groups"), [(1, 4), (6, 4), (9, 128), (32, 200)])
def test_inplace_unique_group_indices(k, groups):
    idx = torch.randint(-1, groups, (53, k))
    expected = idx.clone()
    reference.inplace_unique_group_indices(expected, groups)
    moe.inplace_unique_group_indices(idx, groups)
    assert torch.equal(idx, expected)
