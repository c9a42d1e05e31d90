"""Quickstart: two GEMMs of a DeepSeek-sized layer, computed by an Ascend C kernel on this machine.

Prints, per shape: the error against float64, host times, and the configuration that was chosen.
Run: python examples/00_quickstart.py [--device npu]
"""

from __future__ import annotations

import time

import click
import torch
from rich.console import Console
from rich.table import Table

import deep_gemm
from deep_gemm.heuristics import DType, GemmDesc, choose_config, modelled_ns
from deep_gemm.testing import bf16_reference, calc_diff, error_bound

# name, m, n, k: an output projection for 128 tokens, and sizes that fill no tile
SHAPES = (("projection", 128, 7168, 2048), ("ragged", 130, 257, 2048))
MAX_DIFF = 1e-5


def timed(a: torch.Tensor, b: torch.Tensor, d: torch.Tensor) -> float:
    """Milliseconds of one call."""
    start = time.perf_counter()
    deep_gemm.bf16_gemm_nt(a, b, d)
    if d.device.type != "cpu":
        torch.npu.synchronize()  # type: ignore[attr-defined]
    return (time.perf_counter() - start) * 1e3


def run_shape(name: str, m: int, n: int, k: int, device: str) -> tuple[list[str], bool]:
    """One row of the report, and whether the result is right."""
    torch.manual_seed(0)
    a = torch.randn(m, k).bfloat16()
    b = torch.randn(n, k).bfloat16()
    d = torch.empty(m, n, dtype=torch.bfloat16, device=device)
    on_device = a.to(device), b.to(device)
    first = timed(*on_device, d)  # compiles the kernel unless it is in the cache
    again = min(timed(*on_device, d) for _ in range(3))

    result, reference = d.cpu().double(), bf16_reference(a, b)
    diff = calc_diff(result, reference)
    worst = float(((result - reference).abs() / error_bound(a, b, d.dtype)).max())

    desc = GemmDesc(m, n, k, DType.BF16, DType.BF16, num_cores=deep_gemm.get_num_sms())
    config = choose_config(desc)
    chosen = (
        f"block {config.block_m}x{config.block_n}x{config.block_k}, "
        f"mad {config.mad_m}x{config.mad_n}x{config.mad_k}, {config.num_l1_stages} L1 stages"
        + (", direct store" if config.direct_store else "")
    )
    row = [
        f"{name}\n{m}x{n}x{k}",
        f"{diff:.1e}",
        f"{worst:.2f}",
        f"{first:.0f}",
        f"{again:.1f}",
        f"{modelled_ns(desc) / 1e3:.1f}",
        chosen,
    ]
    return row, diff < MAX_DIFF and worst <= 1


@click.command()
@click.option("--device", default="cpu", show_default=True, help="cpu (emulator) or npu.")
def main(device: str) -> None:
    """Run both shapes and print the report."""
    where = "the emulator" if device == "cpu" else "the NPU"
    console = Console(width=110)
    console.print(f"deep_gemm {deep_gemm.__version__} on {where}")
    table = Table(title="d = a @ b.T in bf16")
    for header in (
        "shape", "diff to\nfloat64", "error /\nbound", "first\ncall ms", "repeat\nms",
        "modelled\ndevice us", "configuration",
    ):  # fmt: skip
        table.add_column(header)
    good = True
    for shape in SHAPES:
        row, right = run_shape(*shape, device)
        table.add_row(*row)
        good = good and right
    console.print(table)
    console.print(
        "error / bound: largest error as a share of what fp32 sums and bf16 rounding allow"
    )
    if not good:
        raise click.ClickException(f"a result is wrong: diff must stay below {MAX_DIFF}")


if __name__ == "__main__":
    main()
