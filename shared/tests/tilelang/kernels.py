"""TileLang functions of the tests; in a file, since TileLang reads their source."""

import tilelang
import tilelang.ascend.language as T

THREADS = 128


@tilelang.jit(target="ascend")
def scaled_sum(x, y, factor: T.float32):
    n = T.dynamic("n")
    x: T.Tensor((n,), T.float32)
    y: T.Tensor((n,), T.float32)
    z = T.empty((n,), T.float32)
    with T.Kernel(T.ceildiv(n, THREADS)) as bx:
        with T.SimtVF(threads=THREADS):
            for i in T.Parallel(THREADS):
                if bx * THREADS + i < n:
                    z[bx * THREADS + i] = x[bx * THREADS + i] * factor + y[bx * THREADS + i]
    return z


@T.macro
def add_until(out, row, end):
    """Adds 1 to the first `end` entries of a row."""
    for i in T.serial(end):
        out[row, i] = out[row, i] + 1


@tilelang.jit(target="ascend")
def counts(out, limit: T.int32):
    """Passes a scalar and a dynamic symbol to the same macro, which gives both its name."""
    n, rows = T.dynamic("n, rows")
    out: T.Tensor((rows, n), T.int32)
    with T.Kernel(1):
        with T.SimtVF(threads=32):
            if T.get_thread_binding() == 0:
                add_until(out, 0, limit)
                add_until(out, 1, n)


@tilelang.jit(target="ascend", out_idx=[-1])
def square(N: int, value: int = 0):
    @T.prim_func
    def main(x: T.Tensor((N,), "float32"), y: T.Tensor((N,), "float32")):
        with T.Kernel(N // THREADS) as bx:
            with T.SimtVF(threads=THREADS):
                for i in T.Parallel(THREADS):
                    y[bx * THREADS + i] = x[bx * THREADS + i] * x[bx * THREADS + i] + value

    return main


def plain(N: int):
    """A prim_func that changes its argument in place."""

    @T.prim_func
    def twice(x: T.Tensor((N,), "int32")):
        with T.Kernel(N // THREADS) as bx:
            with T.SimtVF(threads=THREADS):
                for i in T.Parallel(THREADS):
                    x[bx * THREADS + i] = x[bx * THREADS + i] * 2

    return twice


def unknown(N: int):
    """Calls a function that no header has."""

    @T.prim_func
    def stranger(x: T.Tensor((N,), "float32")):
        with T.Kernel(1):
            with T.SimtVF(threads=N):
                for i in T.Parallel(N):
                    x[i] = T.call_extern("float32", "asc_no_such_function", x[i])

    return stranger


def not_lowerable(N: int):
    """Uses an operation that TileLang has no Ascend code for."""

    @T.prim_func
    def shuffled(x: T.Tensor((N,), "float32")):
        with T.Kernel(1):
            with T.SimtVF(threads=N):
                tx = T.get_thread_binding()
                x[tx] = T.shfl_up(x[tx], 1)

    return shuffled


@tilelang.jit(target="ascend", pass_configs={"tl.disable_safe_memory_legalize": True})
def one_too_far(x):
    """Stores one element behind the end."""
    n = T.dynamic("n")
    x: T.Tensor((n,), T.float32)
    with T.Kernel(1):
        with T.SimtVF(threads=THREADS):
            for i in T.Parallel(THREADS):
                if i <= n:
                    x[i] = 1.0


@tilelang.jit(target="ascend")
def doubled(x):
    """Changes its argument in place."""
    rows, n = T.dynamic("rows, n")
    x: T.Tensor((rows, n), T.int32)
    with T.Kernel(rows) as row:
        with T.SimtVF(threads=THREADS):
            for i in T.Parallel(THREADS):
                if i < n:
                    x[row, i] = x[row, i] * 2
