"""`deep-jit run --sanitize`: findings as text and JSON, exit status, programs and kernels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAM = """\
#include "acl/acl.h"
#include "c_api/asc_simd.h"
extern "C" __global__ __vector__ void copy(__gm__ uint8_t* src, __gm__ uint8_t* dst,
                                            uint32_t bytes) {
    __ubuf__ uint8_t* ub = reinterpret_cast<__ubuf__ uint8_t*>(0);
    asc_copy_gm2ub_align(ub, src, bytes);
    asc_sync_notify(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
#ifndef BROKEN
    asc_sync_wait(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
#endif
    asc_copy_ub2gm_align(dst, ub, bytes);
}
int main() {
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtStream stream = nullptr;
    aclrtCreateStream(&stream);
    void *src = nullptr, *dst = nullptr;
    aclrtMalloc(&src, 640, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&dst, 640, ACL_MEM_MALLOC_HUGE_FIRST);
    copy<<<1, nullptr, stream>>>(static_cast<uint8_t*>(src), static_cast<uint8_t*>(dst), 640);
    aclrtSynchronizeStream(stream);
    return 0;
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "copy.asc"
    path.write_text(PROGRAM)
    return path


def _run(file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "deep_jit.cli", "run", os.fspath(file), "--threads", "1"]
    return subprocess.run([*command, *words], capture_output=True, text=True, check=False)


def test_an_intact_program_keeps_its_status(file: Path) -> None:
    done = _run(file, "--sanitize", "all", "--error-exitcode", "9")
    assert done.returncode == 0, done.stderr
    assert "checkers: 0 errors, 0 warnings" in done.stderr


def test_an_error_gives_the_chosen_status_and_both_lines(file: Path) -> None:
    done = _run(file, "--sanitize", "racecheck", "--error-exitcode", "9", "-D", "BROKEN")
    assert done.returncode == 9, done.stderr
    assert "writes: CopyGmToUb on AIV0 MTE2 of block 0" in done.stderr
    assert "copy.asc:6" in done.stderr
    assert "copy.asc:11" in done.stderr
    assert "to fix: notify MTE2->MTE3" in done.stderr


def test_json(file: Path) -> None:
    done = _run(file, "--sanitize", "racecheck,synccheck", "--json", "-D", "BROKEN")
    assert done.returncode == 1, done.stderr
    result = json.loads(done.stdout)
    assert (result["errors"], result["warnings"]) == (1, 1)
    assert [place["line"] for place in result["reports"][0]["places"]] == [6, 11]


def test_a_kernel_on_files(file: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.arange(640, dtype=np.uint8))
    words = (f"{tmp_path}/in.npy", f"out:{tmp_path}/out.npy:uint8:640")
    done = _run(file, "--kernel", "copy", "--sanitize", "all", "--json", *words, "u32:641")
    assert done.returncode == 1, done.stderr
    result = json.loads(done.stdout)
    assert "1 bytes behind the end of 'argument 0" in result["reports"][0]["message"]
    assert result["written"] == []
    done = _run(file, "--kernel", "copy", "--sanitize", "all", "--json", *words, "u32:640")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["written"] == [f"{tmp_path}/out.npy"]


@pytest.mark.parametrize(
    ("checks", "found"), [("all", True), ("racecheck", True), ("synccheck", False), ("none", False)]
)
def test_the_environment_alone_turns_checkers_on(
    file: Path, monkeypatch: pytest.MonkeyPatch, checks: str, found: bool
) -> None:
    monkeypatch.setenv("DJ_EMU_CHECKS", checks)
    done = _run(file, "-D", "BROKEN")
    assert ("racecheck error: race on UB" in done.stderr) == found, done.stderr
    assert (done.returncode != 0) == found


SIMT_PROGRAM = """\
#include "acl/acl.h"
#include "simt_api/asc_simt.h"
struct Pad { int32_t by[1000]; };
__global__ void add(__gm__ int32_t* data, Pad pad) {
    data[threadIdx.x] += pad.by[threadIdx.x * 10];
}
int main() {
    int32_t here[64] = {};
    Pad pad = {};
    void* data = nullptr;
    aclrtMalloc(&data, sizeof(here), ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemset(data, sizeof(here), 0, sizeof(here));
#ifdef BROKEN
    data = here;
#endif
    void (*const kernel)(int32_t*, Pad) = add;
    int32_t* const numbers = static_cast<int32_t*>(data);
    if (data != nullptr) kernel<<<dim3(1), dim3(64), 0, nullptr>>>(numbers, pad);
    return aclrtSynchronizeDevice();
}
"""


def test_threads_read_their_arguments_but_no_other_memory_of_the_host(tmp_path: Path) -> None:
    file = tmp_path / "add.asc"
    file.write_text(SIMT_PROGRAM)
    done = _run(file, "--sanitize", "all")
    assert done.returncode == 0, done.stderr
    assert "checkers: 0 errors, 0 warnings" in done.stderr
    done = _run(file, "--sanitize", "all", "--json", "-D", "BROKEN")
    assert done.returncode != 0, done.stderr
    reports = json.loads(done.stdout)["reports"]
    assert [(r["checker"], r["places"][0]["line"]) for r in reports] == [("memcheck", 5)]
