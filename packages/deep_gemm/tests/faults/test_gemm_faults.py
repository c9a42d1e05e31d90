"""GEMM calls while compiler, cache or processes misbehave.

Each case runs a fresh interpreter with its own cache, sharing only the emulator runtime.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.faults

PRELUDE = """
import os, sys, torch, deep_gemm
from pathlib import Path
def operands(m=20, n=24, k=40, seed=0):
    g = torch.Generator().manual_seed(seed)
    a = torch.randn(m, k, generator=g).bfloat16()
    b = torch.randn(n, k, generator=g).bfloat16()
    return a, b, torch.full((m, n), 7.0)
def check(d, a, b):
    error = (d.double() - a.double() @ b.double().T).abs().max()
    assert error < 1e-4, error
"""


def interpreter(script: str) -> list[str]:
    return [sys.executable, "-c", PRELUDE + textwrap.dedent(script)]


def environment(root: Path, shared: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    environ = {key: value for key, value in os.environ.items() if not key.startswith("DG_")}
    environ |= {"DJ_JIT_CACHE_DIR": str(root), "DJ_JIT_RUNTIME_DIR": str(shared)}
    return environ | dict(extra or {})


def run(script: str, environ: Mapping[str, str]) -> str:
    done = subprocess.run(
        interpreter(script), env=dict(environ), capture_output=True, text=True, check=False,
        timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


GOOD = """
a, b, d = operands()
deep_gemm.bf16_gemm_nt(a, b, d)
check(d, a, b)
print("right")
"""

FAILS = """
a, b, d = operands()
try:
    deep_gemm.bf16_gemm_nt(a, b, d, c=torch.ones_like(d))
except deep_gemm.errors.Error as error:
    assert bool((d == 7.0).all()), "D was written"
    print(type(error).__name__, "|", str(error).replace("\\n", " "))
"""


@pytest.fixture
def env(tmp_path: Path, jit_cache_root: Path) -> dict[str, str]:
    return environment(tmp_path / "cache", jit_cache_root)


def test_missing_compiler(env: dict[str, str]) -> None:
    env["DG_JIT_HOST_COMPILER"] = "/nonexistent/g++"
    text = run(FAILS, env)
    assert text.startswith("ToolchainError")
    assert "/nonexistent/g++" in text


def test_failing_compiler(env: dict[str, str], tmp_path: Path) -> None:
    # Answers questions, refuses to compile kernels
    fake = tmp_path / "g++"
    fake.write_text(
        '#!/bin/sh\ncase "$*" in *kernel*) echo "no luck today" >&2; exit 3;; esac\nexec g++ "$@"\n'
    )
    fake.chmod(0o755)
    env["DG_JIT_HOST_COMPILER"] = str(fake)
    text = run(FAILS, env)
    assert text.startswith("CompileError")
    assert "no luck today" in text


def test_a_failure_does_not_stick(env: dict[str, str], tmp_path: Path) -> None:
    fake = tmp_path / "g++"
    fake.write_text(
        '#!/bin/sh\ncase "$*" in *kernel*) test -e "$FLAG" || exit 3;; esac\nexec g++ "$@"\n'
    )
    fake.chmod(0o755)
    env |= {"DG_JIT_HOST_COMPILER": str(fake), "FLAG": str(tmp_path / "flag")}
    script = FAILS + 'Path(os.environ["FLAG"]).touch()\n' + GOOD
    assert run(script, env).endswith("right")


def test_cache_path_with_blanks_and_non_ascii(env: dict[str, str], tmp_path: Path) -> None:
    env["DG_JIT_CACHE_DIR"] = str(tmp_path / "cache with blanks ü 漢")
    assert run(GOOD, env) == "right"
    assert run(GOOD, env) == "right"
    entries = list((tmp_path / "cache with blanks ü 漢" / "cache").iterdir())
    assert len(entries) == 1


def test_cache_root_that_is_a_file(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    env["DG_JIT_CACHE_DIR"] = str(tmp_path / "file")
    assert run(GOOD, env) == "right"
    assert (tmp_path / "file").read_text() == "not a directory"


@pytest.mark.parametrize("damage", ["empty", "truncated", "foreign"])
def test_corrupted_kernel_is_rebuilt(env: dict[str, str], tmp_path: Path, damage: str) -> None:
    assert run(GOOD, env) == "right"
    binaries = list((tmp_path / "cache" / "cache").glob("bf16_gemm.*/kernel.so"))
    assert binaries
    for binary in binaries:
        whole = binary.read_bytes()
        binary.chmod(stat.S_IRUSR | stat.S_IWUSR)
        binary.write_bytes(
            {"empty": b"", "truncated": whole[:1000], "foreign": whole[:64] + bytes(5000)}[damage]
        )
    assert run(GOOD, env) == "right"
    assert any(binary.read_bytes() == whole for binary in binaries)


def test_two_processes_race_for_one_kernel(env: dict[str, str], tmp_path: Path) -> None:
    children = [
        subprocess.Popen(interpreter(GOOD), env=env, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for child in children:
        out, _ = child.communicate(timeout=240)
        assert child.returncode == 0
        assert out.strip() == "right"
    assert len(list((tmp_path / "cache" / "cache").iterdir())) == 1


def test_killed_while_compiling(env: dict[str, str], tmp_path: Path) -> None:
    fake = tmp_path / "g++"
    fake.write_text(
        '#!/bin/sh\ncase "$*" in *kernel*) test -e "$FLAG" || kill -9 $PARENT;; esac\n'
        'exec g++ "$@"\n'
    )
    fake.chmod(0o755)
    env |= {"DG_JIT_HOST_COMPILER": str(fake), "FLAG": str(tmp_path / "flag")}
    script = 'os.environ["PARENT"] = str(os.getpid())\n' + GOOD
    done = subprocess.run(interpreter(script), env=env, capture_output=True, check=False)
    assert done.returncode == -9
    (tmp_path / "flag").touch()
    assert run(script, env) == "right"


def test_fork_after_use(env: dict[str, str]) -> None:
    script = """
    a, b, d = operands()
    deep_gemm.bf16_gemm_nt(a, b, d)
    child = os.fork()
    if child == 0:
        try:
            torch.set_num_threads(1)
            for seed, n in ((1, 24), (2, 33)):
                a, b, d = operands(n=n, seed=seed)
                deep_gemm.bf16_gemm_nt(a, b, d)
                check(d, a, b)
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
    deep_gemm.bf16_gemm_nt(a, b, d)
    check(d, a, b)
    print("right")
    """
    assert run(script, env) == "right"
