"""`deep-jit run`: which words go where, and exit statuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import deep_jit.run

Cli = Callable[..., Result]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Replaces the two functions behind the command; a program's status is 5."""
    seen: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def program(*args: Any, **named: Any) -> int:
        seen.append(("program", args, named))
        return 5

    def kernel(*args: Any, **named: Any) -> list[Path]:
        seen.append(("kernel", args, named))
        return [Path("out.npy")]

    monkeypatch.setattr(deep_jit.run, "run_program", program)
    monkeypatch.setattr(deep_jit.run, "run_kernel", kernel)
    return seen


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "some program.asc"
    path.write_text("int main() {}\n")
    return path


def test_program(cli: Cli, calls: list[Any], file: Path) -> None:
    result = cli("run", str(file), "-DSCENARIO_NUM=2", "-I", "inc", "one", "--", "--two", "-D3")
    assert result.exit_code == 5
    assert calls == [
        (
            "program",
            (file, ("one", "--two", "-D3")),
            {"defines": ("SCENARIO_NUM=2",), "include_dirs": ("inc",), "options": {}},
        )
    ]


def test_kernel(cli: Cli, calls: list[Any], file: Path) -> None:
    words = ("x.npy", "f32:-1.5", "out:y.npy:float32:4x4")
    result = cli(
        *("run", str(file), "--kernel", "scale", "--blocks", "8", "--ubuf", "1024"),
        *("-D", "N=3", "--checks", "memcheck,racecheck", "--threads", "1"),
        *words,
    )
    assert (result.exit_code, result.stdout) == (0, "out.npy\n")
    ((kind, args, named),) = calls
    assert (kind, args) == ("kernel", (file, "scale", words))
    assert named == {
        "num_blocks": 8,
        "num_ubuf_bytes": 1024,
        "defines": ("N=3",),
        "include_dirs": (),
        "options": {"checks": ("memcheck", "racecheck"), "threads": 1},
        "backend": "cpu",
    }


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["absent.asc"],
        ["--kernel"],
        ["{file}", "--blocks", "many"],
        ["{file}", "--backend", "x"],
    ],
)
def test_wrong_use(cli: Cli, calls: list[Any], file: Path, words: list[str]) -> None:
    result = cli("run", *(word.format(file=file) for word in words))
    assert result.exit_code == 2
    assert calls == []


def test_errors_end_with_a_text(cli: Cli, file: Path) -> None:
    result = cli("run", str(file), "--kernel", "no name!")
    assert result.exit_code == 1
    assert "is no function name" in result.stderr
    assert "Traceback" not in result.output


def test_unknown_checker(cli: Cli, file: Path) -> None:
    result = cli("run", str(file), "--checks", "nonsense")
    assert result.exit_code == 1
    assert "nonsense" in result.stderr
