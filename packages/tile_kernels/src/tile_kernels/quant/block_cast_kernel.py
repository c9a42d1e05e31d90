"""Runs the block cast kernel: the part that per-token, per-block and per-channel casts share.

The public functions check their own options and call `run_cast` (tile_kernels.md section 4).
"""

from __future__ import annotations

from dataclasses import replace

import torch

from tile_kernels import config as settings
from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.quant import common
from tile_kernels.quant.cast_plan import (
    Band,
    CastPlan,
    make_plan,
    plan_given_cast,
    plan_recast,
    plan_rows_cast,
    plan_token_cast,
)
from tile_kernels.quant.common import BaseCastConfig, CastInputConfig, CastOutputConfig
from tile_kernels.quant.row_cast_kernel import launch_row_cast, launch_row_scaled, takes_rows
from tile_kernels.utils import ceil_div

__all__ = [
    "band_of", "check_blocks", "dtype_name", "launch_rows_cast", "output_or_new", "run_cast",
    "run_round_trip",
]  # fmt: skip

LARGEST_CODE = {"e4m3": 448.0, "e2m1": 6.0}
SMALLEST_E4M3 = 2.0**-9


def dtype_name(dtype: torch.dtype) -> str:
    """Returns TileLang's name of a dtype."""
    return str(dtype).removeprefix("torch.")


def band_of(config: BaseCastConfig) -> Band:
    """Returns a configuration's scales as a plan describes them."""
    if config.sf_block == (0, 0):
        return Band()
    dtype = "uint8" if config.use_packed_ue8m0 else dtype_name(config.sf_torch_dtype)
    return Band(config.sf_block, config.sf_layout, dtype)


def check_blocks(name: str, hidden: int, multiple: int) -> None:
    """Raises a TileKernelsValueError if hidden is no multiple."""
    if hidden % multiple:
        raise TileKernelsValueError(
            f"{name}: hidden is {hidden}, allowed are multiples of {multiple}; pad x"
        )


def run_cast(
    x: torch.Tensor,
    sf_in: torch.Tensor | None,
    in_config: CastInputConfig,
    config: CastOutputConfig,
    *,
    sf: torch.Tensor | None = None,
    out: torch.Tensor | None = None,
    out_sf: torch.Tensor | None = None,
    new_sf: torch.Tensor | None = None,
    want_data: bool = True,
    stochastic: bool = False,
) -> tuple[torch.Tensor | None, torch.Tensor]:
    """Casts a checked input.

    Args:
        x: data [tokens, items]; `sf_in` its scales or None.
        in_config: format of x.
        config: format of the output.
        sf: scales to use instead of new ones.
        out: codes to write; None allocates.
        out_sf: scales to write, given by the user; None allocates.
        new_sf: scales to write, made by the caller in the layout of `config`.
        want_data: False makes scales only.
        stochastic: rounds codes up or down at random, by position and value.

    Returns:
        (codes or None, scales).
    """
    tokens, hidden = x.shape[0], common.get_logical_hidden(x.shape[1], x.dtype)
    shape = (tokens, common.get_physical_hidden(hidden, config.torch_dtype))
    if sf is not None:
        config = _config_of_given(sf, config)
        common.check_sf("sf", sf, (tokens, hidden), config)
    codes = output_or_new(out, shape, config.torch_dtype, x.device) if want_data else None
    scales = sf if sf is not None else new_sf
    if scales is None:
        scales = _scales_for(out_sf, (tokens, hidden), config, x.device)
    by_rows = sf_in is None and not stochastic
    if not tokens or not hidden:
        pass
    elif by_rows and takes_rows(hidden, config, x.dtype, config.torch_dtype):
        if sf is None:
            launch_row_cast(x, codes, scales, config)
        else:
            assert codes is not None
            launch_row_scaled(x, sf, config, codes, config.fmt)
    else:
        mode = "data" if sf is not None else "cast" if want_data else "sf"
        plan = make_plan(
            mode, dtype_name(x.dtype), dtype_name(config.torch_dtype), config.fmt,
            band_of(in_config), band_of(config), settings.get_num_vec_cores(), stochastic,
        )  # fmt: skip
        _launch(plan, x, sf_in, in_config, codes, scales, config)
    return codes, scales


