"""Programs with their own `main()`: build, cache, run, errors."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from deep_jit._shared.jit.errors import CompileError, ConfigError
from deep_jit.run import build_program, run_program

EXAMPLES = Path(__file__).parents[2] / "examples"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text))
    return path


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("*.asc")))
@pytest.mark.parametrize("schedule", ["immediate", "deferred"])
def test_examples(example: str, schedule: str, capfd: pytest.CaptureFixture[str]) -> None:
    status = run_program(EXAMPLES / example, options={"schedule": schedule, "threads": 2})
    out, err = capfd.readouterr()
    assert status == 0, out + err
    assert "[ERROR]" not in err


def test_arguments_folder_and_status_are_the_programs_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    program = write(
        tmp_path / "with blank é" / "prog.asc",
        """\
        #include <cstdio>
        #include <fstream>
        #include <string>
        int main(int argc, char** argv) {
            std::string word;
            std::ifstream("here.txt") >> word;
            while (argc > 1) std::printf("%s %s\\n", word.c_str(), argv[--argc]);
            return STATUS;
        }
        """,
    )
    (tmp_path / "here.txt").write_text("found")
    monkeypatch.chdir(tmp_path)
    assert run_program(program, ["a b", "-D"], defines=["STATUS=7"]) == 7
    assert capfd.readouterr().out == "found -D\nfound a b\n"


def test_status_of_a_killed_program(tmp_path: Path) -> None:
    program = write(tmp_path / "p.asc", "#include <cstdlib>\nint main() { std::abort(); }\n")
    assert run_program(program) == 128 + 6


LAUNCHES = """\
#include <cstdio>
#include "acl/acl.h"
#include "c_api/asc_simd.h"

