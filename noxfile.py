"""Sessions of this repository; `nox -l` is the manual (style.md section 8).

All sessions share one environment in `.nox/env`, because torch is large: it is made by the first
session and made again when a version or a build file changes. JIT-compiled kernels go to
`.nox/jit-cache`, or to the folder that NOX_JIT_CACHE names.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".nox" / "env"
PYTHON = str(ENVIRONMENT / "bin" / "python")
CONSTRAINTS = ROOT / "ci" / "constraints.txt"
OLDEST = ROOT / "ci" / "oldest.txt"
GROUPS = ("build", "lint", "test", "release", "bench")
COMPONENTS = tuple(sorted(path.parent.name for path in ROOT.glob("packages/*/pyproject.toml")))

nox.needs_version = ">=2024.10.9"
nox.options.default_venv_backend = "none"
nox.options.sessions = ["lint", "types", "tests"]


@nox.session
def environment(session: nox.Session) -> None:
    """Make or update the environment that all sessions share (they call this by themselves)."""
    _prepare(session)


@nox.session
@nox.parametrize("component", [*COMPONENTS, "shared"], ids=[*COMPONENTS, "shared"])
def tests(session: nox.Session, component: str) -> None:
    """Run the tests of a component, or of `shared` and `tools`; what follows -- goes to pytest."""
    _prepare(session)
    workers = min(2, os.cpu_count() or 1)
    plugin = "deep_jit" if component == "shared" else component
    _run(
        session,
        *("-m", "pytest", "-q", "-p", f"{plugin}._shared.testing.plugin", "-n", str(workers)),
        *_report(component),
        *session.posargs,
        *_test_paths(component, session.posargs),
        # NOTE: one computing thread a worker, or the workers slow each other down.
        env={"OMP_NUM_THREADS": "1"} if workers > 1 else {},
    )


@nox.session
@nox.parametrize("component", COMPONENTS, ids=COMPONENTS)
def oldest(session: nox.Session, component: str) -> None:
    """Run the tests of a component with the lowest versions of its dependencies (ci/oldest.txt)."""
    _prepare(session)  # whose programs build the components
    home = ROOT / ".nox" / "oldest"
    python = str(home / "bin" / "python")
    if not Path(python).exists():
        session.run(sys.executable, "-m", "venv", str(home), external=True)
    pip = (python, "-m", "pip", "install", "--quiet", "--constraint", str(OLDEST))
    groups = [
        part for group in ("build", "test") for part in ("--group", f"pyproject.toml:{group}")
    ]
    editables = [part for name in COMPONENTS for part in ("--editable", f"packages/{name}")]
    session.run(python, "-m", "pip", "install", "--quiet", "--upgrade", "pip", external=True)
    session.run(*pip, *groups, external=True)
    session.run(*pip, "--no-build-isolation", *editables, external=True, env=_path())
    _run(
        session,
        *("-m", "pytest", "-q", "-p", f"{component}._shared.testing.plugin"),
        *session.posargs,
        *_test_paths(component, session.posargs),
        python=python,
    )


@nox.session
def native(session: nox.Session) -> None:
    """Compile the C++ headers alone, each with the host compiler and all warnings."""
    _prepare(session)
    _run(session, "tools/check_headers.py", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check Python style, spelling, import rules and that generated files are current."""
    _prepare(session)
    _run(session, "-m", "ruff", "check", ".")
    _run(session, "-m", "ruff", "format", "--check", ".")
    _run(session, "-m", "codespell_lib", *_tracked("*.py", "*.md", "*.hpp", "*.cpp", "*.h"))
    _run(session, "tools/check_imports.py")
    _run(session, "tools/gen_stubs.py", "--check")
    _run(session, "tools/gen_texts.py", "--check")


