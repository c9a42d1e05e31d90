"""The package itself: it imports lightly and knows its version (architecture.md section 4)."""

import subprocess
import sys
from importlib import metadata

import deep_jit

SCRIPT = "import sys, deep_jit; print(*sorted(sys.modules))"


def test_version_is_that_of_the_distribution():
    assert deep_jit.__version__ == metadata.version("deep-jit")


def test_import_loads_no_compiled_module():
    command = [sys.executable, "-c", SCRIPT]
    loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert "deep_jit" in loaded
    assert "deep_jit._native" not in loaded
