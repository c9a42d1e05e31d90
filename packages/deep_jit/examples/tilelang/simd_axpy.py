"""y = a * x + y on vector registers: explicit loads, arithmetic and stores of `T.simd`."""

import tilelang
import tilelang.ascend.language as T
import torch

import deep_jit

TILE, LANES = 2048, 64


@deep_jit.tilelang
@tilelang.jit(target="ascend")
def axpy(x, y, a: T.float32):
    """Returns a * x + y."""
    N = T.const("N")
    x: T.Tensor((N,), T.float32)
    y: T.Tensor((N,), T.float32)
    z = T.empty((N,), T.float32)
    with T.Kernel(N // TILE) as bx:
        x_ub = T.alloc_shared((TILE,), T.float32)
        y_ub = T.alloc_shared((TILE,), T.float32)
        T.copy(x[bx * TILE], x_ub)
        T.copy(y[bx * TILE], y_ub)
        with T.SimdVF():
            mask = T.simd.pset(32)
            for i in range(TILE // LANES):
                product = T.simd.vmuls(T.simd.vld(x_ub[i * LANES]), a, mask)
                total = T.simd.vadd(product, T.simd.vld(y_ub[i * LANES]), mask)
                T.simd.vsts(y_ub[i * LANES], total, mask)
        T.copy(y_ub, z[bx * TILE])
    return z


def main() -> None:
    """Compares with torch."""
    x, y = torch.randn(2, 16384)
    assert torch.equal(axpy(x, y, 3.0), x * 3.0 + y)


if __name__ == "__main__":
    main()
    print("axpy: ok")
