"""What the emulator's checkers and its timing model cost the host on SIMD and SIMT kernels.

Method: every variant runs in this process; calls of all variants alternate round by round, and the
best round counts. Kernels are compiled before timing. `of_off` is the time of a variant divided by
the time with everything off. Checkers look at each load and store of vector functions, and at each
thread of SIMT functions by itself, so they cost more here than on the copies and multiplications of
a GEMM. Times are CPU times of the process, which a busy machine changes little.

Run: python benchmarks/bench_emulator_cost.py [--csv results/emulator_cost.csv] [--only cast]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import torch
from bench_io import Row, report

import tile_kernels
from tile_kernels import moe, quant, transform
from tile_kernels.testing.generator import MoeParams, generate_topk_idx

CHECKERS = ("memcheck", "racecheck", "initcheck", "synccheck")
VARIANTS: dict[str, dict[str, object]] = {
    "off": {},
    **{name: {"checks": (name,)} for name in CHECKERS},
    "all checkers": {"checks": CHECKERS},
    "timing fast": {"timing": "fast"},
}
COLUMNS = ("kernel", "kind", "case", "variant", "ms", "of_off")
EXPERTS, TOPK = 64, 8

Call = Callable[[], object]


def kernels(tokens: int, hidden: int) -> dict[tuple[str, str, str], Call]:
    """(name, kind, case) -> call."""
    x = torch.randn(tokens, hidden).bfloat16()
    wide = torch.randn(tokens, 2 * hidden).bfloat16()
    scores = torch.randn(tokens, EXPERTS)
    idx = generate_topk_idx(MoeParams(tokens, EXPERTS, TOPK, empty=0.0))
    query, cache = torch.randn(tokens, 16, 128).bfloat16(), torch.randn(tokens, 120)
    shape, routing = f"{tokens}x{hidden}", f"{tokens} tokens, {EXPERTS} experts, k={TOPK}"
    return {
        ("per_token_cast", "SIMD", shape): lambda: quant.per_token_cast(x, "e4m3", 128),
        ("swiglu_forward", "SIMD", shape): lambda: quant.swiglu_forward(wide, "bf16"),
        ("topk_gate", "SIMT", routing): lambda: moe.topk_gate(scores, TOPK),
        ("get_fused_mapping", "SIMT", routing): lambda: moe.get_fused_mapping(idx, EXPERTS, 0, 128),
        ("apply_rotary", "SIMT", f"{tokens}x16x128, 120 rotated"): lambda: transform.apply_rotary(
            query, cache
        ),
    }


def with_options(call: Call, options: dict[str, object]) -> Call:
    """`call` under emulator options."""

    def run() -> None:
        with tile_kernels.emulator(**options):
            call()

    return run


def best_seconds(calls: list[Call], rounds: int) -> list[float]:
    """Best CPU time of each call over interleaved rounds; one more round goes before."""
    best = [float("inf")] * len(calls)
    for number in range(rounds + 1):
        for index, call in enumerate(calls):
            start = time.process_time()
            call()
            if number:
                best[index] = min(best[index], time.process_time() - start)
    return best


def measure(tokens: int, hidden: int, rounds: int, only: str) -> Iterator[Row]:
    """A row for every kernel whose name holds `only`, and every variant."""
    for (name, kind, case), call in kernels(tokens, hidden).items():
        if only not in name:
            continue
        calls = [with_options(call, options) for options in VARIANTS.values()]
        seconds = best_seconds(calls, rounds)
        for variant, value in zip(VARIANTS, seconds, strict=True):
            yield {
                "kernel": name,
                "kind": kind,
                "case": case,
                "variant": variant,
                "ms": round(value * 1e3, 2),
                "of_off": round(value / seconds[0], 2),
            }


@click.command()
@click.option("--csv", "path", type=click.Path(path_type=Path), help="Also write the rows here.")
@click.option("--tokens", default=1024, show_default=True)
@click.option("--hidden", default=2048, show_default=True)
@click.option("--rounds", default=5, show_default=True, help="Rounds; the best one counts.")
@click.option("--only", default="", help="Operators whose name holds this text.")
@click.option("--smoke", is_flag=True, help="Tiny sizes, to try the program itself.")
def main(path: Path | None, tokens: int, hidden: int, rounds: int, only: str, smoke: bool) -> None:
    """Measure on one thread, print a table, and write CSV rows."""
    if smoke:
        tokens, hidden, rounds = 16, 256, 1
    torch.set_num_threads(1)
    title = "CPU time with checkers and timing, one thread"
    report(title, COLUMNS, measure(tokens, hidden, rounds, only), path)


if __name__ == "__main__":
    main()
