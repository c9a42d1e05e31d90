"""Discovery of the Ascend toolkit (deep_jit.md section 10): order, parts, error texts."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path

import pytest

from deep_jit._shared.jit.backends.ascend.toolkit import adv_api_places, find_toolkit
from deep_jit._shared.jit.errors import ToolchainError
from deep_jit._shared.testing.stand_ins import StandInToolkit

MakeToolkit = Callable[..., StandInToolkit]


@pytest.fixture
def bare(make_toolkit: MakeToolkit) -> MakeToolkit:
    """Makes toolkits without the driver library, which discovery does not need."""
    return lambda name="cann", **options: make_toolkit(name, acl=False, **options)


@pytest.mark.parametrize(
    ("environment", "chosen"),
    [
        ({"ASCEND_HOME_PATH": "first", "ASCEND_TOOLKIT_HOME": "second"}, "first"),
        ({"ASCEND_HOME_PATH": "", "ASCEND_TOOLKIT_HOME": "second"}, "second"),
        ({"ASCEND_TOOLKIT_HOME": "second"}, "second"),
        ({}, "default"),
    ],
)
def test_order(bare: MakeToolkit, tmp_path: Path, environment: dict[str, str], chosen: str) -> None:
    for name in ("first", "second", "default"):
        bare(name)
    environ = {key: str(tmp_path / value) if value else "" for key, value in environment.items()}
    found = find_toolkit(environ, default_homes=(tmp_path / "absent", tmp_path / "default"))
    assert found.home == tmp_path / chosen
    assert found.bisheng == found.home / "bin" / "bisheng"
    assert found.linker == found.home / "bin" / "ld.lld"


def test_set_but_missing_is_an_error(bare: MakeToolkit, tmp_path: Path) -> None:
    bare("second")
    environ = {"ASCEND_HOME_PATH": "/no/such", "ASCEND_TOOLKIT_HOME": str(tmp_path / "second")}
    with pytest.raises(ToolchainError, match="Ascend toolkit home was not found.*/no/such"):
        find_toolkit(environ)


def test_nothing_found_lists_the_places(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="Ascend toolkit home was not found") as caught:
        find_toolkit({}, default_homes=(tmp_path / "a", tmp_path / "b"))
    for place in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", tmp_path / "a", tmp_path / "b"):
        assert str(place) in str(caught.value)


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ("bisheng", "Bisheng compiler is not executable"),
        ("ld.lld", "Ascend linker is not executable"),
    ],
)
@pytest.mark.parametrize("fault", ["missing", "mode", "folder"])
def test_tools_must_be_executable(bare: MakeToolkit, tool: str, message: str, fault: str) -> None:
    home = bare().home
    path = home / "bin" / tool
    if fault == "mode":
        path.chmod(0o644)
    else:
        path.unlink()
        if fault == "folder":
            path.mkdir()
    with pytest.raises(ToolchainError, match=message) as caught:
        find_toolkit({"ASCEND_HOME_PATH": str(home)})
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("arch", ["aarch64", "x86_64"])
def test_adv_api_of_either_machine(bare: MakeToolkit, arch: str) -> None:
    home = bare(arch=arch).home
    found = find_toolkit({"ASCEND_HOME_PATH": str(home)})
    assert found.adv_api == home / f"{arch}-linux" / "asc" / "include" / "adv_api"


def test_adv_api_of_the_host_comes_first(bare: MakeToolkit) -> None:
    home = bare(arch="riscv64").home
    for place in adv_api_places(home):
        place.mkdir(parents=True, exist_ok=True)
    found = find_toolkit({"ASCEND_HOME_PATH": str(home)})
    assert found.adv_api.relative_to(home).parts[0] == f"{platform.machine()}-linux"


def test_adv_api_missing_lists_the_places(bare: MakeToolkit) -> None:
    home = bare(arch="riscv64").home
    with pytest.raises(
        ToolchainError, match="Ascend adv_api include directory was not found: "
    ) as caught:
        find_toolkit({"ASCEND_HOME_PATH": str(home)})
    assert all(str(place) in str(caught.value) for place in adv_api_places(home))


def test_versions(bare: MakeToolkit) -> None:
    home = bare(version="9.2").home
    found = find_toolkit({"ASCEND_HOME_PATH": str(home)})
    assert found.versions() == ("bisheng stand-in 9.2\n", "ld.lld stand-in 9.2\n")


def test_failing_version_run(bare: MakeToolkit) -> None:
    home = bare().home
    (home / "bin" / "ld.lld").write_text("#!/bin/sh\necho broken >&2; exit 4\n")
    with pytest.raises(ToolchainError, match="--version failed with exit code 4:\nbroken"):
        find_toolkit({"ASCEND_HOME_PATH": str(home)}).versions()
