"""A disk hit in a new process: no compiler runs, and nothing is built (issue: at most 20 ms)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CODE = """
import sys, time
import numpy as np
from pathlib import Path
from deep_jit._shared.jit.config import Config
from deep_jit._shared.jit.options import LaunchOptions
from deep_jit._shared.jit.runtime import Runtime
source = '''
#include <c_api/asc_simd.h>
extern "C" __global__ __vector__ void add(__gm__ int32_t* out) { *out += 5; }
'''
runtime = Runtime(Config(sys.argv[1], "TT"), backend="cpu")
kernel = runtime.compile("hit", source)
out = np.zeros(1, np.int32)
kernel(LaunchOptions(num_blocks=1), out)
print(out[0], runtime.stats.builds, runtime.stats.disk_hits)
"""


def _run(environ: dict[str, str], root: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(root)], env=environ, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_only_the_first_process_runs_the_compiler(fakes, runtime_home, tmp_path):
    record = tmp_path / "runs"
    compiler = fakes.script(tmp_path / "g++ ü", f'echo run >> "{record}"\nexec g++ "$@"\n')
    environ = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "TT_JIT_CACHE_DIR": str(tmp_path / "cache dir 上"),
        "TT_JIT_RUNTIME_DIR": str(runtime_home),
        "TT_JIT_HOST_COMPILER": str(compiler),
    }
    assert _run(environ, tmp_path) == ["5", "1", "0"]
    cold = record.read_text().count("run")
    assert cold >= 3  # version, triple, kernel; the precompiled header if it was not there
    assert _run(environ, tmp_path) == ["5", "0", "1"]
    assert record.read_text().count("run") == cold


def test_a_deleted_entry_needs_one_compiler_run(fakes, runtime_home, tmp_path):
    record = tmp_path / "runs"
    compiler = fakes.script(tmp_path / "g++", f'echo run >> "{record}"\nexec g++ "$@"\n')
    environ = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "TT_JIT_CACHE_DIR": str(tmp_path / "cache"),
        "TT_JIT_RUNTIME_DIR": str(runtime_home),
        "TT_JIT_HOST_COMPILER": str(compiler),
    }
    _run(environ, tmp_path)
    record.unlink()
    environ["TT_JIT_CACHE_DIR"] = str(tmp_path / "fresh")
    assert _run(environ, tmp_path) == ["5", "1", "0"]
    assert record.read_text().count("run") == 1