def run_round_trip(x: torch.Tensor, config: CastOutputConfig) -> None:
    """Replaces x by its values after a cast and a cast back."""
    if x.numel():
        name = dtype_name(x.dtype)
        plan = make_plan(
            "round_trip", name, name, config.fmt, Band(), band_of(config),
            settings.get_num_vec_cores(),
        )  # fmt: skip
        _launch(plan, x, None, CastInputConfig(x.dtype, (0, 0)), x, None, config)


def _launch(
    plan: CastPlan,
    x: torch.Tensor,
    sf_in: torch.Tensor | None,
    in_config: CastInputConfig,
    codes: torch.Tensor | None,
    scales: torch.Tensor | None,
    config: CastOutputConfig,
) -> None:
    hidden = common.get_logical_hidden(x.shape[1], x.dtype)
    codes_or_none = codes if codes is not None else _unused(plan.out_dtype, x.device)
    fast = plan_token_cast(plan)
    if fast is not None and not _has_zero_scales(config):
        from tile_kernels.quant.token_cast_asc import token_cast

        is_turned = fast.sf.layout.kind == "packed_col"
        across = ceil_div(hidden, fast.cols)
        token_cast(
            x, codes_or_none, _items(scales, config, fast.sf.dtype, x.device, words=is_turned),
            common.float_bits(config.clamp_min_value), ceil_div(x.shape[0], fast.rows) * across,
            across, plan=fast, round_sf=config.round_sf,
        )  # fmt: skip
        return
    fast = plan_given_cast(plan)
    if fast is not None:
        from tile_kernels.quant.given_cast_asc import given_cast

        across = ceil_div(hidden, fast.cols)
        given_cast(
            x, _items(scales, config, fast.sf.dtype, x.device), codes_or_none,
            ceil_div(x.shape[0], fast.rows) * across, across, plan=fast,
        )  # fmt: skip
        return
    fast = plan_recast(plan)
    if fast is not None:
        from tile_kernels.quant.recast_asc import recast

        assert sf_in is not None
        is_turned = fast.sf.layout.kind == "packed_col"
        across = ceil_div(hidden, fast.cols)
        recast(
            x.view(torch.uint8) if x.dtype == torch.float8_e4m3fn else x,
            common.sf_items(sf_in, in_config), codes_or_none,
            _items(scales, config, fast.sf.dtype, x.device, words=is_turned),
            common.float_bits(config.clamp_min_value), ceil_div(x.shape[0], fast.rows) * across,
            across, plan=fast, round_sf=config.round_sf,
        )  # fmt: skip
        return
    fast = plan_rows_cast(plan)
    if fast is not None:
        assert scales is not None
        items = None if sf_in is None else common.sf_items(sf_in, in_config)
        launch_rows_cast(fast, x, None, codes_or_none, scales, config, x.shape[0], items)
        return
    from tile_kernels.quant.block_cast_asc import block_cast

    across = ceil_div(hidden, plan.cols * plan.subs)
    block_cast(
        x,
        _items(sf_in, in_config, plan.sf_in.dtype, x.device),
        codes_or_none,
        _items(scales, config, plan.sf.dtype, x.device),
        common.float_bits(config.clamp_min_value), int(config.round_sf),
        ceil_div(x.shape[0], plan.rows) * across, across,
        plan=plan,
    )  # fmt: skip


def _has_zero_scales(config: CastOutputConfig) -> bool:
    """Scales may be e4m3 numbers so small that they round to 0."""
    least = config.clamp_min_value / LARGEST_CODE[config.fmt]
    return config.use_e4m3_sf and least < SMALLEST_E4M3


