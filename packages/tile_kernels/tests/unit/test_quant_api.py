"""Names and signatures of `quant` against tile_kernels.md sections 1, 3.4 and 4."""

import inspect

import pytest

from tile_kernels import quant

SF = "use_tma_aligned_col_major_sf=False, round_sf=False, use_packed_ue8m0=False"
SWIGLU = "psum_num_tokens_per_expert=None, topk_weights=None, routed_scaling_factor=None"
SIGNATURES = {
    "per_token_cast": (
        f"x, fmt, num_per_channels, x_block_size=None, {SF}, use_e4m3_sf=False, "
        "stochastic_cast=False, out=None"
    ),
    "per_token_cast_with_sf_only": (
        f"x, fmt, num_per_channels, {SF}, use_e4m3_sf=False, out_sf=None"
    ),
    "per_token_cast_with_precomputed_sf": (
        f"x, fmt, num_per_channels, sf, {SF}, use_e4m3_sf=False, out=None"
    ),
    "per_block_cast": f"x, fmt, block_size, {SF}, out=None",
    "per_block_cast_with_sf_only": f"x, fmt, block_size, {SF}, out_sf=None",
    "per_block_cast_with_precomputed_sf": f"x, fmt, block_size, sf, {SF}, out=None",
    "per_channel_cast": (
        "x, fmt, num_per_tokens, round_sf=False, num_per_channels=None, use_packed_ue8m0=False"
    ),
    "cast_back": "x, fmt, x_block_size, x_special_fmt=None",
    "per_token_cast_back": "x, fmt, num_per_channels, x_special_fmt=None",
    "per_token_cast_and_cast_back": ("x, fmt, num_per_channels, round_sf=False, use_e4m3_sf=False"),
    "swiglu_forward": f"x, fmt, {SWIGLU}, clamp_value=None, clamped_count=None",
    "swiglu_forward_and_per_token_cast": (
        f"x, fmt, num_per_channels, {SWIGLU}, {SF}, clamp_value=None, clamped_count=None"
    ),
    "swiglu_backward": (f"x, act_x_grad, fmt, {SWIGLU}, clamp_value=None, do_recompute=False"),
    "swiglu_backward_and_per_token_cast": (
        f"x, act_x_grad, fmt, num_per_channels, {SWIGLU}, {SF}, clamp_value=None, "
        "do_recompute=False"
    ),
    "norm_forward": "x, weight, eps, residual=None, out_scale=1.0, out=None, residual_out=None",
    "norm_forward_and_per_token_cast": (
        f"x, weight, eps, fmt, num_per_channels, residual=None, out_scale=1.0, {SF}, "
        "with_out_bf16=False, out=None, out_bf16=None, residual_out=None, mega_moe_sf=None, "
        "mega_moe_block_m=0"
    ),
    "norm_backward": (
        "out_grad, x, weight, rstd, residual_out_grad=None, out_scale=1.0, weight_grad=None"
    ),
    "cast": "x, dtype, stochastic_rounding=False",
    "per_block_cast_lossless": f"x, fmt, x_block_size, out_block_size, {SF}",
    "batched_transpose_weight_sf": "sf, block_size, transpose_sf1s, outs",
    "per_channel_cast_fused": (
        "x, fmt, num_per_tokens, round_sf=False, num_per_channels=None, pos_to_token=None"
    ),
    "per_channel_cast_and_transpose": "x, fmt, num_per_tokens, round_sf=False",
    "swiglu_forward_and_per_channel_cast_and_transpose": (
        "x, fmt, num_per_tokens, round_sf=False, without_transpose=False, swiglu_clamp_value=None"
    ),
    "unpack_from_e2m1fn_x2": "x, out_dtype=torch.float32",
}
OURS = {"get_packed_ue8m0_pack_factor", "set_packed_ue8m0_pack_factor"}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signature(name):
    parts = []
    for item in inspect.signature(getattr(quant, name)).parameters.values():
        if item.kind is item.KEYWORD_ONLY:  # what we add stands behind the published parameters
            continue
        default = "" if item.default is item.empty else f"={item.default!r}"
        parts.append(f"{item.name}{default}")
    assert ", ".join(parts) == SIGNATURES[name]


def test_public_names():
    assert set(quant.__all__) == set(SIGNATURES) | OURS
    assert all(hasattr(quant, name) for name in quant.__all__)


def test_internal_names_that_others_import():
    from tile_kernels.quant import common, types

    text = """
        BaseCastConfig CastInputConfig CastOutputConfig get_cast_input_and_config
        get_cast_output_config get_sf_shape alloc_scaling_factors cast_epilogue
        get_logical_hidden get_physical_hidden unpack_from_e2m1fn_x2
        get_packed_ue8m0_pack_factor get_packed_ue8m0_torch_dtype
    """
    assert set(text.split()) <= set(common.__all__)
    assert types.__all__ == ["QuantTensor"]
