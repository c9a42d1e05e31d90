"""Binding, outputs, caching and errors of the bridge (emulator.md section 7)."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import deep_jit
from deep_jit import ArgumentError, CompileError, CompileManyError

pytestmark = [pytest.mark.needs_tilelang, pytest.mark.timeout(300)]
torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def kernels():
    """The functions of kernels.py."""
    path = Path(__file__).parent / "kernels.py"
    spec = importlib.util.spec_from_file_location("tilelang_test_kernels", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tilelang():
    """A bridge of its own, so that nothing is compiled in memory yet."""
    return deep_jit.TileLangBridge()


def test_eager_function_allocates_its_output(kernels, tilelang):
    function = tilelang(kernels.scaled_sum)
    for n in (1, 128, 1000):
        x, y = torch.randn(2, n)
        torch.testing.assert_close(function(x, y, 3.0), x * 3 + y)


def test_one_kernel_serves_all_sizes_of_a_dynamic_symbol(kernels, tilelang):
    function = tilelang(kernels.scaled_sum)
    small = function.compile(torch.zeros(5), torch.zeros(5), 1.0)
    assert function.compile(torch.zeros(9), torch.zeros(9), 2.0) is small


def test_variables_passed_to_one_macro_stay_apart(kernels, tilelang):
    out = torch.zeros(2, 7, dtype=torch.int32)
    tilelang(kernels.counts)(out, 3)
    assert out.tolist() == [[1, 1, 1, 0, 0, 0, 0], [1] * 7]


def test_lazy_function_returns_the_kernel(kernels, tilelang):
    kernel = tilelang(kernels.square)(256, value=1)
    x = torch.randn(256)
    torch.testing.assert_close(kernel(x), x * x + 1)
    torch.testing.assert_close(kernel(x=x), x * x + 1)


def test_prim_func_in_place(kernels, tilelang):
    kernel = tilelang(kernels.plain(256))
    x = torch.arange(256, dtype=torch.int32)
    assert kernel(x) is None
    assert torch.equal(x, torch.arange(256, dtype=torch.int32) * 2)
    assert "__simt_vf__" in kernel.source


def test_prim_func_with_out_idx(kernels, tilelang):
    kernel = tilelang(kernels.square.get_tir(128), out_idx=1)
    x = torch.randn(128)
    torch.testing.assert_close(kernel(x), x * x)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda t: (t.zeros(5), t.zeros(5)), "missing"),
        (lambda t: (t.zeros(5), t.zeros(6), 1.0), r"argument y has shape \(6,\), wanted \(5,\)"),
        (lambda t: (t.zeros(5).double(), t.zeros(5), 1.0), "wanted torch.float32"),
        (lambda t: (t.zeros(5, 1), t.zeros(5), 1.0), "2 dimensions"),
        (lambda t: (t.zeros(10)[::2], t.zeros(5), 1.0), "stride 2 on axis 0, wanted 1"),
        (lambda t: (t.zeros(5), t.zeros(5), "a"), "must be a number"),
        (lambda t: (t.zeros(5), t.zeros(5), 1.0, 2), "got 4 positional"),
        (lambda t: (t.zeros(5), [0] * 5, 1.0), "must be a tensor, got list"),
    ],
)
def test_bad_arguments(kernels, tilelang, arguments, message):
    kernel = tilelang(kernels.scaled_sum).compile(torch.zeros(4), torch.zeros(4), 1.0)
    with pytest.raises(ArgumentError, match=message):
        kernel(*arguments(torch))


def test_unknown_construct_is_named(kernels, tilelang):
    with pytest.raises(CompileError, match="it uses asc_no_such_function") as caught:
        tilelang(kernels.unknown(32))
    assert "line " in str(caught.value)
    assert "stranger" in str(caught.value)


def test_refused_operation_is_named(kernels, tilelang):
    with pytest.raises(CompileError, match=r"cannot lower shuffled for Ascend: .*shfl_up"):
        tilelang(kernels.not_lowerable(32))


def test_out_idx_twice_or_out_of_range(kernels, tilelang):
    with pytest.raises(CompileError, match="out of range"):
        tilelang(kernels.plain(128), out_idx=3)
    with pytest.raises(CompileError, match="drop out_idx"):
        tilelang(kernels.scaled_sum.get_tir(torch.zeros(4), torch.zeros(4), 1.0), out_idx=0)
    with pytest.raises(ArgumentError, match="into the decorator"):
        tilelang(kernels.scaled_sum, out_idx=0)


def test_compile_many_collects_errors(kernels, tilelang):
    good = [kernels.square.get_tir(128 * n) for n in (1, 2)]
    options = {"out_idx": 1}
    compiled = tilelang.compile_many([(function, options) for function in good])
    x = torch.randn(256)
    torch.testing.assert_close(compiled[1](x), x * x)
    with pytest.raises(CompileManyError) as caught:
        tilelang.compile_many([(good[0], options), kernels.not_lowerable(32)])
    assert [index for index, _, _ in caught.value.errors] == [1]


def test_a_second_process_lowers_nothing(kernels, tilelang):
    tilelang(kernels.square)(384)
    script = f"""
import importlib.util, sys, torch, deep_jit
spec = importlib.util.spec_from_file_location("tilelang_test_kernels", {str(kernels.__file__)!r})
module = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = module
spec.loader.exec_module(module)
import deep_jit._shared.jit.tilelang.bridge as bridge
def refuse(*_):
    raise AssertionError("lowered again")
bridge.lower = refuse
x = torch.randn(384)
kernel = deep_jit.tilelang(module.square)(384)
torch.testing.assert_close(kernel(x), x * x)
assert deep_jit.tilelang.runtime.stats.build_s == 0
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_damaged_text_is_lowered_again(kernels, tilelang):
    function = kernels.square.get_tir(512)
    before = tilelang.lowered(function, out_idx=1)
    # NOTE: other tests share this cache, at the same time.
    key = tilelang.request(function, 1, None).key
    root = tilelang.runtime.disk_cache.writable_root / "tilelang"
    (root / key[:2] / f"{key}.json").write_text("{")
    assert tilelang.texts.find(key) is None
    assert tilelang.lowered(function, out_idx=1) == before
    assert tilelang.texts.find(key) == before


def test_an_eager_function_that_ran_before_is_checked(kernels, tilelang):
    function = tilelang(kernels.one_too_far)
    room = torch.zeros(65)
    with deep_jit.emulator(checks="none"):
        function(room[:64])
    assert room[64] == 1
    with deep_jit.emulator(checks="memcheck"):
        with pytest.raises(deep_jit.SanitizerError, match="behind the end of 'argument 0"):
            function(room[:64])


def test_a_kernel_that_was_compiled_before_is_checked(kernels, tilelang):
    kernel = tilelang(kernels.one_too_far).compile(torch.zeros(64))
    room = torch.zeros(65)
    with deep_jit.emulator(checks="memcheck"):
        with pytest.raises(deep_jit.SanitizerError, match="behind the end of 'argument 0"):
            kernel(room[:64])
    assert room[64] == 0


def test_a_kernel_that_ran_before_is_timed(kernels, tilelang):
    x = torch.arange(1024, dtype=torch.int32)
    kernel = tilelang(kernels.plain(1024))
    kernel(x)
    with deep_jit.emulator(timing="replay"):
        kernel(x)
        before = deep_jit.last_profile()
        deep_jit.TileLangBridge()(kernels.plain(1024))(x)
    assert before == deep_jit.last_profile()
    assert before.vector_busy["V"] > 0
