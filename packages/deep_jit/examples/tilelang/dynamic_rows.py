"""One kernel for any number of rows: a dynamic symbol sets grid, tails and the output's shape."""

import tilelang
import tilelang.ascend.language as T
import torch

import deep_jit

ROWS = 8


@deep_jit.tilelang
@tilelang.jit(target="ascend")
def scale_rows(x, factor, bias: T.float32):
    """Returns x * factor + bias, with a factor per row."""
    rows = T.dynamic("rows")
    N = T.const("N")
    x: T.Tensor((rows, N), T.float32)
    factor: T.Tensor((rows,), T.float32)
    y = T.empty((rows, N), T.float32)
    with T.Kernel(T.ceildiv(rows, ROWS)) as bx:
        tile = T.alloc_shared((ROWS, N), T.float32)
        T.copy(x[bx * ROWS, 0], tile)
        with T.SimtVF(threads=128):
            for i, j in T.Parallel(ROWS, N):
                if bx * ROWS + i < rows:
                    tile[i, j] = tile[i, j] * factor[bx * ROWS + i] + bias
        T.copy(tile, y[bx * ROWS, 0])
    return y


def main() -> None:
    """Compares with torch, for several sizes of one compiled kernel."""
    for rows in (1, 8, 37):
        x, factor = torch.randn(rows, 128), torch.randn(rows)
        y = scale_rows(x, factor, 0.5)
        torch.testing.assert_close(y, x * factor[:, None] + 0.5)


if __name__ == "__main__":
    main()
    print("dynamic rows: ok")
