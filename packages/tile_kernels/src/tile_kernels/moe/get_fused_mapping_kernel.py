"""`get_fused_mapping`: where the rows of each expert lie in one buffer."""

from __future__ import annotations

import torch

from tile_kernels._bridge import launched_together
from tile_kernels._checks import check_tensor, check_whole
from tile_kernels.config import get_num_vec_cores

__all__ = ["get_fused_mapping"]

FusedMapping = tuple[
    torch.Tensor,
    torch.Tensor,
    torch.Tensor,
    torch.Tensor,
    torch.Tensor,
    torch.Tensor,
    torch.Tensor,
    list[int],
]


def get_fused_mapping(
    topk_idx: torch.Tensor,
    num_experts: int,
    num_expanded_tokens: int,
    alignment: int,
    force_no_sync: bool = False,
) -> FusedMapping:
    """Lays the rows of all experts out behind each other, each expert padded to `alignment`.

    Inside an expert the rows follow the flat order of (token, slot), on any number of cores.

    Args:
        topk_idx: int64 [tokens, k], contiguous; negative = no expert.
        num_experts: number of experts.
        num_expanded_tokens: rows of the buffer; 0 = as many as are needed, which waits for the
            device, or an upper bound with `force_no_sync`.
        alignment: rows of an expert are padded to a multiple of it.
        force_no_sync: never wait for the device.

    Returns:
        pos_to_expert, pos_to_token, pos_to_token_topk (= token * k + slot): int32 [rows], -1 in
        padding; token_topk_to_pos: int32 [tokens, k], -1 for no expert; expert_start, expert_end
        and num_tokens_per_expert (padded counts): int32 [num_experts]; the padded counts as a list
        where the device was waited for, else an empty list.

    Raises:
        TileKernelsTypeError, TileKernelsValueError: an argument that is not as above.
        LaunchError: an index is not below num_experts, or num_expanded_tokens is too small.
    """
    check_tensor("topk_idx", topk_idx, (torch.int64,), 2)
    check_whole("num_experts", num_experts, 1)
    check_whole("num_expanded_tokens", num_expanded_tokens, 0)
    check_whole("alignment", alignment, 1)
    tokens, k = topk_idx.shape
    bound = (tokens * k + (alignment - 1) * num_experts) // alignment * alignment
    rows = num_expanded_tokens or bound

    def empty(*shape: int) -> torch.Tensor:
        return torch.empty(shape, dtype=torch.int32, device=topk_idx.device)

    by_position = (empty(rows), empty(rows), empty(rows))
    token_topk_to_pos = empty(tokens, k)
    by_expert = (empty(num_experts), empty(num_experts), empty(num_experts))
    _launch(topk_idx, by_position, token_topk_to_pos, by_expert, alignment)
    counts: list[int] = []
    if num_expanded_tokens == 0 and not force_no_sync:
        counts = by_expert[2].tolist()
        pos_to_expert, pos_to_token, pos_to_token_topk = (
            item[: sum(counts)] for item in by_position
        )
        by_position = (pos_to_expert, pos_to_token, pos_to_token_topk)
    return (*by_position, token_topk_to_pos, *by_expert, counts)


def _launch(
    topk_idx: torch.Tensor,
    by_position: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    token_topk_to_pos: torch.Tensor,
    by_expert: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    alignment: int,
) -> None:
    from tile_kernels.moe.get_fused_mapping_asc import (
        count_slices,
        hand_out_positions,
        place_experts,
    )

    cores = get_num_vec_cores()
    flat = topk_idx.view(-1)
    rows, experts = by_position[0].numel(), by_expert[0].numel()
    counts = torch.empty((cores, experts), dtype=torch.int32, device=topk_idx.device)
    with launched_together():
        count_slices(flat, counts, *by_position, cores=cores)
        place_experts(counts, *by_expert, alignment, rows, most=cores)
        if flat.numel():
            target = token_topk_to_pos.view(-1)
            k = topk_idx.shape[1]
            hand_out_positions(flat, counts, *by_position, target, k, cores=cores)
