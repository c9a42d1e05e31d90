"""Pure functions from a GEMM description to a kernel configuration (deep_gemm.md section 3).

`choose_config` is the entry; everything below it is free of torch, files and global state.
"""

from __future__ import annotations

from functools import lru_cache

from deep_gemm.errors import DeepGemmError
from deep_gemm.heuristics.hardware import ASCEND_950DT, HardwareModel
from deep_gemm.heuristics.patches import apply_patches, refined_cost
from deep_gemm.heuristics.records import (
    DType,
    EpilogueType,
    GemmConfig,
    GemmDesc,
    GemmType,
    LoadHint,
    Major,
    StoreHint,
)
from deep_gemm.heuristics.search import search

__all__ = [
    "ASCEND_950DT",
    "DType",
    "EpilogueType",
    "GemmConfig",
    "GemmDesc",
    "GemmType",
    "HardwareModel",
    "LoadHint",
    "Major",
    "StoreHint",
    "choose_config",
    "modelled_ns",
]


@lru_cache(maxsize=4096)
def choose_config(desc: GemmDesc, hw: HardwareModel = ASCEND_950DT) -> GemmConfig:
    """Returns the configuration with the smallest modelled time; the same input gives the same.

    Raises:
        DeepGemmError: no tile fits the memories of `hw`.
    """
    config = search(desc, hw)
    if config is None:
        raise DeepGemmError(
            f"No legal GEMM configuration for {desc}; every tile breaks a limit of {hw.name}: "
            "this is a bug of the search, please report the line above"
        )
    return apply_patches(desc, hw, config)


def modelled_ns(desc: GemmDesc, hw: HardwareModel = ASCEND_950DT) -> int:
    """Modelled kernel time of the chosen configuration, in nanoseconds (never a measurement)."""
    return refined_cost(desc, hw, choose_config(desc, hw))
