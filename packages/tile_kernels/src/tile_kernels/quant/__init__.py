"""Quantisation: casts with scales, SwiGLU and RMSNorm with a cast (tile_kernels.md section 4)."""

from tile_kernels.quant.batched_transpose_weight_sf_kernel import batched_transpose_weight_sf
from tile_kernels.quant.cast_back_kernel import cast_back, per_token_cast_back
from tile_kernels.quant.cast_kernel import cast
from tile_kernels.quant.common import (
    get_packed_ue8m0_pack_factor,
    set_packed_ue8m0_pack_factor,
    unpack_from_e2m1fn_x2,
)
from tile_kernels.quant.norm_backward_kernel import norm_backward
from tile_kernels.quant.norm_forward_and_per_token_cast_kernel import (
    norm_forward_and_per_token_cast,
)
from tile_kernels.quant.norm_forward_kernel import norm_forward
from tile_kernels.quant.per_block_cast_kernel import (
    per_block_cast,
    per_block_cast_with_precomputed_sf,
    per_block_cast_with_sf_only,
)
from tile_kernels.quant.per_block_cast_lossless_kernel import per_block_cast_lossless
from tile_kernels.quant.per_channel_cast_fused_kernel import (
    per_channel_cast_and_transpose,
    per_channel_cast_fused,
)
from tile_kernels.quant.per_channel_cast_kernel import per_channel_cast
from tile_kernels.quant.per_token_cast_and_cast_back_kernel import per_token_cast_and_cast_back
from tile_kernels.quant.per_token_cast_kernel import (
    per_token_cast,
    per_token_cast_with_precomputed_sf,
    per_token_cast_with_sf_only,
)
from tile_kernels.quant.swiglu_backward_and_per_token_cast_kernel import (
    swiglu_backward_and_per_token_cast,
)
from tile_kernels.quant.swiglu_backward_kernel import swiglu_backward
from tile_kernels.quant.swiglu_forward_and_per_channel_cast_and_transpose_kernel import (
    swiglu_forward_and_per_channel_cast_and_transpose,
)
from tile_kernels.quant.swiglu_forward_kernel import (
    swiglu_forward,
    swiglu_forward_and_per_token_cast,
)

# fmt: off
__all__ = [
    # Per token
    "per_token_cast", "per_token_cast_with_precomputed_sf", "per_token_cast_with_sf_only",
    "per_token_cast_and_cast_back",
    # Per block and per channel
    "per_block_cast", "per_block_cast_with_precomputed_sf", "per_block_cast_with_sf_only",
    "per_block_cast_lossless", "per_channel_cast", "per_channel_cast_fused",
    "per_channel_cast_and_transpose",
    # Element-wise
    "cast",
    # SwiGLU
    "swiglu_forward", "swiglu_forward_and_per_token_cast",
    "swiglu_forward_and_per_channel_cast_and_transpose", "swiglu_backward",
    "swiglu_backward_and_per_token_cast",
    # RMSNorm
    "norm_forward", "norm_forward_and_per_token_cast", "norm_backward",
    # Scales of weights, words of packed scales
    "batched_transpose_weight_sf",
    "get_packed_ue8m0_pack_factor", "set_packed_ue8m0_pack_factor",
    # Back to numbers
    "cast_back", "per_token_cast_back", "unpack_from_e2m1fn_x2",
]
# fmt: on
