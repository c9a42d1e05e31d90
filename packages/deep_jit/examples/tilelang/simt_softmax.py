"""Row-wise softmax by SIMT threads: two reductions over the block, with barriers."""

import tilelang
import tilelang.ascend.language as T
import torch

import deep_jit

ROWS = 4


@deep_jit.tilelang
@tilelang.jit(target="ascend")
def softmax(x):
    """Returns the softmax of each row."""
    M, N = T.const("M, N")
    x: T.Tensor((M, N), T.float32)
    y = T.empty((M, N), T.float32)
    with T.Kernel(M // ROWS) as bx:
        tile = T.alloc_shared((ROWS, N), T.float32)
        T.copy(x[bx * ROWS, 0], tile)
        with T.SimtVF(threads=256):
            values = T.alloc_fragment((ROWS, N), T.float32)
            largest = T.alloc_fragment((ROWS,), T.float32)
            total = T.alloc_fragment((ROWS,), T.float32)
            T.copy(tile, values)
            T.reduce_max(values, largest, dim=1)
            for i, j in T.Parallel(ROWS, N):
                values[i, j] = T.exp(values[i, j] - largest[i])
            T.reduce_sum(values, total, dim=1)
            for i, j in T.Parallel(ROWS, N):
                tile[i, j] = values[i, j] / total[i]
        T.copy(tile, y[bx * ROWS, 0])
    return y


def main() -> None:
    """Compares with torch."""
    x = torch.randn(64, 1024)
    torch.testing.assert_close(softmax(x), torch.softmax(x, dim=1))


if __name__ == "__main__":
    main()
    print("softmax: ok")
