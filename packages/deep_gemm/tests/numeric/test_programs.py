"""Examples and README snippets run as a reader would run them; benchmarks at their smallest."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))


def run(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=False, timeout=280
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path) -> None:
    assert run(str(path))


def test_quickstart_reports_error_time_and_configuration() -> None:
    text = run(str(ROOT / "examples" / "00_quickstart.py"))
    for word in ("128x7168x2048", "130x257x2048", "float64", "repeat", "block 128x224x128"):
        assert word in text


@pytest.mark.parametrize("name", ["README.md", "docs/emulator.md"])
def test_snippets_run(name: str, tmp_path: Path) -> None:
    text = (ROOT / name).read_text()
    program = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    path = tmp_path / "snippets.py"
    path.write_text(program)
    run(str(path))


@pytest.mark.bench
def test_gemm_benchmark_at_smoke_size(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    program = str(ROOT / "benchmarks" / "bench_bf16_gemm.py")
    run(program, "--rounds", "1", "--isa", "best", "--no-memory", "--smoke", "--csv", str(path))
    header, *rows = path.read_text().splitlines()
    assert header.startswith("shape,variant,clock,ms,gflops")
    variants = {row.split(",")[1] for row in rows}
    assert variants >= {"torch fp32", "torch bf16", "deep_gemm exact best", "deep_gemm fast best"}
    assert all("bench_bf16_gemm.py --rounds 1" in row for row in rows)


@pytest.mark.bench
def test_mx_benchmark_at_smoke_size(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    program = str(ROOT / "benchmarks" / "bench_mx_gemm.py")
    run(program, "--rounds", "1", "--smoke", "--csv", str(path))
    header, *rows = path.read_text().splitlines()
    assert header.startswith("shape,variant,ms,gflops")
    assert len(rows) == 6
    assert all("bench_mx_gemm.py --rounds 1" in row for row in rows)
