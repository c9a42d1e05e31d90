"""Every operator once under all four checkers, on a small case with tails."""

import pytest
import torch

import tile_kernels
from tile_kernels import moe, quant, rand, transform, transpose


def indices(tokens=9, experts=12, k=3):
    idx = torch.rand(tokens, experts).argsort(dim=1)[:, :k].contiguous()
    idx[::3, 0] = -1
    return idx


def mapped():
    mapping = moe.get_fused_mapping(indices(), 12, 0, 4)
    return mapping[3], mapping[0]


def expand():
    to_pos, pos_to_expert = mapped()
    sf = torch.rand(9, 3)
    data = torch.randn(9, 300).to(torch.float8_e4m3fn)
    moe.expand_to_fused_with_sf((data, sf), 128, to_pos, pos_to_expert, True)


def reduce():
    to_pos, pos_to_expert = mapped()
    moe.reduce_fused(torch.randn(pos_to_expert.numel(), 300).bfloat16(), torch.rand(9, 3), to_pos)


def gate_backward():
    scores = torch.rand(9, 40)
    idx, weights = indices(9, 40, 3), torch.rand(9, 3)
    moe.moe_topk_gate_backward(scores, idx, weights, torch.randn(9, 3), 1.0)


OPERATORS = {
    "topk_gate": lambda: moe.topk_gate(torch.randn(9, 40), 3),
    "normalize_weight": lambda: moe.normalize_weight(torch.rand(9, 5)),
    "aux_fi": lambda: moe.aux_fi(indices(), 12, 3),
    "mask_indices_by_tp": lambda: moe.mask_indices_by_tp(indices(), 12, 4, 1, 2),
    "inplace_unique": lambda: moe.inplace_unique_group_indices(indices(), 12),
    "topk_groups": lambda: moe.topk_sum_and_topk_group_idx(torch.randn(9, 8, 5), 2, 3),
    "expand": expand,
    "reduce": reduce,
    "gate": lambda: moe.moe_topk_gate(torch.randn(9, 40), 3, True, 1, 1.0, 0),
    "top2_sum_gate": lambda: moe.top2_sum_gate(
        torch.randn(9, 40), torch.zeros(40), 3, 2, 4, False, 0, 1.0, 0, 1, 0, 1, "sigmoid"
    ),
    "gate_backward": gate_backward,
    "transpose": lambda: transpose.transpose(torch.randn(130, 70)),
    "rotary": lambda: transform.apply_rotary(torch.randn(9, 3, 64), torch.randn(9, 64)),
    "rotary by threads": lambda: transform.apply_rotary(torch.randn(9, 3, 64), torch.randn(9, 36)),
    "transpose of halves": lambda: transpose.transpose(torch.randn(330, 900).half()),
    "transpose of bytes": lambda: transpose.transpose(torch.zeros(300, 140, dtype=torch.int8)),
    "mapping": lambda: moe.get_fused_mapping(indices(300, 300, 8), 300, 0, 4),
    "randn": lambda: rand.randn(5000, device="cpu"),
    "per_token_cast": lambda: quant.per_token_cast(torch.randn(37, 256).bfloat16(), "e4m3", 128),
    "per_token_cast_back": lambda: quant.per_token_cast_back(
        (torch.randn(37, 256).to(torch.float8_e4m3fn), torch.rand(37, 2)), "bf16", 128
    ),
    "norm": lambda: quant.norm_forward(torch.randn(37, 256).bfloat16(), None, 1e-6),
    "per_token_cast, packed": lambda: quant.per_token_cast(
        torch.randn(2100, 256).bfloat16(), "e4m3", 128, None, True, True, True
    ),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operator_is_clean(name):
    checks = ("memcheck", "racecheck", "initcheck", "synccheck")
    with tile_kernels.emulator(checks=checks):
        OPERATORS[name]()