template <int kAdd, class T>
__global__ __vector__ void add(__gm__ T* a, T b) {
    a[block_idx] += b + kAdd + kExtra;
}
__global__ __mix__(1, 2) void count(__gm__ uint32_t* cores) {
    if constexpr (ASC_IS_AIC) {
        cores[block_idx * 3] += 1;
    } else {
        cores[block_idx * 3 + 1 + asc_get_sub_block_id()] += 1;
    }
}
struct Launcher {
    aclrtStream stream;
    void run(int32_t* a, int blocks) {
        add<1, int32_t>
            <<<blocks, 0,
               stream>>>(a,
                         10);  // broken over lines
    }
};
int main() {
    void *a, *cores;
    aclrtStream stream = nullptr;
    if (aclrtCreateStream(&stream) != ACL_SUCCESS) goto cleanup;
    aclrtMalloc(&a, 4 * sizeof(int32_t), ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&cores, 6 * sizeof(uint32_t), ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemset(a, 16, 0, 16);
    aclrtMemset(cores, 24, 0, 24);
    Launcher{stream}.run(static_cast<int32_t*>(a), 4);
    if constexpr (kExtra == 5) add<2, int32_t><<<3, nullptr, stream>>>((int32_t*)a, 100);
    else add<3, int32_t><<<3, nullptr, stream>>>((int32_t*)a, 100);
    for (int i = 0; i < 2; ++i) count<<<2, 0>>>(static_cast<uint32_t*>(cores));
cleanup:
    if (aclrtSynchronizeStream(stream) != ACL_SUCCESS) return 1;
    for (int i = 0; i < 4; ++i) std::printf("%d ", static_cast<int32_t*>(a)[i]);
    for (int i = 0; i < 6; ++i) std::printf("%u ", static_cast<uint32_t*>(cores)[i]);
    return 0;
}
"""


def test_forms_of_launches(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = "constexpr int kExtra = 5;\n" + LAUNCHES
    program = write(tmp_path / "launches.asc", text)
    assert run_program(program) == 0
    assert capfd.readouterr().out == "123 123 123 16 2 2 2 2 2 2 "


VECTOR_CALL = """\
#include <cstdio>
#include "acl/acl.h"
#include "c_api/asc_simd.h"
template <class T>
__simd_vf__ inline void twice(__ubuf__ T* dst, __ubuf__ T* src, uint32_t n) {
    vector_float value, sum;
    vector_bool mask = asc_update_mask_b32(n);
    asc_loadalign(value, src);
    asc_add(sum, value, value, mask);
    asc_storealign(dst, sum, mask);
}
__global__ __vector__ void k(__gm__ float* data) {
    asc_init();
    __ubuf__ float src[64], dst[64];
    asc_copy_gm2ub_align(src, data, 256);
    asc_sync_notify(PIPE_MTE2, PIPE_V, EVENT_ID0);
    asc_sync_wait(PIPE_MTE2, PIPE_V, EVENT_ID0);
    twice<float>(dst, src, 64);
    asc_sync_notify(PIPE_V, PIPE_MTE3, EVENT_ID0);
    asc_sync_wait(PIPE_V, PIPE_MTE3, EVENT_ID0);
    asc_copy_ub2gm_align(data, dst, 256);
    asc_sync();
}
int main() {
    void* data;
    aclrtMalloc(&data, 256, ACL_MEM_MALLOC_HUGE_FIRST);
    for (int i = 0; i < 64; ++i) static_cast<float*>(data)[i] = i + 1;
    k<<<1, 0>>>(static_cast<float*>(data));
    int wrong = 0;
    for (int i = 0; i < 64; ++i) wrong += static_cast<float*>(data)[i] != 2 * (i + 1);
    std::printf("%d", wrong);
    return aclrtSynchronizeDevice();
}
"""


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_direct_call_of_a_vector_function_waits_for_its_pipe(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], seed: int
) -> None:
    program = write(tmp_path / "vector.asc", VECTOR_CALL)
    options = {"schedule": "deferred", "seed": seed, "uninitialized": "nan"}
    assert run_program(program, options=options) == 0
    assert capfd.readouterr().out == "0"


def test_kernels_print(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = write(
        tmp_path / "hello.asc",
        """\
        #include "kernel_operator.h"
        #include "acl/acl.h"
        __global__ __vector__ void hello() {
            AscendC::printf("block %lu of %lu\\n", AscendC::GetBlockIdx(), AscendC::GetBlockNum());
        }
        int main() {
            hello<<<3, 0, nullptr>>>();
            return aclrtSynchronizeStream(nullptr);
        }
        """,
    )
    assert run_program(program) == 0
    lines = sorted(capfd.readouterr().out.splitlines())
    assert lines == ["block 0 of 3", "block 1 of 3", "block 2 of 3"]


def test_failing_kernel_fails_the_program(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = write(
        tmp_path / "bad.asc",
        """\
        #include <cstdio>
        #include "acl/acl.h"
        #include "c_api/asc_simd.h"
        __global__ __cube__ void too_big() { __cbuf__ uint8_t a[1 << 20]; asc_init(); (void)a; }
        int main() {
            too_big<<<1, 0>>>();
            std::printf("%d", aclrtSynchronizeDevice());
            const char* text = aclGetRecentErrMsg();
            std::printf(" %s %d\\n", text, aclGetRecentErrMsg() == nullptr);
            return 0;
        }
        """,
    )
    assert run_program(program) == 1
    out, err = capfd.readouterr()
    assert out.startswith("507015 kernel too_big: ")
    assert out.endswith(" 1\n")
    assert "[ERROR] kernel too_big: " in err
    assert "1048576 bytes" in err


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("0, 0", "numBlocks = 0; allowed: 1 to 65535"),
        ("65536, 0", "numBlocks = 65536; allowed: 1 to 65535"),
        ("1, -1", "dynamic UB of -1 bytes; allowed: 0 to 262144"),
    ],
)
def test_bad_launch_configuration(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], config: str, message: str
) -> None:
    program = write(
        tmp_path / "p.asc",
        f"""\
        #include "acl/acl.h"
        #include "c_api/asc_simd.h"
        __global__ __cube__ void k() {{}}
        int main() {{ k<<<{config}, nullptr>>>(); return 0; }}
        """,
    )
    assert run_program(program) == 1
    assert message in capfd.readouterr().err


def test_acl_calls_report_wrong_arguments(tmp_path: Path) -> None:
    program = write(
        tmp_path / "acl.asc",
        """\
        #include <cstring>
        #include "acl/acl.h"
        int check(bool ok, int line) { return ok ? 0 : line; }
        #define CHECK(x) if (int line = check((x), __LINE__)) return line
        int main() {
            void* p = nullptr;
            char text[8] = "abc";
            CHECK(aclrtMalloc(&p, 0, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_INVALID_PARAM);
            CHECK(std::strstr(aclGetRecentErrMsg(), "size 0") != nullptr);
            CHECK(aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_INVALID_PARAM);
            CHECK(aclrtMalloc(&p, SIZE_MAX / 2, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_BAD_ALLOC);
            CHECK(aclrtMalloc(&p, 8, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
            CHECK(reinterpret_cast<uintptr_t>(p) % 512 == 0);
            CHECK(aclrtMemcpy(p, 2, text, 3, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_ERROR_INVALID_PARAM);
            CHECK(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_INVALID_PARAM);
            CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_INVALID_PARAM);
            CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS);
            CHECK(aclrtMemcpy(p, 8, text, 4, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);
            CHECK(std::strcmp(static_cast<char*>(p), "abc") == 0);
            CHECK(aclrtMemset(p, 4, 0, 5) == ACL_ERROR_INVALID_PARAM);
            CHECK(aclrtFree(p) == ACL_SUCCESS);
            CHECK(aclrtFree(nullptr) == ACL_ERROR_INVALID_PARAM);
            CHECK(aclrtSetDevice(1) == ACL_ERROR_INVALID_DEVICE);
            int64_t cores = 0;
            CHECK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &cores) == ACL_SUCCESS);
            CHECK(cores == 64);
            return 0;
        }
        """,
    )
    assert run_program(program) == 0


def test_compile_error_names_the_users_line(tmp_path: Path) -> None:
    program = write(
        tmp_path / "p.asc",
        """\
        #include "c_api/asc_simd.h"
        #include "part.h"
        void f() { __cbuf__ half
            a[4]; g(); }
        int main() { no_such_thing(); }
        """,
    )
    part = write(tmp_path / "part.h", "#pragma once\ninline void g() {}\nint broken = nothing;\n")
    with pytest.raises(CompileError) as caught:
        build_program(program)
    output = str(caught.value) + caught.value.output
    assert f"{program}:5:" in output
    assert f"{part}:3:" in output


def test_build_is_kept_and_follows_its_headers(tmp_path: Path, empty_jit_cache: Path) -> None:
    del empty_jit_cache
    program = write(
        tmp_path / "p.asc",
        '#include "quoted.h"\n#include <angle.h>\nint main() { return kQuoted + kAngle; }\n',
    )
    write(tmp_path / "quoted.h", "constexpr int kQuoted = 1;\n")
    write(tmp_path / "include" / "angle.h", "constexpr int kAngle = 10;\n")
    folders = [tmp_path / "include"]
    first = build_program(program, include_dirs=folders)
    written = first.stat().st_mtime_ns
    assert build_program(program, include_dirs=folders) == first
    assert first.stat().st_mtime_ns == written
    assert run_program(program, include_dirs=folders) == 11
    write(tmp_path / "quoted.h", "constexpr int kQuoted = 2;\n")
    assert run_program(program, include_dirs=folders) == 12
    write(tmp_path / "include" / "angle.h", "constexpr int kAngle = 20;\n")
    assert run_program(program, include_dirs=folders) == 22


@pytest.mark.parametrize("define", ["=1", "A B", "1A=2", "-DX"])
def test_bad_macro(tmp_path: Path, define: str) -> None:
    program = write(tmp_path / "p.asc", "int main() {}\n")
    with pytest.raises(ConfigError, match="allowed: NAME or NAME=VALUE"):
        build_program(program, defines=[define])


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read the program .*gone.asc"):
        build_program(tmp_path / "gone.asc")
