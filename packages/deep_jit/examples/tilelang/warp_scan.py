"""Running sum inside each group of 32 values: five shuffles per warp."""

import tilelang
import tilelang.ascend.language as T
import torch

import deep_jit

THREADS = 256


@deep_jit.tilelang
@tilelang.jit(target="ascend")
def warp_scan(x):
    """Returns the running sums of each group of 32 values."""
    N = T.const("N")
    x: T.Tensor((N,), T.float32)
    y = T.empty((N,), T.float32)
    with T.Kernel(N // THREADS) as bx:
        with T.SimtVF(threads=THREADS):
            tx = T.get_thread_binding()
            value = T.alloc_var(T.float32)
            value = x[bx * THREADS + tx]
            for step in T.unroll(5):
                left = T.call_extern(T.float32, "asc_shfl_up", value, 1 << step)
                value = value + T.if_then_else(tx % 32 >= 1 << step, left, 0.0)
            y[bx * THREADS + tx] = value
    return y


def main() -> None:
    """Compares with torch."""
    x = torch.randint(-8, 8, (1024,)).float()
    assert torch.equal(warp_scan(x), x.view(-1, 32).cumsum(1).view(-1))


if __name__ == "__main__":
    main()
    print("warp scan: ok")
