"""The calibration benchmark: its published rows, its arithmetic, and one small run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
RESULTS = BENCHMARKS / "results" / "calibration.csv"

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from calibration_rows import DENSE, NOT_COVERED, PEAK_TFLOPS
"""


def python(text: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + text, str(BENCHMARKS)],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_published_times_and_rates_agree() -> None:
    # TFLOPS as published next to the times: the table was typed in correctly
    out = python("""
for row in DENSE:
    print(row, round(row.flops / row.us / 1e6))
print(len(DENSE) + sum(count for _, count in NOT_COVERED))
""")
    rates = dict(line.rsplit(" ", 1) for line in out.splitlines()[:-1])
    assert rates["bf16 4096x7168x16384"] == "431"
    assert rates["fp4 4096x7168x16384"] == "1701"
    published = {
        "2112x7168": (258, 790), "576x7168": (105, 619), "24576x1536": (468, 854),
        "32768x512": (415, 837), "7168x16384": (549, 861), "4096x7168": (397, 850),
        "7168x2048": (373, 838),
    }  # fmt: skip
    for shape, (small, large) in published.items():
        assert int(rates[f"fp8 128x{shape}"]) == pytest.approx(small, abs=2)
        assert int(rates[f"fp8 4096x{shape}"]) == pytest.approx(large, abs=2)
    assert out.splitlines()[-1] == "44"


def test_the_committed_table_has_every_row_and_no_row_is_five_percent_slower() -> None:
    names = python("print(*DENSE, sep='\\n')").splitlines()
    header, *lines = RESULTS.read_text().splitlines()
    columns = header.split(",")
    rows = [dict(zip(columns, line.split(","), strict=True)) for line in lines]
    assert [row["row"] for row in rows] == names
    assert all(float(row["error_percent"]) <= 5 for row in rows)
    # Below the launch and the machine's peak, a modelled time is a bug
    assert all(0 < float(row["modelled_percent_of_peak"]) < 100 for row in rows)


@pytest.mark.bench
def test_calibration_at_smoke_size() -> None:
    program = [sys.executable, str(BENCHMARKS / "bench_calibration.py"), "--smoke"]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr
    assert "small: 1 rows" in done.stdout
    assert "not covered: 28 published rows" in done.stdout