def launch_rows_cast(
    plan: CastPlan,
    x: torch.Tensor,
    pos_to_token: torch.Tensor | None,
    codes: torch.Tensor,
    scales: torch.Tensor,
    config: CastOutputConfig,
    tokens: int,
    sf_in: torch.Tensor | None = None,
    swiglu: bool = False,
    clamp_value: float | None = None,
) -> None:
    """Runs the kernel of a plan by `plan_rows_cast`; `run_channel_cast` tells what options mean."""
    from tile_kernels.quant.rows_cast_asc import rows_cast

    across = ceil_div(x.shape[1] // 2 if swiglu else x.shape[1], plan.cols)
    rows_cast(
        x,
        _unused(plan.sf_in.dtype, x.device) if sf_in is None else sf_in,
        _unused("int32", x.device)[0] if pos_to_token is None else pos_to_token,
        codes, common.sf_items(scales, config),
        common.float_bits(config.clamp_min_value), 0.0 if clamp_value is None else clamp_value,
        tokens, ceil_div(tokens, plan.rows) * across, across,
        plan=plan, round_sf=config.round_sf, gathers=pos_to_token is not None, swiglu=swiglu,
        has_limit=clamp_value is not None,
    )  # fmt: skip


def _items(
    sf: torch.Tensor | None,
    config: BaseCastConfig,
    dtype: str,
    device: torch.device,
    words: bool = False,
) -> torch.Tensor:
    return _unused(dtype, device) if sf is None else common.sf_items(sf, config, words)


def _unused(dtype: str, device: torch.device) -> torch.Tensor:
    return torch.empty((1, 1), dtype=getattr(torch, dtype), device=device)


def _config_of_given(sf: torch.Tensor, config: CastOutputConfig) -> CastOutputConfig:
    found = common.input_config(config.torch_dtype, sf, config.sf_block)
    return replace(
        config, use_tma_aligned_col_major_sf=found.use_tma_aligned_col_major_sf,
        use_packed_ue8m0=found.use_packed_ue8m0, use_e4m3_sf=found.use_e4m3_sf,
        pack_factor=found.pack_factor,
    )  # fmt: skip


def output_or_new(
    out: torch.Tensor | None, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device
) -> torch.Tensor:
    """Returns `out` after a check of its form, or a new tensor of that form."""
    if out is None:
        return torch.empty(shape, dtype=dtype, device=device)
    if out.dtype != dtype:
        raise TileKernelsTypeError(f"out has dtype {out.dtype}, wanted {dtype}")
    if tuple(out.shape) != shape or out.device != device or not out.is_contiguous():
        raise TileKernelsValueError(
            f"out is {tuple(out.shape)} on {out.device} with stride {tuple(out.stride())}; wanted "
            f"a contiguous {shape} on {device}"
        )
    return out


def _scales_for(
    out_sf: torch.Tensor | None,
    shape: tuple[int, int],
    config: CastOutputConfig,
    device: torch.device,
) -> torch.Tensor:
    if out_sf is None:
        return common.cast_epilogue(common.alloc_scaling_factors(shape, config, device), config)
    if config.sf_layout.is_column_major:
        raise TileKernelsValueError(
            "out_sf must be row-major: drop use_tma_aligned_col_major_sf or out_sf"
        )
    wanted = common.get_sf_shape(shape, config)
    if tuple(out_sf.shape) != wanted or out_sf.dtype != config.sf_torch_dtype:
        raise TileKernelsValueError(
            f"out_sf is {tuple(out_sf.shape)} {out_sf.dtype}; wanted {wanted} "
            f"{config.sf_torch_dtype}"
        )
    if not out_sf.is_contiguous() or out_sf.device != device:
        raise TileKernelsValueError(f"out_sf must be contiguous and on {device}")
    return out_sf
