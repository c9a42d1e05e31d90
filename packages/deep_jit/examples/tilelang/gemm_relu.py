"""C = relu(A @ B.T): matrix product on the cube cores, ReLU by SIMT threads, one kernel."""

import tilelang
import tilelang.ascend.language as T
import torch

import deep_jit

BLOCKS = 4


@deep_jit.tilelang
@tilelang.jit(target="ascend")
def gemm_relu(A, B, block_M: int = 128, block_N: int = 128, block_K: int = 64):
    """Returns relu(A @ B.T) in fp32."""
    M, N, K = T.const("M, N, K")
    A: T.Tensor((M, K), T.bfloat16)
    B: T.Tensor((N, K), T.bfloat16)
    C = T.empty((M, N), T.float32)
    columns = N // block_N
    with T.Kernel(BLOCKS) as bx:
        a = T.alloc_l1((block_M, block_K), T.bfloat16)
        b = T.alloc_l1((block_N, block_K), T.bfloat16)
        product = T.alloc_l0c((block_M, block_N), T.float32)
        half = T.alloc_shared((block_M // 2, block_N), T.float32)
        for tile in T.Persistent([M // block_M * columns], BLOCKS, bx):
            m, n = tile // columns * block_M, tile % columns * block_N
            for k in T.Pipelined(K // block_K, num_stages=2):
                T.copy(A[m, k * block_K], a)
                T.copy(B[n, k * block_K], b)
                T.gemm(a, b, product, transpose_B=True, clear_accum=(k == 0))
            T.dual_copy(product, half)
            with T.SimtVF(threads=128):
                for i, j in T.Parallel(block_M // 2, block_N):
                    half[i, j] = T.max(half[i, j], 0)
            T.dual_copy(half, C[m : m + block_M, n : n + block_N])
    return C


def main() -> None:
    """Compares with torch."""
    a = torch.randn(256, 256, dtype=torch.bfloat16)
    b = torch.randn(512, 256, dtype=torch.bfloat16)
    c = gemm_relu(a, b)
    torch.testing.assert_close(c, torch.relu(a.float() @ b.float().T), rtol=1e-2, atol=1e-2)


if __name__ == "__main__":
    main()
    print("GEMM + ReLU: ok")
