"""RMS norm on a persistent grid: a fixed number of blocks shares any number of row tiles."""

import tilelang
import tilelang.ascend.language as T
import torch

import deep_jit

BLOCKS, ROWS, THREADS = 8, 4, 128


@deep_jit.tilelang
@tilelang.jit(target="ascend")
def rms_norm(x, weight):
    """Returns x / rms(x) * weight, row by row."""
    M, N = T.const("M, N")
    x: T.Tensor((M, N), T.bfloat16)
    weight: T.Tensor((N,), T.float32)
    y = T.empty((M, N), T.bfloat16)
    with T.Kernel(BLOCKS) as bx:
        tile = T.alloc_shared((ROWS, N), T.bfloat16)
        for step in T.Persistent([M // ROWS], BLOCKS, bx):
            T.copy(x[step * ROWS, 0], tile)
            with T.SimtVF(threads=THREADS):
                square = T.alloc_fragment((ROWS, N), T.float32)
                total = T.alloc_fragment((ROWS,), T.float32)
                for i, j in T.Parallel(ROWS, N):
                    square[i, j] = T.cast(tile[i, j], T.float32) * T.cast(tile[i, j], T.float32)
                T.reduce_sum(square, total, dim=1)
                for i, j in T.Parallel(ROWS, N):
                    scale = T.rsqrt(total[i] / N + 1e-6) * weight[j]
                    tile[i, j] = T.cast(tile[i, j], T.float32) * scale
            T.copy(tile, y[step * ROWS, 0])
    return y


def main() -> None:
    """Compares with torch."""
    x, weight = torch.randn(88, 512).bfloat16(), torch.rand(512)
    expected = torch.nn.functional.rms_norm(x.float(), (512,), weight, 1e-6).bfloat16()
    torch.testing.assert_close(rms_norm(x, weight), expected, rtol=1e-2, atol=1e-2)


if __name__ == "__main__":
    main()
    print("RMS norm: ok")
