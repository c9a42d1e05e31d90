"""Launching in the emulator: faults, limits, threads, forks, files (deep_jit.md section 20)."""

from __future__ import annotations

import faulthandler
import os
import shutil
import threading
import time
import traceback

import numpy as np
import pytest

from deep_jit._shared.emulator import emulator
from deep_jit._shared.jit.args import pack_arguments
from deep_jit._shared.jit.errors import KernelCountError, LaunchError, LaunchTimeout
from deep_jit._shared.jit.options import LaunchOptions

HEAD = '#include <c_api/asc_simd.h>\nextern "C" __global__ __vector__ void '
ADD = HEAD + "add(__gm__ int32_t* out, int32_t value) { out[asc_get_block_idx()] += value; }\n"
IN_TURN = HEAD + "in_turn(__gm__ int32_t* out) { out[++out[0]] = asc_get_block_idx(); }\n"
FAULTY = HEAD + (
    """faulty(__gm__ int32_t* out, int32_t what) {
    volatile int zero = 0;
    if (what == 1) *reinterpret_cast<volatile int*>(0x10) = 1;
    if (what == 2) out[0] = what / zero;
    if (what == 3) __builtin_trap();
    if (what == 4) while (!zero) {}
    if (what == 5) asc_sync_wait(PIPE_MTE2, PIPE_V, 0);
    out[0] += 1;
}
"""
)


@pytest.fixture(scope="module")
def launch_options() -> LaunchOptions:
    return LaunchOptions(num_blocks=1, num_ubuf_bytes=0, num_launch_timeout_secs=60)


@pytest.fixture
def faulty(build):
    """A kernel that fails in the way its second argument says."""
    return build(FAULTY).load()


def _launch(kernel, *args, num_blocks=1, ubuf=0, timeout=60, stride=None) -> None:
    options = LaunchOptions(
        num_blocks=num_blocks,
        num_ubuf_bytes=ubuf,
        num_launch_timeout_secs=timeout,
        block_stride=stride,
    )
    kernel.launch(pack_arguments(args, kernel.info.params), options)


@pytest.mark.faults
@pytest.mark.parametrize(
    ("what", "kind", "text"),
    [(1, "signal", "SIGSEGV"), (2, "signal", "SIGFPE"), (3, "signal", "SIGILL")],
)
def test_a_fault_in_a_kernel_is_an_error_and_the_process_goes_on(faulty, what, kind, text):
    out = np.zeros(1, np.int32)
    with pytest.raises(LaunchError, match=text) as caught:
        _launch(faulty, out, what)
    assert caught.value.report["kind"] == kind
    assert caught.value.report["block"] == 0
    assert str(caught.value).startswith("kernel faulty")
    assert f"faulty at kernel.asc:{3 + what}" in str(caught.value).replace(".cold", "")
    _launch(faulty, out, 0)
    assert out[0] == 1


@pytest.mark.faults
def test_a_fault_is_an_error_after_somebody_else_took_the_signals(faulty):
    out = np.zeros(1, np.int32)
    _launch(faulty, out, 0)
    was_enabled = faulthandler.is_enabled()
    faulthandler.disable()
    faulthandler.enable()  # as libraries do that are imported later
    try:
        with pytest.raises(LaunchError, match="SIGSEGV"):
            _launch(faulty, out, 1)
    finally:
        if not was_enabled:
            faulthandler.disable()


@pytest.mark.faults
def test_a_kernel_that_does_not_end_is_stopped(faulty):
    out = np.zeros(1, np.int32)
    start = time.monotonic()
    with pytest.raises(LaunchTimeout, match="timeout of 1 s"):
        _launch(faulty, out, 4, timeout=1)
    assert time.monotonic() - start < 20
    _launch(faulty, out, 0)
    assert out[0] == 1


@pytest.mark.faults
def test_a_deadlock_is_reported(faulty):
    out = np.zeros(1, np.int32)
    # With checkers, theirs is the report.
    with emulator(checks="none"), pytest.raises(LaunchError) as caught:
        _launch(faulty, out, 5)
    assert caught.value.report["kind"] == "deadlock"
    out[0] = 0  # the scalar unit does not wait for the vector pipe
    _launch(faulty, out, 0)
    assert out[0] == 1


@pytest.mark.faults
def test_without_a_source_map_reports_have_no_lines(build):
    with emulator(source_map="off"):
        kernel = build(FAULTY).load()
    with pytest.raises(LaunchError, match="SIGSEGV") as caught:
        _launch(kernel, np.zeros(1, np.int32), 1)
    assert "kernel.asc:" not in str(caught.value)


def test_launch_options_are_checked(build):
    kernel = build(ADD).load()
    out = np.zeros(1, np.int32)
    with pytest.raises(LaunchError):
        _launch(kernel, out, 1, ubuf=1 << 30)
    assert out[0] == 0


