"""The scaffold: what it creates is a package of this repository, complete and clean."""

import ast
import os
import shutil
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import check_changelog
import scaffold

DESCRIPTION = "Kernels that are made up for this test."


@pytest.fixture
def repository(tmp_path):
    """A checkout with the root configuration, `shared` and no components."""
    root = tmp_path / "checkout"
    root.mkdir()
    shutil.copy(scaffold.ROOT / "pyproject.toml", root)
    (root / "shared").symlink_to(scaffold.ROOT / "shared")
    return root


def run(root, *arguments):
    """Runs the command line; returns its result."""
    return CliRunner().invoke(scaffold.main, [*arguments, "--root", str(root)])


def make_component(root, name="made_up"):
    options = ("--description", DESCRIPTION, "--prefix", "MU", "--issue", "7")
    result = run(root, "component", name, *options)
    assert result.exit_code == 0, result.output
    return root / "packages" / name


def component_values(**options):
    return scaffold.component_values("made_up", DESCRIPTION, prefix="MU", **options)


def ruff(root):
    """Runs the repository's own rules over generated files."""
    for command in (["check"], ["format", "--check"]):
        arguments = [sys.executable, "-m", "ruff", *command, "--no-cache", str(root / "packages")]
        done = subprocess.run(arguments, cwd=root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def files_of(folder):
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and "_shared" not in path.parts
    }


def test_component_has_all_companions(repository):
    package = make_component(repository)
    assert files_of(package) >= {
        "CHANGELOG.md",
        "CMakeLists.txt",
        "LICENSE",
        "README.md",
        "changelog.d/7.added.md",
        "pyproject.toml",
        "src/made_up/__init__.py",
        "src/made_up/_version.py",
        "src/made_up/py.typed",
        "tests/unit/test_package.py",
    }
    for folder in ("csrc", "benchmarks", "examples", "docs"):
        assert (package / folder).is_dir()
    assert (package / "src/made_up/_shared/_component.py").is_file()
    assert (package / "src/made_up/_shared").readlink().as_posix() == "../../../../shared"


def test_component_is_clean_python(repository):
    make_component(repository)
    ruff(repository)


def test_component_builds_its_metadata(repository):
    """The build back end reads name and version; no compiler and no network are needed."""
    package = make_component(repository)
    script = "from hatchling.metadata.core import ProjectMetadata as M; import sys\n"
    script += "from hatchling.plugin.manager import PluginManager as P\n"
    script += "m = M('.', P()); print(m.core.name, m.version, m.core.requires_python)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=package, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["made-up", "0.1.0.dev0", ">=3.10"]


def test_existing_components_are_as_the_template_says():
    """deep_jit and deep_gemm keep the build files that a new component would get."""
    for name in ("deep_jit", "deep_gemm"):
        values = scaffold.component_values(name, DESCRIPTION, torch=False, prefix="MU")
        files = scaffold.plan("component", scaffold.ROOT / "packages" / name, values)
        for path, text in files.items():
            if path.name == "CMakeLists.txt" or path.parts[-2:] == ("changelog.d", "README.md"):
                assert path.read_text() == text, path


@pytest.mark.parametrize("name", ["Made", "made-up", "1made", "made__up", "class", "made_"])
def test_bad_names_are_refused(repository, name):
    result = run(repository, "component", name, "--description", DESCRIPTION, "--prefix", "MU")
    assert result.exit_code == 2
    assert repr(name) in result.output
    assert not (repository / "packages").exists()


@pytest.mark.parametrize("text", ["short.", "No full stop here", "x" * 90 + "."])
def test_bad_descriptions_are_refused(text):
    with pytest.raises(click.BadParameter, match=r"wanted one sentence of 10 to 90"):
        scaffold.component_values("made_up", text, torch=True, prefix="MU")


def test_nothing_is_overwritten(repository):
    package = make_component(repository)
    before = files_of(package)
    (package / "README.md").write_text("mine")
    result = run(repository, "component", "made_up", "--description", DESCRIPTION, "--prefix", "MU")
    assert result.exit_code == 1
    assert "already there" in result.output
    assert (package / "README.md").read_text() == "mine"
    assert files_of(package) == before


@pytest.mark.parametrize("prefix", ["", "M", "mu", "MADEUP"])
def test_bad_prefixes_are_refused(prefix):
    with pytest.raises(click.BadParameter, match="two to four capital letters"):
        scaffold.component_values("made_up", DESCRIPTION, torch=True, prefix=prefix)


def test_torch_and_a_program_are_optional(repository):
    values = component_values(torch=False, script="made-up")
    scaffold.make_component(repository, values)
    text = (repository / "packages/made_up/pyproject.toml").read_text()
    assert '"torch>=' not in text
    assert 'made-up = "made_up.cli:main"' in text


def test_generated_tests_are_python(repository):
    package = make_component(repository)
    for path in package.rglob("*.py"):
        if "_shared" not in path.parts:
            assert ast.get_docstring(ast.parse(path.read_text())), path


def test_kernel_has_all_companions_and_is_clean(repository):
    package = make_component(repository)
    before = files_of(package)
    result = run(repository, "kernel", "made_up", "scaled_copy", "--issue", "7")
    assert result.exit_code == 0, result.output
    assert files_of(package) - before == {
        "benchmarks/bench_scaled_copy.py",
        "changelog.d/7.added.1.md",
        "src/made_up/apis/scaled_copy.py",
        "src/made_up/include/made_up/impls/scaled_copy.hpp",
        "src/made_up/kernels/scaled_copy.py",
        "tests/numeric/test_scaled_copy.py",
    }
    ruff(repository)
    for path in (package / "changelog.d").glob("7.*"):
        assert check_changelog.check_fragment(path) == []


def test_kernel_works_as_it_is(repository, jit_environment):
    """The generated tests pass: the kernel is compiled and runs in the emulator."""
    package = make_component(repository)
    scaffold.make_kernel(repository, "made_up", "scaled_copy")
    command = [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "tests/numeric"]
    done = subprocess.run(
        command, cwd=package, env=jit_environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def jit_environment(repository):
    """The environment of a process that uses the made-up component without installing it.

    Its native module is that of deep_jit: only the names of the bound classes differ.
    """
    path = repository / "packages" / "made_up" / "src"
    script = "import sys, deep_jit._native as n; sys.modules['made_up._native'] = n\n"
    (repository / "sitecustomize.py").write_text(script)
    return {**os.environ, "PYTHONPATH": f"{path}{os.pathsep}{repository}"}


def test_kernel_needs_a_component_that_holds_kernels(repository):
    result = run(repository, "kernel", "made_up", "scaled_copy")
    assert result.exit_code == 2
    assert "no component 'made_up'" in result.output
    package = make_component(repository)
    (package / "src/made_up/_jit.py").unlink()
    result = run(repository, "kernel", "made_up", "scaled_copy")
    assert result.exit_code == 1
    assert "it has no packages/made_up/src/made_up/_jit.py" in result.output
