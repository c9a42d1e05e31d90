"""The gates: indices exact, weights against float64; logits keep clear of ties by rounding."""

import pytest
import torch

import tile_kernels
from tile_kernels import config, moe
from tile_kernels import torch as reference
from tile_kernels.torch.gate import score

ULP = 2.0**-23
SCORING = ["sqrtsoftplus", "sigmoid", "softmax", "identity"]


def clear_logits(tokens, experts, low=-6.0, high=6.0):
    """Distinct logits in each row, far enough apart that fp32 scores keep their order."""
    grid = torch.linspace(low, high, experts)
    return torch.stack([grid[torch.randperm(experts)] for _ in range(tokens)])


def close(got, expected):
    torch.testing.assert_close(got, expected.float(), rtol=8 * ULP, atol=0)


@pytest.mark.parametrize("scoring", SCORING)
@pytest.mark.parametrize(
    ("tokens", "experts", "k", "shared"), [(13, 256, 8, 1), (7, 40, 32, 2), (1, 384, 6, 0)]
)
def test_forward(scoring, tokens, experts, k, shared):
    logits = clear_logits(tokens, experts, *((0.1, 6.0) if scoring == "identity" else ()))
    idx, weights = moe.moe_topk_gate_forward(logits, k, True, shared, 2.5, 0, scoring)
    expected = reference.moe_topk_gate_forward(logits, k, shared, 2.5, scoring_func=scoring)
    assert torch.equal(idx, expected[0])
    close(weights, expected[1])


def test_forward_on_two_cores():
    logits = clear_logits(67, 40)  # three tiles of 16 rows a core
    many = moe.moe_topk_gate_forward(logits, 5, True, 1, 2.5, 0, "sigmoid")
    config.set_num_sms(1)
    few = moe.moe_topk_gate_forward(logits, 5, True, 1, 2.5, 0, "sigmoid")
    assert all(torch.equal(a, b) for a, b in zip(many, few, strict=True))


def test_scores_are_close_to_the_exact_ones():
    logits = torch.cat([torch.randn(8, 256) * s for s in (1e-3, 1.0, 10.0, 80.0)])
    scores = torch.empty_like(logits)
    moe.moe_topk_gate_forward(logits, 2, False, 0, 1.0, 0, scores=scores)
    exact = score(logits, "sqrtsoftplus")
    normal = exact > 1e-18
    error = ((scores.double() - exact).abs() / exact)[normal].max()
    assert error < 3 * ULP


def test_ties_go_to_the_smaller_index():
    idx, weights = moe.moe_topk_gate(torch.zeros(5, 72), 6, False, 0, 1.0, 0)
    assert torch.equal(idx, torch.arange(6).expand(5, 6))
    close(weights, torch.full((5, 6), 1 / 6).double())


def test_masks_biases_images_and_fixed_tokens():
    tokens, experts, k = 29, 64, 6
    logits = clear_logits(tokens, experts)
    bias, image_bias = torch.randn(experts).round(), torch.randn(experts).round()
    mask, image = torch.rand(tokens) < 0.8, torch.rand(tokens) < 0.5
    fix = torch.rand(tokens) < 0.3
    fixed = torch.rand(tokens, experts).argsort(1)[:, :k]
    unmapped = torch.where(fix[:, None], fixed, 77)
    scores = torch.empty(tokens, experts)
    idx, weights = moe.moe_topk_gate_forward(
        logits, k, True, 1, 1.5, 0, mask=mask, bias=bias, image_bias=image_bias,
        image_token_mask=image, fix_routing_mask=fix, unmapped_topk_idx=unmapped, scores=scores,
    )  # fmt: skip
    per_token = torch.where(image[:, None], image_bias, bias)
    expected = reference.moe_topk_gate_forward(
        logits, k, 1, 1.5, mask=mask, bias=per_token, fixed=torch.where(fix[:, None], fixed, -1)
    )
    assert torch.equal(idx, expected[0])
    close(weights, expected[1])
    keep = ~fix | ~mask
    assert torch.equal(unmapped[keep], expected[2][keep])
    assert torch.equal(unmapped[fix & mask], fixed[fix & mask])
    assert (scores[~mask] == 0).all()


def test_copies_of_experts():
    tokens, experts, k, shared, copies = 21, 16, 4, 1, 3
    logits = clear_logits(tokens, experts)
    table = torch.randperm((experts + shared) * copies).view(-1, copies).int()
    counts = torch.randint(1, copies + 1, (experts + shared,)).int()
    args = {"to_physical_map": table, "logical_count": counts}
    idx, _ = moe.moe_topk_gate_forward(logits, k, True, shared, 1.0, 5, **args)
    expected = reference.moe_topk_gate_forward(logits, k, shared, 1.0, 5, **args)
    assert torch.equal(idx, expected[0])


