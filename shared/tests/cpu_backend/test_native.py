"""The module `_native`: loading, kernel tables, launches, options (deep_jit.md 7, 8, 20)."""

from __future__ import annotations

import ctypes
import json
import struct
import threading
import time

import numpy as np
import pytest

from deep_jit._shared._component import native


@pytest.fixture
def runtime(fake_runtime):
    return native().load_runtime(fake_runtime)


@pytest.fixture(scope="module")
def add_object(fake_runtime, fake_kernel):
    native().load_runtime(fake_runtime)
    return fake_kernel("1, 2, add")


def _add(kernel, total, value, num_blocks=1, **options):
    kernel.launch(struct.pack("<Qi4x", total.ctypes.data, value), num_blocks, **options)


def test_inspect_reads_names_roles_and_parameters(runtime, fake_kernel):
    binary = fake_kernel("0, 1, add", "1, 0, scale<float>", "1, 2, pair")
    add, scale, pair = native().inspect(binary)
    assert (add["name"], add["symbol"], add["demangled"]) == ("add", "add", "add")
    assert (add["num_aic"], add["num_aiv"]) == (0, 1)
    assert add["params"] == [
        {"kind": "pointer", "size": 8, "align": 8, "type_name": "int*"},
        {"kind": "int", "size": 4, "align": 4, "type_name": "int"},
    ]
    assert scale["name"] == "scale<float>"
    assert scale["demangled"] == "void scale<float>(float*, double, bool)"
    assert [p["kind"] for p in scale["params"]] == ["pointer", "float", "bool"]
    assert pair["params"][0] == {"kind": "struct", "size": 16, "align": 8, "type_name": "Pair"}
    assert (pair["num_aic"], pair["num_aiv"]) == (1, 2)


def test_launch_runs_all_blocks_and_kernels_bind_to_their_runtime(runtime, add_object):
    kernel = native().load_kernel(runtime, add_object)
    total = np.zeros(1, np.int32)
    _add(kernel, total, 5, num_blocks=3)
    assert total[0] == 3 * 105


def test_runtimes_of_different_names_live_side_by_side(
    runtime, add_object, compile_object, fake_kernel, fakes
):
    other = compile_object("libasc_emu-fake2.so", fakes.RUNTIME_SOURCE, "-DADDEND=7")
    other_runtime = native().load_runtime(other)
    kernel = native().load_kernel(other_runtime, fake_kernel("1, 2, add", runtime=other))
    first = native().load_kernel(runtime, add_object)
    total = np.zeros(2, np.int32)
    _add(kernel, total[:1], 1)
    _add(first, total[1:], 1)
    assert total.tolist() == [8, 101]
    runtime.set_option("seed", "1")
    other_runtime.set_option("seed", "2")
    assert (runtime.get_option("seed"), other_runtime.get_option("seed")) == ("1", "2")


def test_a_runtime_of_the_same_name_elsewhere_is_the_same_one(
    runtime, fake_runtime, compile_object, fakes
):
    copy = compile_object(fake_runtime.name, fakes.RUNTIME_SOURCE, "-DADDEND=9999")
    again = native().load_runtime(copy)
    again.set_option("num_cores", "5")
    assert runtime.get_option("num_cores") == "5"
    assert again.path == runtime.path


def test_failures_carry_the_report(runtime, add_object):
    kernel = native().load_kernel(runtime, add_object)
    total = np.zeros(1, np.int32)
    with pytest.raises(native().LaunchFailure) as caught:
        _add(kernel, total, 1, ubuf_bytes=13)
    assert json.loads(str(caught.value))["kind"] == "deadlock"
    assert isinstance(caught.value, RuntimeError)
    with pytest.raises(native().LaunchFailure, match="timeout"):
        _add(kernel, total, 1, timeout_secs=7)
    assert "timeout" in runtime.last_error()


def test_memory_ranges_reach_the_runtime(runtime, add_object):
    kernel = native().load_kernel(runtime, add_object)
    total = np.zeros(1, np.int32)
    ranges = [(total.ctypes.data, 16, False, "a"), (total.ctypes.data, 4, True, "b")]
    with pytest.raises(native().LaunchFailure, match="not json"):
        _add(kernel, total, 1, ranges=ranges)


