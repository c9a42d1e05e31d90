"""Ladder 2: add to what is there, scale, and see what bf16 rounding costs."""

from __future__ import annotations

import torch

import deep_gemm
from deep_gemm import epilogue
from deep_gemm.testing import bf16_reference

m, n, k = 64, 64, 512
a, b = torch.randn(m, k).bfloat16(), torch.randn(n, k).bfloat16()
exact = bf16_reference(a, b)

# A gradient buffer: D = D + A @ B.T, in fp32
grad = torch.ones(m, n)
deep_gemm.bf16_gemm_nt(a, b, grad, c=grad)
print("in place, fp32:   ", f"{(grad - 1 - exact).abs().max():.1e}")

# A residual: another tensor as C stays as it is
residual = torch.randn(m, n).bfloat16()
out = torch.empty_like(residual)
deep_gemm.bf16_gemm_nt(a, b, out, c=residual)
print("residual, bf16:   ", f"{(out - residual.double() - exact).abs().max():.1e}")

# alpha multiplies the product in fp32, before rounding and before C
scaled = torch.empty(m, n)
deep_gemm.bf16_gemm_nt(a, b, scaled, alpha=k**-0.5)
same = torch.empty(m, n)
deep_gemm.bf16_gemm_nt(a, b, same, epilogue=epilogue.Alpha(k**-0.5))
assert torch.equal(scaled, same)
print("alpha, fp32:      ", f"{(scaled - k**-0.5 * exact).abs().max():.1e}")
