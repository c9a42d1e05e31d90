"""Ladder 3: compile ahead of time - meta tensors, many kernels at once, then no call waits."""

from __future__ import annotations

import time

import torch

import deep_gemm
from deep_gemm.testing.par_compile import par_compile


def layer(tokens: int, device: str) -> None:
    """The GEMM of one layer for a batch of `tokens`."""
    x = torch.empty(tokens, 256, dtype=torch.bfloat16, device=device)
    weight = torch.empty(512, 256, dtype=torch.bfloat16, device=device)
    y = torch.empty(tokens, 512, dtype=torch.bfloat16, device=device)
    deep_gemm.bf16_gemm_nt(x, weight, y)


batches = (1, 64, 200)
start = time.perf_counter()
par_compile([lambda tokens=tokens: layer(tokens, "meta") for tokens in batches], progress=False)
print(
    f"compiled {len(batches)} kernels without a byte of data: {time.perf_counter() - start:.2f} s"
)

for tokens in batches:
    start = time.perf_counter()
    layer(tokens, "cpu")
    print(f"{tokens:4} tokens, first call: {(time.perf_counter() - start) * 1e3:6.1f} ms")
