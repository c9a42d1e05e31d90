"""Sorts each row in the unified buffer: a bitonic network, a block barrier after every step."""

import tilelang
import tilelang.ascend.language as T
import torch

import deep_jit

N = 256
LEVELS = 8  # 2 ** LEVELS == N


@deep_jit.tilelang
@tilelang.jit(target="ascend")
def sort_rows(x):
    """Returns the rows of `x`, each in ascending order."""
    M = T.const("M")
    x: T.Tensor((M, N), T.float32)
    y = T.empty((M, N), T.float32)
    with T.Kernel(M) as bx:
        row = T.alloc_shared((N,), T.float32)
        T.copy(x[bx, 0:N], row)
        with T.SimtVF(threads=N // 2):
            tx = T.get_thread_binding()
            for level in T.serial(LEVELS):
                for step in T.serial(level + 1):
                    distance = 1 << (level - step)
                    low = (tx // distance) * distance * 2 + tx % distance
                    a = row[low]
                    b = row[low + distance]
                    descending = (low >> (level + 1)) % 2 == 1
                    T.sync_threads()
                    row[low] = T.if_then_else(descending, T.max(a, b), T.min(a, b))
                    row[low + distance] = T.if_then_else(descending, T.min(a, b), T.max(a, b))
                    T.sync_threads()
        T.copy(row, y[bx, 0:N])
    return y


def main() -> None:
    """Compares with torch."""
    x = torch.randn(32, N)
    assert torch.equal(sort_rows(x), x.sort(dim=1).values)


if __name__ == "__main__":
    main()
    print("sort: ok")
