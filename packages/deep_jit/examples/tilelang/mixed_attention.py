"""Two products with a softmax between them: tiles go from cube to vector cores and back.

S = Q @ K.T on the cube core, P = softmax(S) on both vector cores, O = P @ V on the cube core again.
"""

import tilelang
import tilelang.ascend.language as T
import torch

import deep_jit

D, TILE, KEYS = 64, 64, 128


@deep_jit.tilelang
@tilelang.jit(target="ascend")
def attention(Q, K, Vt):
    """Returns softmax(Q @ K.T / 8) @ V; `Vt` is V transposed."""
    M = T.const("M")
    Q: T.Tensor((M, D), T.bfloat16)
    K: T.Tensor((KEYS, D), T.bfloat16)
    Vt: T.Tensor((D, KEYS), T.bfloat16)
    out = T.empty((M, D), T.float32)
    with T.Kernel(M // TILE) as bx:
        q = T.alloc_l1((TILE, D), T.bfloat16)
        k = T.alloc_l1((KEYS, D), T.bfloat16)
        v = T.alloc_l1((D, KEYS), T.bfloat16)
        p_l1 = T.alloc_l1((TILE, KEYS), T.bfloat16)
        s = T.alloc_l0c((TILE, KEYS), T.float32)
        o = T.alloc_l0c((TILE, D), T.float32)
        s_ub = T.alloc_shared((TILE // 2, KEYS), T.float32)
        p_ub = T.alloc_shared((TILE // 2, KEYS), T.bfloat16)
        o_ub = T.alloc_shared((TILE // 2, D), T.float32)
        T.copy(Q[bx * TILE, 0], q)
        T.copy(K[0, 0], k)
        T.copy(Vt[0, 0], v)
        T.gemm(q, k, s, transpose_B=True, clear_accum=True)
        T.dual_copy(s, s_ub)
        with T.SimtVF(threads=256):
            row = T.alloc_fragment((TILE // 2, KEYS), T.float32)
            largest = T.alloc_fragment((TILE // 2,), T.float32)
            total = T.alloc_fragment((TILE // 2,), T.float32)
            T.copy(s_ub, row)
            T.reduce_max(row, largest, dim=1)
            for i, j in T.Parallel(TILE // 2, KEYS):
                row[i, j] = T.exp((row[i, j] - largest[i]) * 0.125)
            T.reduce_sum(row, total, dim=1)
            for i, j in T.Parallel(TILE // 2, KEYS):
                p_ub[i, j] = row[i, j] / total[i]
        T.dual_copy(p_ub, p_l1)
        T.gemm(p_l1, v, o, transpose_B=True, clear_accum=True)
        T.dual_copy(o, o_ub)
        T.dual_copy(o_ub, out[bx * TILE : (bx + 1) * TILE, 0:D])
    return out


def main() -> None:
    """Compares with torch."""
    q, k = torch.randn(128, D).bfloat16(), torch.randn(KEYS, D).bfloat16()
    v = torch.randn(KEYS, D).bfloat16()
    expected = torch.softmax(q.float() @ k.float().T * 0.125, dim=1) @ v.float()
    torch.testing.assert_close(attention(q, k, v.T.contiguous()), expected, rtol=2e-2, atol=2e-2)


if __name__ == "__main__":
    main()
    print("attention: ok")
