"""The gate and the rows' way to the experts and back for autograd (tile_kernels.md section 16)."""

from __future__ import annotations

from typing import Any

import torch

from tile_kernels._gather import gathered
from tile_kernels.moe.expand_to_fused_kernel import expand_to_fused
from tile_kernels.moe.moe_topk_gate_kernel import moe_topk_gate_backward, moe_topk_gate_forward
from tile_kernels.moe.reduce_fused_kernel import reduce_fused

__all__ = [
    "CombineFunction", "ExpandFunction", "ExpandWeightsFunction", "GateFunction", "combine",
    "expand", "expand_weights", "gate",
]  # fmt: skip


class GateFunction(torch.autograd.Function):
    """`moe_topk_gate_forward` with `moe_topk_gate_backward` as its gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        logits: torch.Tensor,
        num_topk: int,
        num_shared: int,
        routed_scaling_factor: float,
        ep_rank: int,
        options: dict[str, Any],
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Runs the kernel and keeps scores, selection and weights."""
        scores = torch.empty_like(logits)
        selected = options.pop("unmapped_topk_idx", None)
        if selected is None:
            shape = (logits.shape[0], num_topk)
            selected = torch.empty(shape, dtype=torch.int64, device=logits.device)
        topk_idx, topk_weights = moe_topk_gate_forward(
            logits, num_topk, num_shared > 0, num_shared, routed_scaling_factor, ep_rank,
            unmapped_topk_idx=selected, scores=scores, **options,
        )  # fmt: skip
        ctx.save_for_backward(scores, selected, topk_weights, options.get("mask"))
        ctx.options = (routed_scaling_factor, options.get("scoring_func", "sqrtsoftplus"))
        ctx.mark_non_differentiable(topk_idx)
        return topk_idx, topk_weights

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Returns the gradient of the logits."""
        scores, selected, topk_weights, mask = ctx.saved_tensors
        factor, scoring_func = ctx.options
        k = selected.shape[1]
        grad = moe_topk_gate_backward(
            scores, selected, topk_weights[:, :k].contiguous(), grads[1][:, :k].contiguous(),
            factor, scoring_func, mask,
        )  # fmt: skip
        return grad, None, None, None, None, None


class ExpandFunction(torch.autograd.Function):
    """`expand_to_fused` with the sum over each token's rows as its gradient."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, token_topk_to_pos: torch.Tensor, pos_to_expert: torch.Tensor
    ) -> torch.Tensor:
        """Runs the kernel and keeps the mapping."""
        ctx.save_for_backward(token_topk_to_pos)
        return expand_to_fused(x, token_topk_to_pos, pos_to_expert)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Returns the gradient of x, summed in fp32 in the order of the slots."""
        (token_topk_to_pos,) = ctx.saved_tensors
        weights = _ones(token_topk_to_pos)
        return reduce_fused(grads[0].contiguous(), weights, token_topk_to_pos), None, None


class CombineFunction(torch.autograd.Function):
    """The sum of each token's rows, `reduce_fused` with weights 1, with `expand_to_fused` back."""

    @staticmethod
    def forward(
        ctx: Any, rows: torch.Tensor, token_topk_to_pos: torch.Tensor, pos_to_expert: torch.Tensor
    ) -> torch.Tensor:
        """Runs the kernel and keeps the mapping."""
        ctx.save_for_backward(token_topk_to_pos, pos_to_expert)
        return reduce_fused(rows, _ones(token_topk_to_pos), token_topk_to_pos)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Returns the gradient of the rows."""
        return expand_to_fused(grads[0].contiguous(), *ctx.saved_tensors), None, None


class ExpandWeightsFunction(torch.autograd.Function):
    """Weights by position, and their gradients by slot."""

    @staticmethod
    def forward(
        ctx: Any,
        topk_weights: torch.Tensor,
        pos_to_token_topk: torch.Tensor,
        token_topk_to_pos: torch.Tensor,
    ) -> torch.Tensor:
        """Runs the kernel and keeps the mapping."""
        ctx.save_for_backward(token_topk_to_pos)
        return gathered(topk_weights, pos_to_token_topk)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Returns the gradient of the weights."""
        return gathered(grads[0].contiguous(), ctx.saved_tensors[0]), None, None


def _ones(token_topk_to_pos: torch.Tensor) -> torch.Tensor:
    return torch.ones(token_topk_to_pos.shape, device=token_topk_to_pos.device)


def gate(
    logits: torch.Tensor,
    num_topk: int,
    num_shared: int = 0,
    routed_scaling_factor: float = 1.0,
    ep_rank: int = 0,
    **options: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns (topk_idx, topk_weights) of `moe_topk_gate_forward`; gradients reach the logits.

    Args:
        num_shared: shared experts, which become slots with weight 1; 0 for none.
        options: further keyword arguments of `moe_topk_gate_forward`, except out and scores.

    The other arguments and the errors are those of `moe_topk_gate_forward`.
    """
    result: tuple[torch.Tensor, torch.Tensor] = GateFunction.apply(
        logits, num_topk, num_shared, routed_scaling_factor, ep_rank, options
    )  # type: ignore[no-untyped-call]
    return result


def expand(
    x: torch.Tensor, token_topk_to_pos: torch.Tensor, pos_to_expert: torch.Tensor
) -> torch.Tensor:
    """Returns `expand_to_fused` of bf16, fp16 or fp32 x; gradients reach x."""
    result: torch.Tensor = ExpandFunction.apply(x, token_topk_to_pos, pos_to_expert)  # type: ignore[no-untyped-call]
    return result


def combine(
    rows: torch.Tensor, token_topk_to_pos: torch.Tensor, pos_to_expert: torch.Tensor
) -> torch.Tensor:
    """Returns the sum of each token's rows, [tokens, hidden], in the dtype of the rows.

    The way back of `expand`, for rows that have their weights already (`expand_weights` with
    `quant.autograd.swiglu`). Gradients reach the rows.

    Args:
        rows: bf16, fp16 or fp32 [positions, hidden], contiguous.
        token_topk_to_pos, pos_to_expert: the mappings of `get_fused_mapping`.
    """
    result: torch.Tensor = CombineFunction.apply(rows, token_topk_to_pos, pos_to_expert)  # type: ignore[no-untyped-call]
    return result


def expand_weights(
    topk_weights: torch.Tensor, pos_to_token_topk: torch.Tensor, token_topk_to_pos: torch.Tensor
) -> torch.Tensor:
    """Returns fp32 [positions], each position's weight of [tokens, k], 0 where it has no slot.

    Gradients reach topk_weights. The mappings are those of `get_fused_mapping`.
    """
    result: torch.Tensor = ExpandWeightsFunction.apply(
        topk_weights, pos_to_token_topk, token_topk_to_pos
    )  # type: ignore[no-untyped-call]
    return result
