"""A running sum over blocks: each polls a flag in global memory that its left neighbour sets."""

import tilelang
import tilelang.ascend.language as T
import torch

import deep_jit

THREADS = 128


@deep_jit.tilelang
@tilelang.jit(target="ascend")
def chained_sum(x, carry, flag):
    """Writes the sums of the first 1, 2, ... blocks of `x` behind `carry[0]`."""
    N = T.const("N")
    BLOCKS = N // THREADS
    x: T.Tensor((N,), T.float32)
    carry: T.Tensor((BLOCKS + 1,), T.float32)
    flag: T.Tensor((BLOCKS + 1,), T.int32)
    with T.Kernel(BLOCKS) as bx:
        with T.SimtVF(threads=THREADS):
            tx = T.get_thread_binding()
            part = T.alloc_fragment((THREADS,), T.float32)
            total = T.alloc_fragment((1,), T.float32)
            for i in T.Parallel(THREADS):
                part[i] = x[bx * THREADS + i]
            T.reduce_sum(part, total, dim=0)
            if tx == 0:
                while T.atomic_add(flag[bx], 0, return_prev=True) == 0:
                    T.evaluate(0)
                carry[bx + 1] = carry[bx] + total[0]
                T.ascend_threadfence()
                T.atomic_add(flag[bx + 1], 1)


def main() -> None:
    """Compares with torch."""
    x = torch.randint(-8, 8, (16 * THREADS,)).float()
    carry, flag = torch.zeros(17), torch.zeros(17, dtype=torch.int32)
    flag[0] = 1
    chained_sum(x, carry, flag)
    assert torch.equal(carry[1:], x.view(16, THREADS).sum(1).cumsum(0))


if __name__ == "__main__":
    main()
    print("chained sum: ok")
