"""Vendor-library reference under its published names (deep_gemm.md section 1.10).

These are the only functions of the package that compute with torch: they exist to compare with.
"""

from __future__ import annotations

import torch

from deep_gemm._checks import check_alias, check_gemm, check_same_view
from deep_gemm._shared.jit.dry_run import is_dry_run

__all__ = [
    "aclnn_bf16_gemm_nn",
    "aclnn_bf16_gemm_nt",
    "aclnn_bf16_gemm_tn",
    "aclnn_bf16_gemm_tt",
    "cublaslt_gemm_nn",
    "cublaslt_gemm_nt",
    "cublaslt_gemm_tn",
    "cublaslt_gemm_tt",
]


def _reference(
    suffix: str,
    a: torch.Tensor,
    b: torch.Tensor,
    d: torch.Tensor,
    c: torch.Tensor | None,
) -> None:
    problem = check_gemm(suffix, a, b, d, c, dry_run=is_dry_run())
    if c is not None and c.data_ptr() == d.data_ptr() != 0:
        check_same_view(d, c)
    for name, other in (("a", a), ("b", b)):
        if problem.m and problem.n and other.numel():
            check_alias(d, other, name)
    if is_dry_run():
        return
    left = a if suffix[0] == "n" else a.t()
    right = b if suffix[1] == "n" else b.t()
    with torch.no_grad():
        if d.device.type == "cpu" or d.dtype is torch.float32:
            # fp32 sums; on the CPU torch's own bf16 product may accumulate otherwise
            product = left.float() @ right.float()
        else:
            product = left @ right
        # NOTE: upstream adds into C here; ours leaves C alone unless it is D
        d.copy_(product if c is None else product + c)


def aclnn_bf16_gemm_nt(
    a: torch.Tensor, b: torch.Tensor, d: torch.Tensor, c: torch.Tensor | None = None
) -> None:
    """Reference for `bf16_gemm_nt`: the vendor's matmul on npu, torch's fp32 matmul on cpu."""
    _reference("nt", a, b, d, c)


def aclnn_bf16_gemm_nn(
    a: torch.Tensor, b: torch.Tensor, d: torch.Tensor, c: torch.Tensor | None = None
) -> None:
    """Reference for `bf16_gemm_nn`, see `aclnn_bf16_gemm_nt`."""
    _reference("nn", a, b, d, c)


def aclnn_bf16_gemm_tn(
    a: torch.Tensor, b: torch.Tensor, d: torch.Tensor, c: torch.Tensor | None = None
) -> None:
    """Reference for `bf16_gemm_tn`, see `aclnn_bf16_gemm_nt`."""
    _reference("tn", a, b, d, c)


def aclnn_bf16_gemm_tt(
    a: torch.Tensor, b: torch.Tensor, d: torch.Tensor, c: torch.Tensor | None = None
) -> None:
    """Reference for `bf16_gemm_tt`, see `aclnn_bf16_gemm_nt`."""
    _reference("tt", a, b, d, c)


cublaslt_gemm_nt = aclnn_bf16_gemm_nt
cublaslt_gemm_nn = aclnn_bf16_gemm_nn
cublaslt_gemm_tn = aclnn_bf16_gemm_tn
cublaslt_gemm_tt = aclnn_bf16_gemm_tt
