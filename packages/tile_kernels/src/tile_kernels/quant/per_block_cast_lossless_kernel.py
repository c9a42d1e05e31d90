"""The exact change from e2m1 to e4m3 (tile_kernels.md section 4.7)."""

from __future__ import annotations

import torch

from tile_kernels import config as settings
from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.quant import common
from tile_kernels.quant.block_cast_kernel import band_of, check_blocks
from tile_kernels.quant.cast_plan import make_plan, plan_lossless
from tile_kernels.quant.types import QuantTensor
from tile_kernels.utils import ceil_div

__all__ = ["per_block_cast_lossless"]

HIDDEN_MULTIPLE = 64

Block = tuple[int, int]


def per_block_cast_lossless(
    x: QuantTensor,
    fmt: str,
    x_block_size: Block,
    out_block_size: Block,
    use_tma_aligned_col_major_sf: bool = False,
    round_sf: bool = False,
    use_packed_ue8m0: bool = False,
) -> QuantTensor:
    """Turns e2m1 data with power-of-two scales into e4m3 data of the same numbers.

    Args:
        x: (int8 [tokens, hidden / 2], scales): rows may be strided, hidden a multiple of 64; the
            scales are fp32 powers of two or packed exponent bytes in any layout.
        fmt: ``"e4m3"``.
        x_block_size: (tokens, channels) of an input scale.
        out_block_size: (tokens, channels) of an output scale, multiples of x_block_size.
        use_tma_aligned_col_major_sf, use_packed_ue8m0: form of the new scales, as in
            `per_token_cast`.
        round_sf: changes nothing, the new scales are powers of two; use_packed_ue8m0 needs it.

    Returns:
        (e4m3 [tokens, hidden], scales).

    Raises:
        TileKernelsValueError, TileKernelsTypeError: a shape, dtype or option that is not allowed.
        LaunchError: a scale is no power of two, or those inside an output block differ by more than
            a factor 2 ** 11; contents of the results are then undefined.
    """
    if fmt != "e4m3":
        raise TileKernelsValueError(f"fmt got {fmt!r}; allowed: 'e4m3'")
    data, sf_in, in_config = common.get_cast_input_and_config(x, x_block_size)
    if sf_in is None or data.dtype != torch.int8:
        raise TileKernelsTypeError(f"x[0] has dtype {data.dtype}; allowed: int8 (e2m1 codes)")
    if in_config.use_e4m3_sf or in_config.sf_layout.kind == "packed_channel":
        raise TileKernelsValueError(
            f"x[1] is {sf_in.dtype} for blocks of {in_config.sf_block}; wanted float32, or packed "
            "exponent bytes of blocks with more than one channel"
        )
    block = (int(out_block_size[0]), int(out_block_size[1]))
    if min(block) < 1 or block[0] % in_config.sf_block[0] or block[1] % in_config.sf_block[1]:
        raise TileKernelsValueError(
            f"out_block_size got {block}; wanted multiples of x_block_size {in_config.sf_block}"
        )
    tokens, hidden = data.shape[0], 2 * data.shape[1]
    check_blocks("per_block_cast_lossless", hidden, HIDDEN_MULTIPLE)
    config = common.get_cast_output_config(
        fmt, block, use_tma_aligned_col_major_sf, round_sf, use_packed_ue8m0
    )
    if config.sf_layout.kind == "packed_channel":
        raise TileKernelsValueError("use_packed_ue8m0 needs output blocks of several channels")
    out = torch.empty((tokens, hidden), dtype=config.torch_dtype, device=data.device)
    sf = common.cast_epilogue(
        common.alloc_scaling_factors((tokens, hidden), config, data.device), config
    )
    if out.numel():
        _launch(data, sf_in, in_config, out, sf, config)
    return out, sf


def _launch(
    data: torch.Tensor,
    sf_in: torch.Tensor,
    in_config: common.CastInputConfig,
    out: torch.Tensor,
    sf: torch.Tensor,
    config: common.CastOutputConfig,
) -> None:
    plan = make_plan(
        "cast", "int8", "float8_e4m3fn", "e4m3", band_of(in_config), band_of(config),
        settings.get_num_vec_cores(),
    )  # fmt: skip
    fast = plan_lossless(plan)
    if fast is not None:
        from tile_kernels.quant.e2m1_to_e4m3_asc import e2m1_to_e4m3

        across = ceil_div(out.shape[1], fast.cols)
        is_turned = fast.sf.layout.is_column_major
        e2m1_to_e4m3(
            data, common.sf_items(sf_in, in_config), out,
            common.sf_items(sf, config, words=is_turned),
            ceil_div(out.shape[0], fast.rows) * across, across, plan=fast,
        )  # fmt: skip
        return
    from tile_kernels.quant.per_block_cast_lossless_asc import lossless_cast

    across = ceil_div(out.shape[1], plan.cols * plan.subs)
    lossless_cast(
        data, common.sf_items(sf_in, in_config), out, common.sf_items(sf, config),
        ceil_div(out.shape[0], plan.rows) * across, across, plan=plan,
    )  # fmt: skip