@nox.session(name="format")
def format_code(session: nox.Session) -> None:
    """Format Python with ruff and repair what ruff can."""
    _prepare(session)
    _run(session, "-m", "ruff", "check", "--fix", ".")
    _run(session, "-m", "ruff", "format", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check types with mypy --strict; `shared` is checked through deep_jit."""
    _prepare(session)
    _run(session, "-m", "mypy", *session.posargs)


@nox.session
@nox.parametrize("component", COMPONENTS, ids=COMPONENTS)
def build(session: nox.Session, component: str) -> None:
    """Build sdist and wheels of a component, compare their contents, install and use the wheel."""
    _prepare(session)
    _run(session, "tools/check_wheel.py", component, *session.posargs)


@nox.session
@nox.parametrize("component", COMPONENTS, ids=COMPONENTS)
def bench(session: nox.Session, component: str) -> None:
    """Run the benchmark programs of a component; `-- --smoke` tries each in a small size."""
    _prepare(session)
    files = sorted((ROOT / "packages" / component / "benchmarks").glob("bench_*.py"))
    programs = [path for path in files if "__main__" in path.read_text()]
    if not programs:
        session.skip(f"packages/{component}/benchmarks holds no program bench_*.py")
    for program in programs:
        _run(session, str(program), *session.posargs)


@nox.session
def quickstart(session: nox.Session) -> None:
    """Run a BF16 matrix multiplication on the emulated chip and print what happened."""
    _prepare(session)
    _run(session, "packages/deep_gemm/examples/00_quickstart.py", *session.posargs)


@nox.session
def doctor(session: nox.Session) -> None:
    """Print versions, compilers, devices and caches, and run a self-test kernel on each target."""
    _prepare(session)
    _run(session, "-m", "deep_jit.cli", "doctor", *session.posargs)


@nox.session
def changelog(session: nox.Session) -> None:
    """Check changelog fragments; `-- --base REF` also asks for one in each changed component."""
    _prepare(session)
    _run(session, "tools/check_changelog.py", *session.posargs)


def _prepare(session: nox.Session) -> None:
    """Makes `.nox/env` with every component installed in place, unless it is up to date."""
    stamp = ENVIRONMENT / "made-from"
    wanted = _environment_hash()
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    if not Path(PYTHON).exists():
        session.run(sys.executable, "-m", "venv", str(ENVIRONMENT), external=True)
    pip = (PYTHON, "-m", "pip", "install", "--quiet", "--constraint", str(CONSTRAINTS))
    session.run(*pip, "--upgrade", "pip", external=True)
    groups = [part for group in GROUPS for part in ("--group", f"pyproject.toml:{group}")]
    editables = [part for name in COMPONENTS for part in ("--editable", f"packages/{name}")]
    session.run(*pip, *groups, external=True)
    session.run(*pip, "--no-build-isolation", *editables, external=True, env=_path())
    stamp.write_text(wanted)


def _environment_hash() -> str:
    """Returns a hash of all that the environment is made from."""
    inputs = [ROOT / "pyproject.toml", CONSTRAINTS, Path(__file__)]
    for pattern in (
        "packages/*/pyproject.toml",
        "packages/*/CMakeLists.txt",
        "packages/*/csrc/*",
        "shared/native/launcher/*",
        "shared/include/ascend_emu/asc_emu/*.h",
    ):
        inputs += sorted(ROOT.glob(pattern))
    digest = hashlib.sha256(sys.version.encode())
    for path in inputs:
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _run(
    session: nox.Session,
    *arguments: str,
    env: dict[str, str] | None = None,
    python: str = PYTHON,
) -> None:
    """Runs the environment's Python, or another one, with the JIT cache of the sessions."""
    cache = os.environ.get("NOX_JIT_CACHE") or str(ROOT / ".nox" / "jit-cache")
    variables = {"DJ_JIT_CACHE_DIR": cache, **_path(), **(env or {})}
    session.run(python, *arguments, external=True, env=variables)


def _path() -> dict[str, str]:
    """Returns PATH with the environment's programs first, where cmake and ninja are."""
    return {"PATH": f"{ENVIRONMENT / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"}


def _test_paths(component: str, posargs: list[str]) -> list[str]:
    """Returns the folders to test, unless the user named files or folders."""
    if any((ROOT / argument.partition("::")[0]).exists() for argument in posargs):
        return []
    if component == "shared":
        return ["shared/tests", "tools/tests"]
    return [f"packages/{component}/tests"]


def _report(component: str) -> list[str]:
    """Returns the option that leaves a result file in the folder that NOX_TEST_REPORTS names."""
    folder = os.environ.get("NOX_TEST_REPORTS")
    return [f"--junit-xml={folder}/{component}.xml"] if folder else []


def _tracked(*patterns: str) -> list[str]:
    """Returns the files of the checkout that git does not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [name for name in names.splitlines() if (ROOT / name).is_file()]