def test_payload_may_be_any_buffer_but_nothing_else(runtime, add_object):
    kernel = native().load_kernel(runtime, add_object)
    total = np.zeros(1, np.int32)
    payload = struct.pack("<Qi4x", total.ctypes.data, 1)
    for view in (bytearray(payload), memoryview(payload), np.frombuffer(payload, np.uint8)):
        kernel.launch(view, 1)
    assert total[0] == 3 * 101
    with pytest.raises(TypeError):
        kernel.launch(5, 1)


def test_unload_is_idempotent_and_ends_launches(runtime, add_object):
    kernel = native().load_kernel(runtime, add_object)
    assert kernel.loaded
    kernel.unload()
    kernel.unload()
    assert not kernel.loaded
    with pytest.raises(RuntimeError, match="kernel must be loaded before launch: add was unloaded"):
        kernel.launch(bytes(16), 1)


def test_launch_releases_the_interpreter_lock(runtime, fake_kernel):
    wait = """
        #include <atomic>
        #include "asc_emu/entry.hpp"
        extern "C" __attribute__((visibility("default"))) void wait_for(int* flag) {
            auto* shared = reinterpret_cast<std::atomic<int>*>(flag);
            shared[1] = 1;
            while (!shared[0]) {}
        }
    """
    kernel = native().load_kernel(runtime, fake_kernel("0, 1, wait_for", text=wait))
    flag = np.zeros(2, np.int32)
    thread = threading.Thread(
        target=kernel.launch, args=(struct.pack("<Q", flag.ctypes.data), 1), daemon=True
    )
    thread.start()
    while not flag[1]:
        time.sleep(0.001)
    kernel.unload()  # takes effect when the launch ends
    flag[0] = 1
    thread.join(30)
    assert not thread.is_alive()


def test_kernel_choice(runtime, fake_kernel):
    binary = fake_kernel("0, 1, add", "1, 0, scale<float>")
    with pytest.raises(RuntimeError, match="expected exactly one kernel in .*, found 2"):
        native().load_kernel(runtime, binary)
    for name in ("scale<float>", native().inspect(binary)[1]["symbol"]):
        assert native().load_kernel(runtime, binary, name).info()["name"] == "scale<float>"
    with pytest.raises(RuntimeError, match="no kernel other in "):
        native().load_kernel(runtime, binary, "other")


def test_unusable_objects_are_named(runtime, tmp_path, compile_object):
    garbage = tmp_path / "garbage ü.so"
    garbage.write_bytes(b"not an object")
    with pytest.raises(RuntimeError, match="failed to load .*garbage ü.so"):
        native().inspect(garbage)
    with pytest.raises(RuntimeError, match="failed to load .*missing.so"):
        native().load_kernel(runtime, tmp_path / "missing.so")
    plain = compile_object("plain.so", "int x;")
    with pytest.raises(RuntimeError, match="failed to load asc_emu_kernels_v1 from"):
        native().inspect(plain)
    with pytest.raises(RuntimeError, match="failed to load asc_emu_launch from"):
        native().load_runtime(plain)
    old = compile_object(
        "old.so",
        '#include "asc_emu/core_api.h"\nextern "C" __attribute__((visibility("default"))) '
        "const asc_emu_kernel_table asc_emu_kernels_v1 = {99, 0, nullptr};",
    )
    with pytest.raises(RuntimeError, match="version 99 in .*; allowed: version 1"):
        native().inspect(old)


def test_options_refused_by_the_runtime_are_value_errors(runtime):
    with pytest.raises(ValueError, match="13 is not allowed"):
        runtime.set_option("seed", "13")
    with pytest.raises(ValueError, match="no option nothing"):
        runtime.get_option("nothing")
    assert json.loads(runtime.describe()) == {"abi": 1}


def test_symbols_of_kernels_stay_local(runtime, add_object):
    native().load_kernel(runtime, add_object)
    with pytest.raises(AttributeError):
        ctypes.CDLL(None).fake_addend  # noqa: B018
