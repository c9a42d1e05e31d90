"""Lowered kernels that come with the package; `tools/gen_texts.py --check` compares all keys."""

from __future__ import annotations

import pytest
import torch

from tile_kernels._bridge import TEXTS, bridge
from tile_kernels._shared.jit.tilelang.lower import lower
from tile_kernels._shared.jit.tilelang.shipped_texts import ShippedTexts, parse

CORES = 64  # vector cores of the device the texts are made for


def test_every_file_can_be_read_and_belongs_to_a_kernel():
    files = ShippedTexts(TEXTS).files()
    assert files
    for path in files:
        assert path.name.startswith(f"{parse(path.read_text()).name}-")


def _weights():
    from tile_kernels.moe.normalize_weight_asc import normalize_weight

    x = torch.empty(5, 8)
    return normalize_weight, (x, torch.empty(5), torch.empty(5, 8)), {"cores": CORES}


def _mapping():
    from tile_kernels.moe.get_fused_mapping_asc import hand_out_positions

    idx, counts = torch.empty(40, dtype=torch.int64), torch.empty(CORES, 9, dtype=torch.int32)
    rows = [torch.empty(128, dtype=torch.int32) for _ in range(3)]
    target = torch.empty(40, dtype=torch.int32)
    return hand_out_positions, (idx, counts, *rows, target, 8), {"cores": CORES}


@pytest.mark.parametrize("call", [_weights, _mapping])
def test_a_text_is_what_tilelang_makes(call):
    kernel, arguments, options = call()
    original = kernel.original
    function = original.get_tir(*arguments, **options)
    request = bridge().request(function, original.out_idx, original.pass_configs)
    shipped = ShippedTexts(TEXTS).find(request.name, request.portable_key)
    assert shipped is not None, "not current: run tools/gen_texts.py"
    assert shipped == lower(request.function, request.pass_configs, request.outputs)
