"""Ladder 1: the suffix names shapes, strides are free - no copy is ever needed.

Each line multiplies the same two matrices, handed over in another way.
"""

from __future__ import annotations

import torch

import deep_gemm

m, n, k = 96, 80, 200
a, b = torch.randn(m, k).bfloat16(), torch.randn(n, k).bfloat16()
a_km, b_kn = a.t().contiguous(), b.t().contiguous()  # the same values, stored the other way round
wide = torch.randn(m, 3 * k).bfloat16()
wide[:, k : 2 * k] = a  # A as the middle third of a larger tensor

wanted = torch.empty(m, n)
deep_gemm.bf16_gemm_nt(a, b, wanted)

ways = {
    "nt, both K-major": lambda d: deep_gemm.bf16_gemm_nt(a, b, d),
    "nt, A stored as [k, m]": lambda d: deep_gemm.bf16_gemm_nt(a_km.t(), b, d),
    "nn": lambda d: deep_gemm.bf16_gemm_nn(a, b_kn, d),
    "tn": lambda d: deep_gemm.bf16_gemm_tn(a_km, b_kn, d),
    "tt, views only": lambda d: deep_gemm.bf16_gemm_tt(a.t(), b, d),
    "nt, A is a slice": lambda d: deep_gemm.bf16_gemm_nt(wide[:, k : 2 * k], b, d),
}
for name, way in ways.items():
    d = torch.empty(m, n)
    way(d)
    assert torch.equal(d, wanted), name
    print(f"{name:24} the same bits")
