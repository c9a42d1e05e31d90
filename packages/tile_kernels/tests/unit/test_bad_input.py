"""Arguments that are refused before anything runs: the message names what it got and the remedy."""

import pytest
import torch

from tile_kernels import errors, moe, transpose

F32, I32 = torch.float32, torch.int32
IDX = torch.zeros(4, 2, dtype=torch.int64)
POS = torch.zeros(4, 2, dtype=I32)
CASES = [
    (lambda: moe.topk_gate([1.0], 1), TypeError, "scores must be a torch.Tensor, got list"),
    (lambda: moe.topk_gate(torch.zeros(2, 3).half(), 1), TypeError, "allowed: torch.float32"),
    (lambda: moe.topk_gate(torch.zeros(3, 2).T, 1), ValueError, "pass scores.contiguous()"),
    (lambda: moe.topk_gate(torch.zeros(2, 3), 4), ValueError, "num_topk got 4, allowed: 1 to 3"),
    (lambda: moe.topk_gate(torch.zeros(2, 3), 1.0), TypeError, "num_topk must be an int"),
    (lambda: moe.topk_gate(torch.zeros(1, 5000), 1), ValueError, "got 5000, allowed: 1 to 4096"),
    (lambda: moe.topk_gate(torch.zeros(2), 1), ValueError, r"shape \(2,\), wanted 2 dimensions"),
    (lambda: moe.topk_gate(torch.zeros(2, 3, device="meta"), 1), ValueError, "is on meta"),
    (lambda: moe.normalize_weight(IDX), TypeError, "has dtype torch.int64"),
    (lambda: moe.group_count(IDX, 0), ValueError, "num_groups got 0, allowed: 1 or more"),
    (lambda: moe.aux_fi(IDX, 4, 0), ValueError, "num_aux_topk got 0"),
    (lambda: moe.mask_indices_by_tp(IDX, 9, 2, 0, 1), ValueError, "wanted a multiple of num_ep"),
    (lambda: moe.mask_indices_by_tp(IDX, 8, 2, 2, 2), ValueError, "tp_rank got 2, allowed: 0 to 1"),
    (lambda: moe.get_fused_mapping(POS, 4, 0, 1), TypeError, "allowed: torch.int64"),
    (lambda: moe.get_fused_mapping(IDX, 4, 0, 0), ValueError, "alignment got 0"),
    (
        lambda: moe.expand_to_fused(torch.zeros(5, 8), POS, torch.zeros(9, dtype=I32)),
        ValueError,
        r"token_topk_to_pos has shape \(4, 2\), wanted \(5, 2\)",
    ),
    (
        lambda: moe.reduce_fused(torch.zeros(9, 8), torch.zeros(4, 2), POS, "e5m2"),
        ValueError,
        "fp8_format got 'e5m2'; allowed: '', 'e4m3'",
    ),
    (
        lambda: moe.reduce_fused(torch.zeros(9, 8), torch.zeros(4, 2), POS, sf=torch.ones(1)),
        ValueError,
        "sf needs fp8_format='e4m3'",
    ),
    (
        lambda: moe.moe_topk_gate(
            torch.zeros(2, 8), 2, False, 0, 1.0, 0, image_bias=torch.zeros(8)
        ),
        ValueError,
        "image_bias and image_token_mask: give both or none",
    ),
    (
        lambda: moe.top2_sum_gate(
            torch.zeros(2, 9), torch.zeros(9), 2, 1, 2, False, 0, 1.0, 0, 1, 0, 1, "sigmoid"
        ),
        ValueError,
        "9 experts, wanted a multiple of num_groups=2",
    ),
    (lambda: transpose.batched_transpose(torch.zeros(2, 3, 4).mT), ValueError, "wanted 1 on the"),
    (lambda: transpose.transpose(torch.zeros(2, 3).double()), TypeError, "torch.float64"),
]


@pytest.mark.parametrize(("call", "kind", "message"), CASES)
def test_bad_argument(call, kind, message):
    with pytest.raises(kind, match=message) as caught:
        call()
    assert isinstance(caught.value, errors.TileKernelsError)
