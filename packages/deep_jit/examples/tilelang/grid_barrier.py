"""All cores meet between two phases: every block reads what all blocks wrote before the barrier."""

import tilelang
import tilelang.ascend.language as T
import torch

import deep_jit

BLOCKS, N = 16, 256


@deep_jit.tilelang
@tilelang.jit(target="ascend", pass_configs={tilelang.PassConfigKey.TL_ENABLE_AUTO_SCHEDULE: False})
def sum_of_all(x, parts):
    """Returns the sum of 2 * x over all blocks, in every row."""
    x: T.Tensor((BLOCKS, N), T.float32)
    parts: T.Tensor((BLOCKS, N), T.float32)
    y = T.empty((BLOCKS, N), T.float32)
    with T.Kernel(BLOCKS) as bx:
        mine = T.alloc_shared((N,), T.float32)
        T.copy(x[bx, 0:N], mine)
        T.ascend_pipe_barrier("PIPE_ALL")
        with T.SimtVF(threads=N):
            for i in T.Parallel(N):
                mine[i] = mine[i] * 2.0
        T.ascend_pipe_barrier("PIPE_ALL")
        T.copy(mine, parts[bx, 0:N])
        T.ascend_sync_inter_arrive("PIPE_MTE3", 0)
        T.ascend_sync_inter_wait("PIPE_MTE3", 0)
        T.ascend_pipe_barrier("PIPE_ALL")
        with T.SimtVF(threads=N):
            for i in T.Parallel(N):
                total = T.alloc_var(T.float32)
                total = 0.0
                for b in T.serial(BLOCKS):
                    total = total + parts[b, i]
                mine[i] = total
        T.ascend_pipe_barrier("PIPE_ALL")
        T.copy(mine, y[bx, 0:N])
        T.ascend_pipe_barrier("PIPE_ALL")
    return y


def main() -> None:
    """Compares with torch."""
    x, parts = torch.randint(-8, 8, (BLOCKS, N)).float(), torch.empty(BLOCKS, N)
    y = sum_of_all(x, parts)
    assert torch.equal(y, (2 * x).sum(0).expand(BLOCKS, N))


if __name__ == "__main__":
    main()
    print("grid barrier: ok")
