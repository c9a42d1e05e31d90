"""`deep-jit run --profile/--timeline/--save-trace` and `deep-jit replay`, programs and kernels."""

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
    asc_sync_wait(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    asc_copy_ub2gm_align(dst, ub, bytes);
}
int main() {
    void *src = nullptr, *dst = nullptr;
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtMalloc(&src, 65536, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&dst, 65536, ACL_MEM_MALLOC_HUGE_FIRST);
    for (uint32_t bytes : {640u, 65536u})
        copy<<<1, nullptr>>>(static_cast<uint8_t*>(src), static_cast<uint8_t*>(dst), bytes);
    return aclrtSynchronizeDevice() + 3;
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "copy.asc"
    path.write_text(PROGRAM)
    return path


def _cli(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "deep_jit.cli", *words]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "COLUMNS": "100"},
    )


def test_a_program(file: Path, tmp_path: Path) -> None:
    done = _cli(
        tmp_path,
        *("run", "copy.asc", "--profile", "--timeline", "copy.json", "--save-trace", "copy.trace"),
    )
    assert done.returncode == 3, done.stderr  # the program's own
    assert done.stderr.count("copy: modelled (replay): ") == 2
    assert "MTE3" in done.stderr
    events = json.loads((tmp_path / "copy.json").read_text())["traceEvents"]
    work = [event for event in events if event["ph"] == "X"]
    assert [event["name"] for event in work] == ["CopyGmToUb", "CopyUbToGm"]
    assert {event["args"]["bytes"] for event in work} == {65536}
    assert [event["args"]["line"] for event in work] == ["copy.asc:6", "copy.asc:9"]

    slow = _cli(tmp_path, "replay", "copy.trace", "--json", "--set", "clock_mhz=825")
    fast = _cli(tmp_path, "replay", "copy.trace", "--json", "--timeline", "again.json")
    assert slow.returncode == fast.returncode == 0, slow.stderr + fast.stderr
    assert json.loads(slow.stdout)["duration_us"] > json.loads(fast.stdout)["duration_us"]
    assert json.loads((tmp_path / "again.json").read_text())["traceEvents"] == events

    wrong = _cli(tmp_path, "replay", "copy.trace", "--set", "clock")
    assert wrong.returncode == 1
    assert "allowed: NAME=NUMBER" in wrong.stderr


def test_json_has_findings_and_profiles(file: Path, tmp_path: Path) -> None:
    done = _cli(tmp_path, "run", "copy.asc", "--sanitize", "all", "--timing", "fast", "--json")
    result = json.loads(done.stdout)
    assert (result["errors"], result["warnings"]) == (0, 0)
    modes = [(profile["mode"], profile["modelled"]) for profile in result["profiles"]]
    assert modes == [("fast", True), ("fast", True)]
    assert result["profiles"][1]["gm_read_bytes"] == 65536


def test_a_kernel_on_files(file: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.arange(640, dtype=np.uint8))
    done = _cli(
        tmp_path,
        *("run", "copy.asc", "--kernel", "copy", "--timeline", "k.json", "--save-trace", "k.trace"),
        *("in.npy", "out:out.npy:uint8:640", "u32:640"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "out.npy\n"
    assert "copy: modelled (replay): " in done.stderr
    assert (tmp_path / "k.json").is_file()
    assert _cli(tmp_path, "replay", "k.trace").returncode == 0
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), np.arange(640, dtype=np.uint8))


THREADS = """\
#include "acl/acl.h"
#include "c_api/asc_simd.h"
#include "simt_api/asc_simt.h"
#include "rounds.h"
__global__ __launch_bounds__(64) void direct(const int32_t* in, int32_t* out, int32_t rounds) {
    for (int32_t i = 0; i < rounds; ++i) { out[threadIdx.x] = in[threadIdx.x] + i; }
}
__global__ __vector__ void called(__gm__ int32_t* in, __gm__ int32_t* out, int32_t rounds) {
    asc_vf_call<work>(dim3(64), in, out, rounds);
}
int main() {
    int32_t *in = nullptr, *out = nullptr;
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtMalloc((void**)&in, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void**)&out, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
    for (int32_t rounds : {10, 110}) {
        direct<<<dim3(1), dim3(64), 0, nullptr>>>(in, out, rounds);
        called<<<1, nullptr>>>(in, out, rounds);
    }
    return aclrtSynchronizeDevice();
}
"""
ROUNDS = """\
__simt_vf__ __launch_bounds__(64) inline void work(__gm__ int32_t* in, __gm__ int32_t* out,
                                                   int32_t rounds) {
    for (int32_t i = 0; i < rounds; ++i) { out[threadIdx.x] = in[threadIdx.x] + i; }
}
"""


def test_simt_functions_of_a_program_take_time(tmp_path: Path) -> None:
    (tmp_path / "threads.asc").write_text(THREADS)
    (tmp_path / "rounds.h").write_text(ROUNDS)
    done = _cli(tmp_path, "run", "threads.asc", "--timing", "fast", "--json")
    assert done.returncode == 0, done.stderr
    profiles = json.loads(done.stdout[done.stdout.index("{") :])["profiles"]
    assert [profile["kernel"] for profile in profiles] == ["direct", "called"] * 2
    for name in ("direct", "called"):
        few, many = (p["cycles"] for p in profiles if p["kernel"] == name)
        assert many - few >= 100 * 550  # a load from global memory holds its warp for so long
