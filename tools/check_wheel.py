"""Builds the sdist and both wheels of a component and checks them (architecture.md section 3).

Usage: check_wheel.py COMPONENT [--keep FOLDER]

* The wheel built from the sdist holds the same files as the wheel built from the checkout; only
  the compiled module may differ.
* The shared tree is inside as real files, without its tests; the sdist holds no links.
* Installed in an environment of its own, the wheel runs the first example of its README.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path
from typing import Any

import click

from _repository import PACKAGES, ROOT, components

COMPILED = re.compile(r"/_native\.[^/]*\.so$")
UNWANTED = re.compile(r"/_shared/tests/|__pycache__|\.pyc$|/_shared$")


def build(source: Path, output: Path, kind: str) -> Path:
    """Builds a `sdist` or a `wheel` of the package in `source`; returns the archive."""
    output.mkdir(parents=True)
    command = [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "-o", str(output)]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(f"cannot build a {kind} of {source}:\n{done.stdout[-8000:]}")
    (archive,) = output.iterdir()
    return archive


def unpack(sdist: Path, output: Path) -> Path:
    """Unpacks an sdist, which must hold files only; returns its top folder."""
    with tarfile.open(sdist) as archive:
        links = [member.name for member in archive if not (member.isfile() or member.isdir())]
        if links:
            raise click.ClickException(f"{sdist.name} holds links: {', '.join(links)}")
        # NOTE: the argument came with Python 3.10.12 and 3.11.4; the archive is our own.
        safe: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(output, **safe)
    (folder,) = output.iterdir()
    return folder


def contents(wheel: Path) -> dict[str, str]:
    """Returns name -> SHA-256 of the files of a wheel; no hash for what a compiler made."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            name: ""
            if COMPILED.search(name) or name.endswith("/RECORD")
            else hashlib.sha256(archive.read(name)).hexdigest()
            for name in archive.namelist()
        }


def shared_files() -> set[str]:
    """Returns the files of `shared` that a wheel carries: all but tests and what git ignores."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "shared"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {
        name.removeprefix("shared/")
        for name in names.splitlines()
        if not name.startswith("shared/tests/") and (ROOT / name).is_file()
    }


def check_contents(component: str, files: dict[str, str]) -> list[str]:
    """Returns what is wrong with the file list of a wheel."""
    problems = [f"holds {name}" for name in files if UNWANTED.search(name)]
    prefix = f"{component}/_shared/"
    carried = {name.removeprefix(prefix) for name in files if name.startswith(prefix)}
    problems += [f"lacks {prefix}{name}" for name in sorted(shared_files() - carried)]
    problems += [f"holds unknown {prefix}{name}" for name in sorted(carried - shared_files())]
    if sum(bool(COMPILED.search(name)) for name in files) != 1:
        problems.append(f"holds not exactly one {component}/_native*.so")
    if not any(name.endswith("licenses/LICENSE") for name in files):
        problems.append("lacks the licence")
    return problems


def compare(checkout: dict[str, str], sdist: dict[str, str]) -> list[str]:
    """Returns the differences between the two wheels."""
    return [
        f"{name} differs between the wheel from the checkout and the one from the sdist"
        for name in sorted(checkout.keys() | sdist.keys())
        if checkout.get(name) != sdist.get(name)
    ]


def first_example(component: str) -> str:
    """Returns the first Python block of the component's README."""
    text = (PACKAGES / component / "README.md").read_text()
    found = re.search(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise click.ClickException(f"packages/{component}/README.md holds no Python example")
    return found.group(1)


def run_installed(component: str, wheel: Path, folder: Path) -> str:
    """Installs the wheel alone in a new environment and runs the README's example there.

    Third-party packages are borrowed from the running environment, since torch is large.
    """
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
    site = Path(
        subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
    )
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    script = folder / "example.py"
    script.write_text(first_example(component) + _locate(component))
    done = subprocess.run([python, script], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(f"the README's example failed:\n{done.stdout}{done.stderr}")
    if str(site) not in done.stdout.splitlines()[-1]:
        raise click.ClickException(f"the example used another copy: {done.stdout}")
    return done.stdout


def _locate(component: str) -> str:
    return f"\nimport {component}, {component}._native\nprint({component}._native.__file__)\n"


@click.command()
@click.argument("component", type=click.Choice(components()))
@click.option("--keep", type=click.Path(path_type=Path), help="Folder to copy the archives to.")
def main(component: str, keep: Path | None) -> None:
    """Build and check the distribution of COMPONENT."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sdist = build(PACKAGES / component, folder / "sdist", "sdist")
        wheel = build(PACKAGES / component, folder / "checkout", "wheel")
        again = build(unpack(sdist, folder / "unpacked"), folder / "from-sdist", "wheel")
        files = contents(wheel)
        problems = check_contents(component, files) + compare(files, contents(again))
        if problems:
            raise click.ClickException("\n".join(problems))
        print(f"{wheel.name}: {len(files)} files, {wheel.stat().st_size / 1024:.0f} KiB, as listed")
        print(run_installed(component, again, folder), end="")
        if keep:
            keep.mkdir(parents=True, exist_ok=True)
            for archive in (sdist, wheel):
                shutil.copy(archive, keep)


if __name__ == "__main__":
    main()