def test_random_routing():
    tokens, experts, k = 400, 24, 4
    logits = clear_logits(tokens, experts)
    random = torch.ones(tokens, dtype=torch.bool)
    random[:8] = False
    unmapped = torch.zeros(tokens, k, dtype=torch.int64)
    mask = torch.ones(tokens, dtype=torch.bool)
    mask[-8:] = False

    def run():
        tile_kernels.rand.set_seed(5)
        return moe.moe_topk_gate_forward(
            logits, k, False, 0, 1.0, 0, force_random=random, mask=mask, unmapped_topk_idx=unmapped
        )

    idx, weights = run()
    expected = reference.moe_topk_gate_forward(logits, k)
    assert torch.equal(idx[:8], expected[0][:8])
    assert (idx[-8:] == -1).all()
    drawn = idx[8:-8]
    assert (drawn.sort(dim=1).values.diff(dim=1) > 0).all()
    counts = torch.bincount(drawn.flatten(), minlength=experts)
    mean = drawn.numel() / experts
    assert ((counts - mean).abs() < 5 * mean**0.5).all()
    assert ((weights[8:-8] >= 0) & (weights[8:-8] < 1)).all()
    assert abs(weights[8:-8].mean() - 0.5) < 0.05
    assert (unmapped[8:] == -1).all()
    assert torch.equal(run()[0], idx)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_finite_ends_the_kernel(bad):
    logits = clear_logits(5, 32)
    logits[3, 7] = bad
    with pytest.raises(tile_kernels.errors.LaunchError):
        moe.moe_topk_gate_forward(logits, 2, False, 0, 1.0, 0)
    mask = torch.ones(5, dtype=torch.bool)
    mask[3] = False
    idx, _ = moe.moe_topk_gate_forward(logits, 2, False, 0, 1.0, 0, mask=mask)
    assert (idx[3] == -1).all()


GROUPED = [
    (8, 4, 256, 8, 1, "sigmoid", 64, 8), (0, 0, 72, 6, 2, "sqrtsoftplus", 1, 1),
    (4, 2, 64, 32, 0, "softmax", 8, 2), (33, 5, 99, 3, 0, "identity", 1, 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("groups", "kept", "experts", "k", "shared", "scoring", "ep", "tp"), GROUPED
)
def test_top2_sum_gate(groups, kept, experts, k, shared, scoring, ep, tp):
    tokens = 19
    logits = clear_logits(tokens, experts, *((0.1, 6.0) if scoring == "identity" else ()))
    bias = torch.zeros(experts)
    mask = torch.rand(tokens) < 0.9
    unmapped = torch.empty(tokens, k, dtype=torch.int64)
    for rank in {0, tp - 1}:
        idx, weights = moe.top2_sum_gate(
            logits, bias, k, kept, groups, True, shared, 2.0, 3, ep, rank, tp, scoring, mask=mask,
            unmapped_topk_idx=unmapped,
        )  # fmt: skip
        expected = reference.top2_sum_gate(
            logits, bias, k, kept, groups, shared, 2.0, 3, ep, rank, tp, scoring, mask
        )
        assert torch.equal(unmapped, expected[2])
        assert torch.equal(idx, expected[0])
        close(weights, expected[1])


@pytest.mark.parametrize("scoring", ["sqrtsoftplus", "sigmoid", "softmax"])
@pytest.mark.parametrize("balance", [False, True])
def test_backward(scoring, balance):
    tokens, experts, k, factor = 12, 100, 6, 2.5
    logits = torch.randn(tokens, experts) * 3
    scores = score(logits, scoring).float()
    idx = torch.randint(-1, experts + 1, (tokens, k))
    idx[0] = 5  # one expert in every slot
    valid = (idx >= 0) & (idx < experts)
    selected = scores.double().gather(1, idx.clamp(0, experts - 1)) * valid
    weights = (selected / (selected.sum(1, keepdim=True) + 1e-20) * factor).float()
    grad = torch.randn(tokens, k)
    mask = torch.rand(tokens) < 0.8
    sums = torch.randn(3, experts) if balance else None
    got = moe.moe_topk_gate_backward(scores, idx, weights, grad, factor, scoring, mask, sums)
    expected = reference.moe_topk_gate_backward(logits, idx, grad, factor, scoring, mask, sums)
    largest = float(expected.abs().max())
    torch.testing.assert_close(got.double(), expected, rtol=1e-5, atol=1e-5 * largest)
    assert (got[~mask] == 0).all()
