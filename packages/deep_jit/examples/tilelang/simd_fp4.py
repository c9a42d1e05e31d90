"""bf16 -> fp4 (e2m1, two codes a byte) -> bf16 on vector registers."""

import tilelang
import tilelang.ascend.language as T
import torch

import deep_jit

TILE, LANES = 1024, 128
VALUES = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])


@deep_jit.tilelang
@tilelang.jit(target="ascend")
def round_to_fp4(x):
    """Returns x rounded to fp4."""
    N = T.const("N")
    x: T.Tensor((N,), T.bfloat16)
    y = T.empty((N,), T.bfloat16)
    with T.Kernel(N // TILE) as bx:
        tile = T.alloc_shared((TILE,), T.bfloat16)
        T.copy(x[bx * TILE], tile)
        with T.SimdVF():
            mask = T.simd.pset(16)
            for i in range(TILE // LANES):
                value = T.simd.vld(tile[i * LANES])
                small = T.simd.vcvt(value, "float4_e2m1fn", mask)
                back = T.simd.vcvt(small, "bfloat16", mask)
                T.simd.vsts(tile[i * LANES], back, mask, dist="NORM_B16")
        T.copy(tile, y[bx * TILE])
    return y


def main() -> None:
    """Compares with the nearest number of the format, ties to the even code."""
    x = torch.linspace(-8, 8, 4096).bfloat16()
    magnitude = x.float().abs().clamp(max=6.0)
    distance = (magnitude[:, None] - VALUES).abs() + 1e-6 * (torch.arange(8) % 2)
    expected = torch.copysign(VALUES[distance.argmin(1)], x.float()).bfloat16()
    assert torch.equal(round_to_fp4(x), expected)


if __name__ == "__main__":
    main()
    print("fp4: ok")
