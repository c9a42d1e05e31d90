"""Sum of squares of each bf16 row on vector registers: widening loads, multiply-add, reduction."""

import tilelang
import tilelang.ascend.language as T
import torch

import deep_jit

ROWS, LANES = 8, 64


@deep_jit.tilelang
@tilelang.jit(target="ascend")
def row_squares(x):
    """Returns the sum of squares of each row."""
    M, N = T.const("M, N")
    x: T.Tensor((M, N), T.bfloat16)
    y = T.empty((M,), T.float32)
    with T.Kernel(M // ROWS) as bx:
        tile = T.alloc_shared((ROWS, N), T.bfloat16)
        sums = T.alloc_shared((ROWS * 8,), T.float32)
        result = T.alloc_shared((ROWS,), T.float32)
        T.copy(x[bx * ROWS, 0], tile)
        with T.SimdVF():
            all16 = T.simd.pset(16)
            all32 = T.simd.pset(32)
            for row in range(ROWS):
                total = T.alloc_var("float32x64")
                total = T.simd.vdup(0.0, "float32", all32)
                for i in range(N // (2 * LANES)):
                    pair = T.simd.vld(tile[row, i * 2 * LANES])
                    even = T.simd.vcvt(pair, "float32", all16, part=0)
                    odd = T.simd.vcvt(pair, "float32", all16, part=1)
                    squares = T.simd.vadd(
                        T.simd.vmul(even, even, all32), T.simd.vmul(odd, odd, all32), all32
                    )
                    total = T.simd.vadd(total, squares, all32)
                T.simd.vsts(sums[row * 8], T.simd.vcadd(total, all32), dist="ONEPT_B32")
        with T.SimtVF(threads=32):
            for i in T.Parallel(ROWS):
                result[i] = sums[i * 8]
        T.copy(result, y[bx * ROWS])
    return y


def main() -> None:
    """Compares with torch."""
    x = torch.randn(64, 1024).bfloat16()
    torch.testing.assert_close(row_squares(x), x.double().square().sum(1).float())


if __name__ == "__main__":
    main()
    print("row squares: ok")
