"""The package itself: it imports lightly and knows its version (architecture.md section 4)."""

import subprocess
import sys
from importlib import metadata

import tile_kernels

SCRIPT = "import sys, tile_kernels; print(*sorted(sys.modules))"


def test_version_is_that_of_the_distribution():
    assert tile_kernels.__version__ == metadata.version("tile-kernels")


def test_import_loads_no_compiled_module():
    command = [sys.executable, "-c", SCRIPT]
    loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert "tile_kernels" in loaded
    assert "tile_kernels._native" not in loaded
