"""Names and signatures against the tables of tile_kernels.md sections 1, 5, 6 and 9."""

import importlib
import inspect

import pytest

SIGNATURES = {
    "moe.topk_gate": "scores, num_topk",
    "moe.normalize_weight": "topk_weights",
    "moe.moe_topk_gate_forward": (
        "logits, num_topk, use_shared_as_routed, num_shared_experts, routed_scaling_factor, "
        "ep_rank, scoring_func='sqrtsoftplus', mask=None, bias=None, image_bias=None, "
        "image_token_mask=None, fix_routing_mask=None, to_physical_map=None, logical_count=None, "
        "unmapped_topk_idx=None, force_random=None, out=None, scores=None"
    ),
    "moe.moe_topk_gate_backward": (
        "scores, topk_idx, topk_weights, grad_topk_weights, routed_scaling_factor, "
        "scoring_func='sqrtsoftplus', mask=None, grad_scores_sum=None, out=None"
    ),
    "moe.top2_sum_gate": (
        "logits, bias, num_topk, num_topk_groups, num_groups, use_shared_as_routed, "
        "num_shared_experts, routed_scaling_factor, ep_rank, num_ep_ranks, tp_rank, num_tp_ranks, "
        "scoring_func, mask=None, fix_routing_mask=None, to_physical_map=None, logical_count=None, "
        "unmapped_topk_idx=None"
    ),
    "moe.topk_sum_and_topk_group_idx": "scores, num_topk_sum, num_topk_groups",
    "moe.aux_fi": "topk_idx, num_experts, num_aux_topk",
    "moe.group_count": "group_idx, num_groups",
    "moe.mask_indices_by_tp": "indices, n, num_ep_ranks, tp_rank, num_tp_ranks",
    "moe.inplace_unique_group_indices": "group_indices, num_groups",
    "moe.get_fused_mapping": (
        "topk_idx, num_experts, num_expanded_tokens, alignment, force_no_sync=False"
    ),
    "moe.expand_to_fused": "x, token_topk_to_pos, pos_to_expert",
    "moe.expand_to_fused_with_sf": (
        "x, num_per_channels, token_topk_to_pos, pos_to_expert, use_tma_aligned_col_major_sf=False"
    ),
    "moe.reduce_fused": "x, topk_weights, token_topk_to_pos, fp8_format='', sf=None, out=None",
    "transpose.transpose": "x",
    "transpose.batched_transpose": "x",
    "transform.apply_rotary": (
        "query, cos_sin_cache, key=None, positions=None, interleaved=False, conjugate=False, "
        "seqlen_offset=0"
    ),
    "rand.randn": "*size, dtype=None, device=None",
    "rand.randn_like": "input",
    "rand.set_seed": "seed",
}
TEXT = """
    get_device_num_sms set_num_sms get_num_sms get_num_ai_cores get_num_cube_cores
    get_num_vec_cores get_max_smem_per_sm get_max_ub_per_vector_core set_token_alignment
    get_token_alignment set_pdl get_pdl use_deterministic_algorithms
    get_deterministic_algorithms set_amax_clamp_for_quant get_amax_clamp_for_quant
"""
TOP_LEVEL = TEXT.split()
REFERENCES = """
    cast cast_back cast_to_e5m6 cast_back_from_e5m6 stable_topk topk_sum_and_topk_group_idx
    top2_sum_gate inplace_unique_group_indices aux_fi group_count expand_to_fused
    expand_to_fused_with_sf per_channel_cast_fused mask_indices_by_tp normalize_weight reduce_fused
    swiglu_forward swiglu_backward get_mapping_from_psum moe_topk_gate_forward
    moe_topk_gate_backward norm_forward_ref norm_backward_ref rotary_embedding_ref
    batched_transpose_weight_sf
"""
CONFIG_ONLY = "reset_runtime_config is_ascend get_device"
UTILS = "ceil_div align is_power_of_two str_to_dtype next_power_of_two"
# The other families of the library (sections 7 and 8) are packages of their own, not begun.
OTHER_FAMILIES = ("engram", "mhc", "modeling")


def text_of(function):
    """Parameters without annotations, `*, ` left out behind `*size`."""
    parts = []
    for item in inspect.signature(function).parameters.values():
        star = "*" if item.kind is item.VAR_POSITIONAL else ""
        default = "" if item.default is item.empty else f"={item.default!r}"
        parts.append(f"{star}{item.name}{default}")
    return ", ".join(parts)


@pytest.mark.parametrize("path", SIGNATURES)
def test_signature(path):
    module, name = path.rsplit(".", 1)
    package = importlib.import_module(f"tile_kernels.{module}")
    assert name in package.__all__
    assert text_of(getattr(package, name)) == SIGNATURES[path]


@pytest.mark.parametrize("module", ["moe", "transpose", "transform", "rand"])
def test_nothing_else_is_public(module):
    package = importlib.import_module(f"tile_kernels.{module}")
    wanted = {path.split(".")[1] for path in SIGNATURES if path.startswith(f"{module}.")}
    extra = {"moe": {"moe_topk_gate", "scoring"}}.get(module, set())
    assert set(package.__all__) == wanted | extra
    assert all(hasattr(package, name) for name in package.__all__)


def test_top_level_names():
    import tile_kernels

    assert len(TOP_LEVEL) == 16
    assert set(TOP_LEVEL) <= set(tile_kernels.__all__)
    assert tile_kernels.moe.moe_topk_gate is tile_kernels.moe.moe_topk_gate_forward


def test_scoring_functions():
    from tile_kernels.moe.scoring import ScoringFunc

    names = {str(item): int(item) for item in ScoringFunc}
    assert names == {"sigmoid": 0, "sqrtsoftplus": 1, "softmax": 2, "identity": 3}
    assert ScoringFunc.from_str("softmax") is ScoringFunc.SOFTMAX
    with pytest.raises(ValueError, match="'tanh'; allowed: 'sigmoid'"):
        ScoringFunc.from_str("tanh")


def test_references_and_helpers():
    from tile_kernels import config, torch, utils

    for package, names in ((torch, REFERENCES), (config, CONFIG_ONLY), (utils, UTILS)):
        assert set(names.split()) <= set(package.__all__)
        assert all(hasattr(package, name) for name in package.__all__)


@pytest.mark.parametrize("name", OTHER_FAMILIES)
def test_other_families_are_not_half_there(name):
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(f"tile_kernels.{name}")
