"""References in plain torch for tests: exact, or in float64; never called by the operators."""

from tile_kernels.torch.cast_elements import (
    cast_elements,
    cast_to_bf16_at_random,
    cast_to_e4m3_at_random,
)
from tile_kernels.torch.channel_cast import batched_transpose_weight_sf, per_channel_cast_fused
from tile_kernels.torch.e5m6 import cast_back_from_e5m6, cast_to_e5m6
from tile_kernels.torch.gate import (
    moe_topk_gate_backward,
    moe_topk_gate_forward,
    top2_sum_gate,
)
from tile_kernels.torch.moe import (
    aux_fi,
    expand_to_fused,
    expand_to_fused_with_sf,
    group_count,
    inplace_unique_group_indices,
    mask_indices_by_tp,
    normalize_weight,
    reduce_fused,
    stable_topk,
    topk_sum_and_topk_group_idx,
)
from tile_kernels.torch.norm import norm_backward_ref, norm_forward_ref
from tile_kernels.torch.quant_cast import cast, cast_back
from tile_kernels.torch.rotary import rotary_embedding_ref
from tile_kernels.torch.swiglu import get_mapping_from_psum, swiglu_backward, swiglu_forward

# fmt: off
__all__ = [
    # Routing
    "stable_topk", "topk_sum_and_topk_group_idx", "normalize_weight", "group_count", "aux_fi",
    "mask_indices_by_tp", "inplace_unique_group_indices",
    "moe_topk_gate_forward", "moe_topk_gate_backward", "top2_sum_gate",
    # Rows
    "expand_to_fused", "expand_to_fused_with_sf", "reduce_fused",
    # Quantisation
    "cast", "cast_back", "cast_to_e5m6", "cast_back_from_e5m6", "cast_elements",
    "cast_to_bf16_at_random", "cast_to_e4m3_at_random", "per_channel_cast_fused",
    "batched_transpose_weight_sf",
    "swiglu_forward", "swiglu_backward", "get_mapping_from_psum",
    "norm_forward_ref", "norm_backward_ref",
    # Transform
    "rotary_embedding_ref",
]
# fmt: on
