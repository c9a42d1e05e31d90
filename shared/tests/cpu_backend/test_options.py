"""Emulator options: values, variables, contexts, what reaches the runtime (emulator.md 3)."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from deep_jit._shared._component import native
from deep_jit._shared.emulator import EmulatorOptions, context, current_options, emulator
from deep_jit._shared.emulator.options import options_from_environment
from deep_jit._shared.jit.errors import ConfigError


def test_defaults_are_the_first_values_of_the_specification():
    options = EmulatorOptions()
    assert options == EmulatorOptions(
        checks=(),
        schedule="immediate",
        seed=0,
        uninitialized="keep",
        out_of_bounds="raise",
        numerics="exact",
        timing="off",
        trace_path=None,
        num_cores=32,
        threads=None,
        isa="best",
        data="compute",
        source_map="on",
    )
    assert EmulatorOptions.from_texts(options.to_texts()) == options


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("schedule", "later", "option schedule: got 'later'; allowed: immediate, deferred"),
        ("numerics", "exakt", "option numerics: got 'exakt'; allowed: exact, fast"),
        ("uninitialized", None, "option uninitialized: got None; allowed: keep, nan, zero"),
        ("num_cores", 0, "option num_cores: got 0; allowed: an integer from 1 to 1024"),
        ("num_cores", None, "option num_cores: got None; allowed: an integer from 1 to 1024"),
        ("threads", True, "option threads: got True; allowed: an integer from 1 to 1024"),
        ("timing", "slow", "option timing: got 'slow'; allowed: off, fast, replay"),
        ("data", "none", "option data: got 'none'; allowed: compute, skip"),
        (
            "trace_path",
            "trace.json",
            "option trace_path: got 'trace.json'; allowed: a path together",
        ),
        ("seed", 1 << 64, "option seed: got 18446744073709551616; allowed: an integer from 0"),
        ("checks", ("memchk",), "option checks: got 'memchk'; allowed: none, all, memcheck"),
        ("checks", 5, "option checks: got 5; allowed: names out of"),
        ("isa", "", "option isa: got ''; allowed: best"),
        ("speed", 1, "option 'speed' does not exist; allowed: checks, schedule, seed"),
    ],
)
def test_bad_values_are_refused_with_the_allowed_ones(name, value, text):
    before = current_options()
    with pytest.raises(ConfigError, match=text) as caught:
        with emulator(**{name: value}):
            pytest.fail("entered")
    assert isinstance(caught.value, ValueError)
    assert current_options() == before


def test_no_checks_in_every_spelling():
    for value in ((), [], set(), "none"):
        assert EmulatorOptions(checks=value).checks == ()


def test_contexts_nest_and_restore():
    with emulator(numerics="fast", num_cores=4) as outer:
        assert (outer.numerics, outer.num_cores) == ("fast", 4)
        with emulator(num_cores=8, threads=2) as inner:
            assert (inner.numerics, inner.num_cores, inner.threads) == ("fast", 8, 2)
            assert current_options() == inner
            with emulator(threads=None):
                assert current_options().threads is None
        assert current_options() == outer
    assert current_options().numerics == "exact"


def test_a_context_ends_with_an_exception():
    with pytest.raises(KeyError):
        with emulator(seed=5):
            raise KeyError
    assert current_options().seed == 0


def test_overlapping_contexts_of_threads_take_away_only_their_own():
    entered, leave = threading.Event(), threading.Event()
    before = current_options()

    def other() -> None:
        with emulator(seed=1, num_cores=3):
            entered.set()
            leave.wait(30)

    thread = threading.Thread(target=other)
    with emulator(seed=2):
        thread.start()
        assert entered.wait(30)
        assert (current_options().seed, current_options().num_cores) == (1, 3)
    assert current_options().seed == 1
    leave.set()
    thread.join()
    assert current_options() == before


def test_variables_are_read_and_checked():
    texts = options_from_environment(
        {"DJ_EMU_NUMERICS": "fast", "DJ_EMU_THREADS": "3", "DJ_EMU_CHECKS": "none", "DJ_X": "1"}
    )
    assert EmulatorOptions.from_texts(texts) == EmulatorOptions(numerics="fast", threads=3)
    for name, value in {"NUMERICS": "best", "SEED": "-1", "SEEED": "1", "THREADS": "two"}.items():
        with pytest.raises(ConfigError, match=r"\(set by a DJ_EMU_\* variable\)"):
            options_from_environment({f"DJ_EMU_{name}": value})


def test_variables_decide_a_new_process():
    code = (
        "from deep_jit._shared.emulator import current_options, emulator\n"
        "print(current_options().seed)\n"
        "with emulator(seed=9): print(current_options().seed)\n"
        "print(current_options().seed)"
    )
    environ = {"DJ_EMU_SEED": "7", "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True)
    assert done.stdout.split() == ["7", "9", "7"], done.stderr


def test_options_reach_a_runtime_when_attached_and_when_changed(fake_runtime):
    with emulator(numerics="fast"):
        runtime = context.attach_runtime(str(fake_runtime))
        assert runtime.get_option("numerics") == "fast"
        with emulator(seed=77, uninitialized="nan", threads=3):
            found = [
                runtime.get_option(n) for n in ("seed", "uninitialized", "threads", "numerics")
            ]
            assert found == ["77", "nan", "3", "fast"]
    assert runtime.get_option("numerics") == "exact"
    assert runtime.get_option("seed") == "0"
    assert runtime.get_option("num_cores") == "32"


def test_a_refusal_of_the_runtime_restores_the_options(fake_runtime):
    runtime = context.attach_runtime(str(fake_runtime))
    before = current_options()
    with pytest.raises(ConfigError, match="refused option seed: .*13 is not allowed"):
        with emulator(seed=13, num_cores=2):
            pytest.fail("entered")
    assert current_options() == before
    assert runtime.get_option("num_cores") == "32"


def test_threads_follow_torch(fake_runtime):
    torch = pytest.importorskip("torch")
    runtime = context.attach_runtime(str(fake_runtime))
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(before + 3)
        context.sync_threads()
        assert runtime.get_option("threads") == str(before + 3)
        with emulator(threads=1):
            torch.set_num_threads(before + 1)
            context.sync_threads()
            assert runtime.get_option("threads") == "1"
        assert runtime.get_option("threads") == str(before + 1)
    finally:
        torch.set_num_threads(before)
        context.sync_threads()


def test_one_context_reaches_every_component(fake_runtime):
    """Two copies of the shared code, as two wheels have, see one set of options."""
    deep_gemm = pytest.importorskip("deep_gemm._shared.emulator")
    assert deep_gemm.emulator is not emulator
    runtime = context.attach_runtime(str(fake_runtime))
    with deep_gemm.emulator(num_cores=6):
        assert current_options().num_cores == 6
        assert runtime.get_option("num_cores") == "6"
        with emulator(numerics="fast"):
            assert deep_gemm.current_options().numerics == "fast"
    assert current_options().num_cores == 32
    assert native().load_runtime(fake_runtime).get_option("num_cores") == "32"
