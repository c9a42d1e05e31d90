"""fp32 -> fp8 with a scale per group of 128 values, and back."""

import tilelang
import tilelang.ascend.language as T
import torch

import deep_jit

ROWS, GROUP, LARGEST = 32, 128, 448.0


@deep_jit.tilelang
@tilelang.jit(target="ascend")
def quantize(x):
    """Returns fp8 codes and the scale of each row."""
    M = T.const("M")
    x: T.Tensor((M, GROUP), T.float32)
    codes = T.empty((M, GROUP), T.float8_e4m3fn)
    scales = T.empty((M,), T.float32)
    with T.Kernel(M // ROWS) as bx:
        tile = T.alloc_shared((ROWS, GROUP), T.float32)
        small = T.alloc_shared((ROWS, GROUP), T.float8_e4m3fn)
        T.copy(x[bx * ROWS, 0], tile)
        with T.SimtVF(threads=256):
            values = T.alloc_fragment((ROWS, GROUP), T.float32)
            rounded = T.alloc_fragment((ROWS, GROUP), T.float8_e4m3fn)
            largest = T.alloc_fragment((ROWS,), T.float32)
            T.copy(tile, values)
            T.reduce_absmax(values, largest, dim=1)
            for i in T.Parallel(ROWS):
                largest[i] = T.max(largest[i], 1e-4) / LARGEST
                scales[bx * ROWS + i] = largest[i]
            for i, j in T.Parallel(ROWS, GROUP):
                values[i, j] = T.clamp(values[i, j] / largest[i], -LARGEST, LARGEST)
            T.copy(values, rounded)
            T.copy(rounded, small)
        T.copy(small, codes[bx * ROWS, 0])
    return codes, scales


@deep_jit.tilelang
@tilelang.jit(target="ascend")
def dequantize(codes, scales):
    """Returns the numbers of codes and scales."""
    M = T.const("M")
    codes: T.Tensor((M, GROUP), T.float8_e4m3fn)
    scales: T.Tensor((M,), T.float32)
    y = T.empty((M, GROUP), T.float32)
    with T.Kernel(M // ROWS) as bx:
        with T.SimtVF(threads=256):
            for i, j in T.Parallel(ROWS, GROUP):
                row = bx * ROWS + i
                y[row, j] = T.cast(codes[row, j], T.float32) * scales[row]
    return y


def main() -> None:
    """Compares with torch, code by code."""
    x = torch.randn(64, GROUP) * 10
    codes, scales = quantize(x)
    largest = x.abs().amax(1).clamp(min=1e-4) / LARGEST
    torch.testing.assert_close(scales, largest)
    expected = (x / scales[:, None]).clamp(-LARGEST, LARGEST).to(torch.float8_e4m3fn)
    assert torch.equal(codes.view(torch.uint8), expected.view(torch.uint8))
    torch.testing.assert_close(dequantize(codes, scales), expected.float() * scales[:, None])


if __name__ == "__main__":
    main()
    print("fp8: ok")
