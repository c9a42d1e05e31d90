"""Environment variables: resolution, parsing rules, snapshot (deep_jit.md section 3)."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from deep_jit._shared.jit.env import Env, EnvSettings, parse_bool, parse_int, parse_size
from deep_jit._shared.jit.errors import ConfigError, Error


def env(**values: str) -> Env:
    return Env("FK", {"HOME": "/home/u", **values})


@pytest.mark.parametrize(
    "raw", ["true", "TRUE", "yes", "Yes", "1", "-2", "007", "9223372036854775807"]
)
def test_true(raw: str) -> None:
    assert parse_bool("X", raw) is True


@pytest.mark.parametrize("raw", ["false", "No", "0", "-0", "000"])
def test_false(raw: str) -> None:
    assert parse_bool("X", raw) is False


@pytest.mark.parametrize(
    "raw", ["", "on", "off", "1x", "+1", " 1", "1 ", "9223372036854775808", "١"]
)
def test_bool_errors(raw: str) -> None:
    with pytest.raises(ConfigError, match="invalid value for FK_JIT_DEBUG: ") as caught:
        parse_bool("FK_JIT_DEBUG", raw)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, Error)


@pytest.mark.parametrize("raw", ["-1", "65536", "", "1.0", "1" * 5000])
def test_int_range(raw: str) -> None:
    with pytest.raises(ConfigError, match="invalid value for N"):
        parse_int("N", raw, 0, 65535)


@pytest.mark.parametrize(
    ("raw", "value"), [("0", 0), ("10", 10), ("3K", 3072), ("2m", 2 << 20), ("1G", 1 << 30)]
)
def test_sizes(raw: str, value: int) -> None:
    assert parse_size("S", raw) == value


@pytest.mark.parametrize("raw", ["", "-1", "1T", "1.5G", "G", "9" * 30])
def test_size_errors(raw: str) -> None:
    with pytest.raises(ConfigError, match="invalid value for S"):
        parse_size("S", raw)


def test_prefix_then_global_then_default() -> None:
    assert env().get_bool("JIT_DEBUG") is False
    assert env(DJ_JIT_DEBUG="1").get_bool("JIT_DEBUG") is True
    assert env(DJ_JIT_DEBUG="1", FK_JIT_DEBUG="0").get_bool("JIT_DEBUG") is False


def test_unprefixed_name_is_never_read() -> None:
    assert env(JIT_DEBUG="1").snapshot().debug is False


def test_empty_counts_as_set() -> None:
    with pytest.raises(ConfigError, match="FK_JIT_DEBUG"):
        env(DJ_JIT_DEBUG="1", FK_JIT_DEBUG="").get_bool("JIT_DEBUG")


def test_default_root_is_below_home() -> None:
    assert env().snapshot().cache_dir == (Path("/home/u/.dj"),)


def test_root_list_keeps_relative_and_tilde_paths() -> None:
    roots = env(FK_JIT_CACHE_DIR="a/b:~/c:/d").snapshot().cache_dir
    assert roots == (Path("a/b"), Path("~/c"), Path("/d"))


@pytest.mark.parametrize("raw", ["", ":", "/a:", ":/a", "/a::/b"])
def test_empty_root(raw: str) -> None:
    with pytest.raises(ConfigError, match="disk cache path list contains an empty path: " + raw):
        env(FK_JIT_CACHE_DIR=raw).snapshot()


@pytest.mark.parametrize("values", [{}, {"HOME": ""}])
def test_no_home(values: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="HOME environment variable must not be empty"):
        Env("FK", values).snapshot()


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("JIT_CACHE_VERIFY", "sha"),
        ("JIT_BACKEND", "gpu"),
        ("JIT_LAUNCH_TIMEOUT", "65536"),
        ("JIT_NUM_WORKERS", "-1"),
        ("JIT_COMPILE_TIMEOUT", "1s"),
        ("JIT_NPU_ARCH", "0"),
    ],
)
def test_bad_settings_name_the_variable(name: str, raw: str) -> None:
    with pytest.raises(ConfigError, match=f"invalid value for FK_{name}: {raw}"):
        env(**{f"FK_{name}": raw}).snapshot()


def test_snapshot_is_frozen_and_env_is_live() -> None:
    values = {"HOME": "/h", "FK_JIT_NPU_ARCH": "2201"}
    live = Env("FK", values)
    snapshot = live.snapshot()
    values["FK_JIT_NPU_ARCH"] = "3510"
    assert snapshot.npu_arch == 2201
    assert live.get("JIT_NPU_ARCH") == "3510"
    with pytest.raises(dataclasses.FrozenInstanceError):
        snapshot.npu_arch = 1  # type: ignore[misc]


def test_snapshot_defaults() -> None:
    snapshot = env().snapshot()
    assert snapshot == EnvSettings(
        prefix="FK", cache_dir=(Path("/home/u/.dj"),), standard={"HOME": "/home/u"}
    )
    assert snapshot.to_json()["launch_timeout"] == 300
