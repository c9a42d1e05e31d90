"""Rows taken by index, and put back by index: y[i] = x[index[i]], z[index[i]] = y[i]."""

import tilelang
import tilelang.ascend.language as T
import torch

import deep_jit

ROWS = 16


@deep_jit.tilelang
@tilelang.jit(target="ascend")
def permute(x, index, z):
    """Returns x[index], and writes z[index] = x."""
    M, N = T.const("M, N")
    x: T.Tensor((M, N), T.float16)
    index: T.Tensor((M,), T.int32)
    z: T.Tensor((M, N), T.float16)
    y = T.empty((M, N), T.float16)
    with T.Kernel(M // ROWS) as bx:
        with T.SimtVF(threads=256):
            for i, j in T.Parallel(ROWS, N):
                row = bx * ROWS + i
                y[row, j] = x[index[row], j]
                z[index[row], j] = x[row, j]
    return y


def main() -> None:
    """Compares with torch."""
    x, index = torch.randn(64, 128).half(), torch.randperm(64).int()
    z = torch.empty_like(x)
    y = permute(x, index, z)
    assert torch.equal(y, x[index.long()])
    assert torch.equal(z[index.long()], x)


if __name__ == "__main__":
    main()
    print("gather and scatter: ok")
