"""Top-8 of 256 expert scores per token: eight rounds of maximum and position."""

import tilelang
import tilelang.ascend.language as T
import torch

import deep_jit

EXPERTS, K, ROWS, THREADS = 256, 8, 8, 128


@deep_jit.tilelang
@tilelang.jit(target="ascend")
def top_k(scores):
    """Returns the largest scores of each token and their experts."""
    M = T.const("M")
    scores: T.Tensor((M, EXPERTS), T.float32)
    values = T.empty((M, K), T.float32)
    experts = T.empty((M, K), T.int32)
    with T.Kernel(M // ROWS) as bx:
        tile = T.alloc_shared((ROWS, EXPERTS), T.float32)
        T.copy(scores[bx * ROWS, 0], tile)
        with T.SimtVF(threads=THREADS):
            left = T.alloc_fragment((ROWS, EXPERTS), T.float32)
            position = T.alloc_fragment((ROWS, EXPERTS), T.int32)
            largest = T.alloc_fragment((ROWS,), T.float32)
            expert = T.alloc_fragment((ROWS,), T.int32)
            T.copy(tile, left)
            for k in T.serial(K):
                T.reduce_max(left, largest, dim=1)
                for i, j in T.Parallel(ROWS, EXPERTS):
                    position[i, j] = T.if_then_else(left[i, j] == largest[i], j, EXPERTS)
                T.reduce_min(position, expert, dim=1)
                for i, j in T.Parallel(ROWS, EXPERTS):
                    if j == expert[i]:
                        left[i, j] = -T.infinity(T.float32)
                for i in T.Parallel(ROWS):
                    values[bx * ROWS + i, k] = largest[i]
                    experts[bx * ROWS + i, k] = expert[i]
    return values, experts


def main() -> None:
    """Compares with torch."""
    scores = torch.randn(64, EXPERTS)
    values, experts = top_k(scores)
    expected = torch.topk(scores, K, dim=1)
    assert torch.equal(values, expected.values)
    assert torch.equal(experts.long(), expected.indices)


if __name__ == "__main__":
    main()
    print("top-k: ok")