def test_threads_launch_the_same_kernel(build, launch_options):
    kernel = build(ADD).load()
    outs = [np.zeros(1, np.int32) for _ in range(4)]

    def work(out: np.ndarray) -> None:
        for _ in range(50):
            kernel.launch(pack_arguments([out, 1], kernel.info.params), launch_options)

    threads = [threading.Thread(target=work, args=(out,)) for out in outs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [int(out[0]) for out in outs] == [50] * 4


def test_many_blocks_on_several_threads(build):
    kernel = build(ADD).load()
    out = np.zeros(500, np.int32)
    for threads in (1, 2, 3):
        with emulator(threads=threads):
            _launch(kernel, out, threads, num_blocks=500)
    assert (out == 6).all()


@pytest.mark.faults
def test_a_forked_child_can_launch_and_compile(build, tmp_path):
    built = build(ADD)
    kernel = built.load()
    out = np.zeros(64, np.int32)
    with emulator(threads=2):
        _launch(kernel, out, 1, num_blocks=64)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            built.backend.after_fork_in_child()
            with emulator(threads=2):
                _launch(kernel, out, 1, num_blocks=64)
            again = build(ADD.replace("+= value", "+= 10 * value"), backend=built.backend).load()
            _launch(again, out, 1, num_blocks=64)
            os.write(writer, b"%d" % out.sum())
            code = 0
        except BaseException:
            os.write(writer, traceback.format_exc().encode())
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        text = stream.read()
    assert os.waitpid(child, 0)[1] == 0, text.decode()
    assert text == b"768"
    assert out.sum() == 64
    _launch(kernel, out, 1, num_blocks=64)


def test_two_instruction_sets_in_one_process(build, make_backend):
    backend = make_backend()
    best = build(ADD, backend=backend)
    with emulator(isa="generic"):
        generic = build(ADD, backend=backend)
        assert backend.compiler_info()["isa"] == "generic"
        assert backend.key_flags(backend.default_compiler_options())[0] == ("generic",)
    assert backend.compiler_info()["isa"] != "generic"
    out = np.zeros(1, np.int32)
    best.run(out, 1)
    generic.run(out, 1)  # finds its runtime outside the context
    assert out[0] == 2
    assert (
        any(word == "-march=x86-64" for word in generic.result.commands[0])
        or os.uname().machine != "x86_64"
    )


def test_a_replaced_file_is_loaded_anew(build):
    first = build(ADD)
    kernel = first.load()
    second = build(ADD.replace("+= value", "+= 100 * value"))
    os.replace(second.directory / "kernel.so", first.directory / "kernel.so")
    replaced = first.load()
    out = np.zeros(1, np.int32)
    _launch(kernel, out, 1)
    assert out[0] == 1
    _launch(replaced, out, 1)
    assert out[0] == 101


def test_blanks_and_unicode_in_paths(build, tmp_path):
    built = build(ADD, directory=tmp_path / "a b" / "größe 上" / "$(x) 'q'")
    out = np.zeros(1, np.int32)
    built.run(out, 3)
    assert out[0] == 3


def test_loading_what_is_no_kernel(build, make_backend, tmp_path):
    none = build("int x;")
    with pytest.raises(KernelCountError, match="expected exactly one kernel in .*, found 0"):
        none.load()
    two = build(ADD + ADD.split("\n", 1)[1].replace("add(", "more("))
    with pytest.raises(KernelCountError, match="found 2: .*add.*more") as caught:
        two.load()
    assert len(caught.value.names) == 2


@pytest.mark.faults
def test_a_kernel_of_another_runtime_says_so(build, fake_kernel, make_backend, tmp_path):
    directory = tmp_path / "foreign"
    directory.mkdir()
    shutil.copy(fake_kernel("0, 1, add"), directory / "kernel.so")
    with pytest.raises(LaunchError, match="built for the runtime libasc_emu-fake1.so, and this"):
        make_backend().load(directory, ())


def test_unload_is_idempotent(build, launch_options):
    kernel = build(ADD).load()
    kernel.unload()
    kernel.unload()
    with pytest.raises(LaunchError, match="kernel must be loaded before launch"):
        kernel.launch(bytes(16), launch_options)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("clang++") is None, reason="needs clang++ >= 14 on PATH")
def test_clang_builds_and_runs_kernels(build, make_backend):
    backend = make_backend(TT_JIT_HOST_COMPILER="clang++")
    out = np.zeros(1, np.int32)
    build(ADD, backend=backend).run(out, 4)
    assert out[0] == 4


@pytest.mark.parametrize("stride", [None, 0, 1, 3, 4, 9, 64, 65535])
@pytest.mark.parametrize("num_blocks", [1, 3, 10, 64, 65, 200])
def test_one_worker_runs_blocks_of_a_stride_in_turn(build, num_blocks, stride):
    kernel = build(IN_TURN).load()
    out = np.zeros(1 + num_blocks, np.int32)
    with emulator(threads=1):
        _launch(kernel, out, num_blocks=num_blocks, stride=stride)
    # Only when every block finds one of the 64 vector cores at once, as on a device.
    in_order = not stride or num_blocks > 64
    step = 1 if in_order else min(stride, num_blocks)
    expected = [b for first in range(step) for b in range(first, num_blocks, step)]
    assert out[0] == num_blocks
    assert out[1:].tolist() == expected


@pytest.mark.parametrize("stride", [0, 2, 4, 7])
@pytest.mark.parametrize("threads", [2, 3])
def test_every_block_runs_once_whatever_the_stride(build, stride, threads):
    kernel = build(ADD).load()
    for num_blocks in (2, 5, 16, 31, 64, 65):
        out = np.zeros(num_blocks, np.int32)
        with emulator(threads=threads):
            _launch(kernel, out, 1, num_blocks=num_blocks, stride=stride)
        assert (out == 1).all()
