"""`moe_topk_gate_forward` and `moe_topk_gate_backward`: routing with biases, masks and copies."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from tile_kernels._checks import check_same_device, check_shape, check_tensor, check_whole
from tile_kernels.config import get_num_vec_cores
from tile_kernels.errors import TileKernelsValueError
from tile_kernels.moe.scoring import ScoringFunc
from tile_kernels.moe.topk_gate_kernel import row_width
from tile_kernels.utils import next_power_of_two

__all__ = ["GateOptions", "moe_topk_gate", "moe_topk_gate_backward", "moe_topk_gate_forward"]

MAX_SLOTS = 1024  # also the most groups
_SMALLEST_ROOM = 64  # of slots and groups: few different sizes, so that few kernels are built
_TILE_BYTES = 144 * 1024


@dataclass
class GateOptions:
    """What the gates share beside the logits; absent tensors are None.

    Attributes:
        num_shared: slots behind the routed ones, expert index E, E + 1, ..., weight 1.
        num_groups, num_topk_groups: equal when groups are not limited.
        per_gpu: experts a rank for the renumbering by TP rank, 0 = none.
    """

    bias: torch.Tensor | None = None
    image_bias: torch.Tensor | None = None
    image_token_mask: torch.Tensor | None = None
    mask: torch.Tensor | None = None
    fix_routing_mask: torch.Tensor | None = None
    force_random: torch.Tensor | None = None
    to_physical_map: torch.Tensor | None = None
    logical_count: torch.Tensor | None = None
    unmapped_topk_idx: torch.Tensor | None = None
    scores: torch.Tensor | None = None
    out: tuple[torch.Tensor, torch.Tensor] | None = None
    num_shared: int = 0
    num_groups: int = 1
    num_topk_groups: int = 1
    routed_scaling_factor: float = 1.0
    ep_rank: int = 0
    per_gpu: int = 0
    tp_rank: int = 0
    num_tp_ranks: int = 1
    scoring: ScoringFunc = field(default=ScoringFunc.SQRTSOFTPLUS)


def moe_topk_gate_forward(
    logits: torch.Tensor,
    num_topk: int,
    use_shared_as_routed: bool,
    num_shared_experts: int,
    routed_scaling_factor: float,
    ep_rank: int,
    scoring_func: str = "sqrtsoftplus",
    mask: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    image_bias: torch.Tensor | None = None,
    image_token_mask: torch.Tensor | None = None,
    fix_routing_mask: torch.Tensor | None = None,
    to_physical_map: torch.Tensor | None = None,
    logical_count: torch.Tensor | None = None,
    unmapped_topk_idx: torch.Tensor | None = None,
    force_random: torch.Tensor | None = None,
    out: tuple[torch.Tensor, torch.Tensor] | None = None,
    scores: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Selects experts by score + bias; the weights are the scores without bias, normalised.

    Args:
        logits: fp32 [tokens, E], contiguous, finite, E at most 4096.
        num_topk: routed experts a token, k.
        use_shared_as_routed: add S = num_shared_experts slots with expert E + j and weight 1.
        num_shared_experts: S.
        routed_scaling_factor: multiplies the normalised weights: u / (1e-20 + sum u) * factor.
        ep_rank: spreads tokens over copies of an expert together with the token's index.
        scoring_func: ``sqrtsoftplus``, ``sigmoid``, ``softmax`` (selects by logit + bias) or
            ``identity``.
        mask: bool [tokens]; False gives index -1 and weight 0.
        bias: fp32 [E].
        image_bias: fp32 [E], takes the place of `bias` where `image_token_mask` (bool [tokens]) is
            True; both or none.
        fix_routing_mask: bool [tokens]; True takes the experts from `unmapped_topk_idx`.
        to_physical_map: int32 [E + S, D], copies of each expert; `logical_count`: int32 [E + S],
            how many it has. Copy (ep_rank + token * 23333) % count serves a token.
        unmapped_topk_idx: int64 [tokens, k], the selected experts before mapping; written unless
            fixed, -1 for masked and random tokens.
        force_random: bool [tokens]; True draws distinct physical experts and weights at random.
        out: topk_idx and topk_weights to write to.
        scores: fp32 [tokens, E], receives the scores; 0 for masked and random tokens.

    Returns:
        topk_idx int64 [tokens, k + S] and topk_weights fp32 of the same shape.

    Raises:
        TileKernelsTypeError, TileKernelsValueError: an argument that is not as above.
        LaunchError: a logit is NaN or infinite, or a fixed index is no expert.
    """
    options = GateOptions(
        bias=bias,
        image_bias=image_bias,
        image_token_mask=image_token_mask,
        mask=mask,
        fix_routing_mask=fix_routing_mask,
        force_random=force_random,
        to_physical_map=to_physical_map,
        logical_count=logical_count,
        unmapped_topk_idx=unmapped_topk_idx,
        scores=scores,
        out=out,
        num_shared=_shared(use_shared_as_routed, num_shared_experts),
        routed_scaling_factor=routed_scaling_factor,
        ep_rank=ep_rank,
        scoring=ScoringFunc.from_str(scoring_func),
    )
    return run_gate(logits, num_topk, options)


