"""Histogram of bytes: every block counts its part with atomics on global memory, in place."""

import tilelang
import tilelang.ascend.language as T
import torch

import deep_jit

BLOCKS, THREADS = 8, 256


@deep_jit.tilelang
@tilelang.jit(target="ascend")
def histogram(values, counts):
    """Adds to `counts` how often each value 0 to 255 occurs in `values`."""
    N = T.const("N")
    values: T.Tensor((N,), T.int32)
    counts: T.Tensor((256,), T.int32)
    with T.Kernel(BLOCKS) as bx:
        with T.SimtVF(threads=THREADS):
            for i in T.Parallel(N // BLOCKS):
                T.atomic_add(counts[values[bx * (N // BLOCKS) + i]], 1)


def main() -> None:
    """Compares with torch."""
    values = torch.randint(0, 256, (16384,), dtype=torch.int32)
    counts = torch.zeros(256, dtype=torch.int32)
    histogram(values, counts)
    assert torch.equal(counts, torch.bincount(values, minlength=256).int())


if __name__ == "__main__":
    main()
    print("histogram: ok")
