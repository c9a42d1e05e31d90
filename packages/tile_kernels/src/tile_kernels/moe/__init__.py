"""Routing of a mixture of experts: gates, mappings, moving and reducing rows.

Index -1 means "no expert"; ties go to the smaller index everywhere (tile_kernels.md section 5).
"""

from tile_kernels.moe import scoring
from tile_kernels.moe.aux_fi_kernel import aux_fi
from tile_kernels.moe.expand_to_fused_kernel import expand_to_fused, expand_to_fused_with_sf
from tile_kernels.moe.get_fused_mapping_kernel import get_fused_mapping
from tile_kernels.moe.group_count_kernel import group_count
from tile_kernels.moe.inplace_unique_group_indices_kernel import inplace_unique_group_indices
from tile_kernels.moe.mask_indices_by_tp_kernel import mask_indices_by_tp
from tile_kernels.moe.moe_topk_gate_kernel import (
    moe_topk_gate,
    moe_topk_gate_backward,
    moe_topk_gate_forward,
)
from tile_kernels.moe.normalize_weight_kernel import normalize_weight
from tile_kernels.moe.reduce_fused_kernel import reduce_fused
from tile_kernels.moe.top2_sum_gate_kernel import top2_sum_gate
from tile_kernels.moe.topk_gate_kernel import topk_gate
from tile_kernels.moe.topk_sum_and_topk_group_idx_kernel import topk_sum_and_topk_group_idx

# fmt: off
__all__ = [
    # Gates
    "topk_gate", "normalize_weight", "topk_sum_and_topk_group_idx", "scoring",
    "moe_topk_gate", "moe_topk_gate_forward", "moe_topk_gate_backward", "top2_sum_gate",
    # Indices
    "aux_fi", "group_count", "inplace_unique_group_indices", "mask_indices_by_tp",
    # Rows
    "get_fused_mapping", "expand_to_fused", "expand_to_fused_with_sf", "reduce_fused",
]
# fmt: on