moe_topk_gate = moe_topk_gate_forward


def moe_topk_gate_backward(
    scores: torch.Tensor,
    topk_idx: torch.Tensor,
    topk_weights: torch.Tensor,
    grad_topk_weights: torch.Tensor,
    routed_scaling_factor: float,
    scoring_func: str = "sqrtsoftplus",
    mask: torch.Tensor | None = None,
    grad_scores_sum: torch.Tensor | None = None,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Gradient of the logits from that of the weights, and from that of a balance loss.

    Args:
        scores: fp32 [tokens, E], as the forward wrote them.
        topk_idx: int64 [tokens, k], logical experts; others than 0 to E - 1 take no part, repeated
            ones add up.
        topk_weights: fp32 [tokens, k], as the forward returned them.
        grad_topk_weights: fp32 [tokens, k].
        routed_scaling_factor: as in the forward.
        scoring_func: as in the forward.
        mask: bool [tokens]; False gives a gradient of exactly 0.
        grad_scores_sum: fp32 [sequences, E], gradient of the sums over each sequence's tokens of
            scores divided by their row sum; needs `mask`, tokens is a multiple of sequences.
        out: fp32 [tokens, E] to write to.

    Returns:
        fp32 [tokens, E].

    Raises:
        TileKernelsTypeError, TileKernelsValueError: an argument that is not as above.
    """
    check_tensor("scores", scores, (torch.float32,), 2)
    check_tensor("topk_idx", topk_idx, (torch.int64,), 2)
    tokens, experts = scores.shape
    check_shape("topk_idx", topk_idx, (tokens, topk_idx.shape[1]))
    pairs = {"topk_weights": topk_weights, "grad_topk_weights": grad_topk_weights}
    for name, tensor in pairs.items():
        check_tensor(name, tensor, (torch.float32,), 2)
        check_shape(name, tensor, topk_idx.shape)
    _check_flags("mask", mask, tokens)
    scoring = ScoringFunc.from_str(scoring_func)
    if grad_scores_sum is not None:
        _check_sums(grad_scores_sum, mask, tokens, experts)
    if out is None:
        out = torch.empty_like(scores)
    check_tensor("out", out, (torch.float32,), 2)
    check_shape("out", out, scores.shape)
    check_same_device(scores=scores, topk_idx=topk_idx, mask=mask, out=out, **pairs)
    width = row_width(experts)
    if tokens:
        from tile_kernels.moe.moe_topk_gate_backward_asc import gate_backward

        flags = _flags(mask, scores.device)
        sums = scores.new_empty((0, experts)) if grad_scores_sum is None else grad_scores_sum
        gate_backward(
            scores, topk_idx, topk_weights, grad_topk_weights, flags, sums, out,
            float(routed_scaling_factor), scoring=int(scoring),
            with_sums=grad_scores_sum is not None, width=width, cores=get_num_vec_cores(),
        )  # fmt: skip
    return out


def run_gate(
    logits: torch.Tensor, num_topk: int, options: GateOptions
) -> tuple[torch.Tensor, torch.Tensor]:
    """Checks everything, allocates and launches; the gates' wrappers share it."""
    check_tensor("logits", logits, (torch.float32,), 2)
    tokens, experts = logits.shape
    check_whole("num_topk", num_topk, 1, experts)
    check_whole("ep_rank", options.ep_rank, 0)
    slots = num_topk + options.num_shared
    check_whole("num_topk plus shared experts", slots, 1, MAX_SLOTS)
    physical = _check_options(options, tokens, experts, num_topk)
    if options.out is None:
        topk_idx = torch.empty((tokens, slots), dtype=torch.int64, device=logits.device)
        topk_weights = torch.empty((tokens, slots), dtype=torch.float32, device=logits.device)
    else:
        topk_idx, topk_weights = options.out
        for name, tensor, dtype in (
            ("out[0]", topk_idx, torch.int64),
            ("out[1]", topk_weights, torch.float32),
        ):
            check_tensor(name, tensor, (dtype,), 2)
            check_shape(name, tensor, (tokens, slots))
    if tokens:
        _launch(logits, num_topk, options, physical, (topk_idx, topk_weights))
    return topk_idx, topk_weights


def _check_options(options: GateOptions, tokens: int, experts: int, num_topk: int) -> int:
    """Returns the number of physical experts."""
    for name in ("mask", "image_token_mask", "fix_routing_mask", "force_random"):
        _check_flags(name, getattr(options, name), tokens)
    for name in ("bias", "image_bias"):
        tensor = getattr(options, name)
        if tensor is not None:
            check_tensor(name, tensor, (torch.float32,), 1)
            check_shape(name, tensor, (experts,))
    if (options.image_bias is None) != (options.image_token_mask is None):
        raise TileKernelsValueError("image_bias and image_token_mask: give both or none")
    if options.unmapped_topk_idx is not None:
        check_tensor("unmapped_topk_idx", options.unmapped_topk_idx, (torch.int64,), 2)
        check_shape("unmapped_topk_idx", options.unmapped_topk_idx, (tokens, num_topk))
    elif options.fix_routing_mask is not None:
        raise TileKernelsValueError("fix_routing_mask needs unmapped_topk_idx with the experts")
    if options.scores is not None:
        check_tensor("scores", options.scores, (torch.float32,), 2)
        check_shape("scores", options.scores, (tokens, experts))
    return (
        _check_map(options, experts + options.num_shared)
        if (options.to_physical_map is not None or options.logical_count is not None)
        else experts + options.num_shared
    )


def _check_map(options: GateOptions, logical: int) -> int:
    table, counts = options.to_physical_map, options.logical_count
    if table is None or counts is None:
        raise TileKernelsValueError("to_physical_map and logical_count: give both or none")
    check_tensor("to_physical_map", table, (torch.int32,), 2)
    check_tensor("logical_count", counts, (torch.int32,), 1)
    check_shape("to_physical_map", table, (logical, table.shape[1]))
    check_shape("logical_count", counts, (logical,))
    return logical - options.num_shared + table.shape[1] - 1


def _check_flags(name: str, value: torch.Tensor | None, tokens: int) -> None:
    if value is not None:
        check_tensor(name, value, (torch.bool,), 1)
        check_shape(name, value, (tokens,))


def _check_sums(sums: torch.Tensor, mask: torch.Tensor | None, tokens: int, experts: int) -> None:
    check_tensor("grad_scores_sum", sums, (torch.float32,), 2)
    check_shape("grad_scores_sum", sums, (sums.shape[0], experts))
    if mask is None:
        raise TileKernelsValueError("grad_scores_sum needs mask; pass torch.ones(tokens).bool()")
    if not sums.shape[0] or tokens % sums.shape[0]:
        raise TileKernelsValueError(
            f"tokens got {tokens}, wanted a multiple of the {sums.shape[0]} rows of grad_scores_sum"
        )


def _shared(use_shared_as_routed: bool, num_shared_experts: int) -> int:
    check_whole("num_shared_experts", num_shared_experts, 0)
    return num_shared_experts if use_shared_as_routed else 0


def _flags(value: torch.Tensor | None, device: torch.device) -> torch.Tensor:
    if value is None:
        return torch.empty(0, dtype=torch.uint8, device=device)
    return value.view(torch.uint8)


def _plan(width: int, slots: int, num_groups: int) -> dict[str, int]:
    """Sizes of the kernel's tiles: what a row takes of the unified buffer limits the rows."""
    room = max(_SMALLEST_ROOM, next_power_of_two(max(slots, num_groups)))
    rows = _TILE_BYTES // (8 * width + 28 * room)
    return {"width": width, "room": room, "rows": max(2, min(16, rows // 2 * 2))}


def _launch(
    logits: torch.Tensor,
    num_topk: int,
    options: GateOptions,
    physical: int,
    results: tuple[torch.Tensor, torch.Tensor],
) -> None:
    from tile_kernels.moe.gate_asc import gate

    device, (tokens, experts) = logits.device, logits.shape
    topk_idx, topk_weights = results
    cores = get_num_vec_cores()
    plan = _plan(row_width(physical), topk_idx.shape[1], options.num_groups)

    def given(value: torch.Tensor | None, dtype: torch.dtype, *shape: int) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device=device) if value is None else value

    kinds = (
        options.image_token_mask,
        options.mask,
        options.fix_routing_mask,
        options.force_random,
    )
    gate(
        logits,
        given(options.bias, torch.float32, 0),
        given(options.image_bias, torch.float32, 0),
        *(_flags(value, device) for value in kinds),
        given(options.to_physical_map, torch.int32, 0, 1),
        given(options.logical_count, torch.int32, 0),
        given(options.unmapped_topk_idx, torch.int64, 0, num_topk).view(torch.int32),
        given(options.scores, torch.float32, 0, experts),
        topk_idx.view(torch.int32),
        topk_weights,
        float(options.routed_scaling_factor),
        physical,
        options.num_groups,
        options.num_topk_groups,
        options.ep_rank,
        options.per_gpu,
        options.tp_rank,
        options.num_tp_ranks,
        _random_seed(options.force_random),
        min(plan["rows"], -(-tokens // cores)),
        scoring=int(options.scoring),
        with_bias=options.bias is not None,
        with_fixed=options.fix_routing_mask is not None,
        with_kinds=any(value is not None for value in kinds),
        with_images=options.image_bias is not None,
        with_groups=options.num_groups != options.num_topk_groups,
        with_random=options.force_random is not None,
        with_places=options.to_physical_map is not None or options.num_tp_ranks > 1,
        with_unmapped=options.unmapped_topk_idx is not None,
        with_scores=options.scores is not None,
        cores=cores,
        **plan,
    )


def _random_seed(force_random: torch.Tensor | None) -> int:
    if force_random is None:
        return 0
    from tile_kernels.rand.randn_kernel import reserve_seeds

    return reserve_seeds(1) & 0x7FFFFFFF
