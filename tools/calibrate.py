"""Makes the calibration report of the timing model (packages/deep_gemm/benchmarks/results).

The program is a benchmark of deep_gemm, whose kernels cover published rows; see
`python tools/calibrate.py --help`.
"""

from __future__ import annotations

import runpy
import sys

from _repository import PACKAGES

FOLDER = PACKAGES / "deep_gemm" / "benchmarks"


def main() -> None:
    """Runs the benchmark as if started from its own folder."""
    sys.path.insert(0, str(FOLDER))
    sys.argv[0] = "calibrate.py"
    runpy.run_path(str(FOLDER / "bench_calibration.py"), run_name="__main__")


if __name__ == "__main__":
    main()
