"""The pytest plug-in, run in small test sessions of its own (style.md section 6)."""

import os

import pytest

from deep_jit._shared.testing import plugin

pytest_plugins = ["pytester"]


@pytest.fixture
def session(pytester, monkeypatch):
    """A function that runs pytest with the plug-in in a child process on the given test file."""
    monkeypatch.delenv(plugin.CACHE_VARIABLE, raising=False)
    monkeypatch.delenv("DJ_EMU_CHECKS", raising=False)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    # NOTE: other plug-ins cost a second in each of these small sessions.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(text, *options):
        pytester.makepyfile(text)
        plugins = ("-p", plugin.__name__, "-p", "no:cacheprovider", "-rs")
        return pytester.runpytest_subprocess(*plugins, *options)

    return run


MARKED = """
    import pytest

    @pytest.mark.slow
    def test_slow(): pass

    @pytest.mark.faults
    def test_faults(): pass

    @pytest.mark.npu
    def test_npu(): pass

    def test_core(): pass
"""


@pytest.mark.parametrize(
    ("options", "passed", "skipped"),
    [
        (("--level=0",), 1, 3),
        ((), 2, 2),
        (("--level=2",), 3, 1),
        (("--level=2", "--backend=npu"), 4, 0),
    ],
    ids=["core", "default", "full", "full-npu"],
)
def test_levels_and_backend_choose_the_tests(session, options, passed, skipped):
    session(MARKED, *options).assert_outcomes(passed=passed, skipped=skipped)


def test_a_skip_says_what_it_needs(session):
    result = session(MARKED, "--level=0")
    result.stdout.fnmatch_lines(["*slow: needs --level=2*", "*faults: needs --level=1*"])
    result.stdout.fnmatch_lines(["*needs an NPU and --backend=npu*"])


def test_the_run_has_a_cache_of_its_own_that_is_removed(session, tmp_path):
    note = tmp_path / "note"
    text = f"""
        import os, pathlib

        def test_cache(jit_cache_root):
            assert jit_cache_root.is_dir()
            assert os.environ["DJ_JIT_CACHE_DIR"] == str(jit_cache_root)
            pathlib.Path({str(note)!r}).write_text(str(jit_cache_root))
    """
    session(text).assert_outcomes(passed=1)
    assert not plugin.Path(note.read_text()).exists()


def test_a_cache_of_the_caller_is_kept(session, monkeypatch, tmp_path):
    monkeypatch.setenv(plugin.CACHE_VARIABLE, str(tmp_path))
    text = f"""
        def test_cache(jit_cache_root):
            assert str(jit_cache_root) == {str(tmp_path)!r}
    """
    session(text).assert_outcomes(passed=1)
    assert tmp_path.is_dir()


def test_workers_share_one_cache(session, tmp_path):
    pytest.importorskip("xdist")
    text = f"""
        import pathlib, pytest

        @pytest.mark.parametrize("number", range(4))
        def test_cache(jit_cache_root, worker_id, number):
            note = pathlib.Path({str(tmp_path)!r}, f"{{worker_id}}-{{number}}")
            note.write_text(str(jit_cache_root))
    """
    session(text, "-p", "xdist", "-n2").assert_outcomes(passed=4)
    assert len({path.read_text() for path in tmp_path.iterdir() if path.is_file()}) == 1


def test_random_inputs_depend_on_seed_and_test_only(session, tmp_path):
    text = f"""
        import pathlib, pytest

        @pytest.mark.parametrize("number", range(2))
        def test_draw(rng, number):
            path = pathlib.Path({str(tmp_path)!r}, str(number))
            with path.open("a") as file:
                file.write(f"{{rng.integers(1 << 40)}}\\n")
    """
    for options in ((), ("-k", "1"), ("--seed=7",)):
        session(text, *options)
    first, second = [(tmp_path / name).read_text().split() for name in "01"]
    assert len({*first, *second}) == 4
    assert second[0] == second[1]


def test_sanitize_turns_the_checkers_on(monkeypatch):
    monkeypatch.setenv("DJ_EMU_CHECKS", "none")
    plugin.turn_on(("memcheck", "synccheck"))
    assert os.environ["DJ_EMU_CHECKS"] == "memcheck,synccheck"


def test_sanitize_knows_all():
    assert plugin.parse_checkers("all") == ("memcheck", "racecheck", "initcheck", "synccheck")


def test_without_sanitize_the_environment_decides(session, monkeypatch):
    monkeypatch.setenv("DJ_EMU_CHECKS", "none")
    text = """
        import os

        def test_environment():
            assert os.environ["DJ_EMU_CHECKS"] == "none"
    """
    session(text).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("valgrind", "*--sanitize: *'valgrind'; allowed: none, all, memcheck*"),
        ("memcheck,all", "*--sanitize: *'all'; allowed: none, all, memcheck*"),
    ],
)
def test_sanitize_refuses_what_the_emulator_refuses(session, names, message):
    result = session(MARKED, f"--sanitize={names}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


GOLDEN = """
    def test_text(golden):
        golden.check("{text}", "answer.txt")
"""


def test_golden_files_are_written_once_and_then_compared(session):
    session(GOLDEN.format(text="42")).assert_outcomes(failed=1)
    session(GOLDEN.format(text="42"), "--update-golden").assert_outcomes(passed=1, errors=1)
    session(GOLDEN.format(text="42"), "--update-golden").assert_outcomes(passed=1)
    session(GOLDEN.format(text="42")).assert_outcomes(passed=1)
    session(GOLDEN.format(text="43")).assert_outcomes(failed=1)


def test_what_a_checker_warns_of_fails_a_test_that_does_not_expect_it(session):
    text = f"""
        import warnings

        import pytest

        from {plugin.__name__.removesuffix(".testing.plugin")}.emulator import SanitizerWarning

        def test_silent(): pass

        def test_warned(): warnings.warn("a flag is still set", SanitizerWarning)

        def test_expected():
            with pytest.warns(SanitizerWarning, match="still set"):
                warnings.warn("a flag is still set", SanitizerWarning)
    """
    result = session(text)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*SanitizerWarning: a flag is still set*"])
