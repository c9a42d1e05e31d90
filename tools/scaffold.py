"""Creates a component, or a kernel of a component, with all companion files (style.md section 3).

    python tools/scaffold.py component tile_kernels --prefix TK --description "..."
    python tools/scaffold.py kernel deep_gemm scaled_copy --issue 12

Templates lie in tools/templates/: `{{name}}` in a text and `__name__` in a path are replaced.
Existing files are never overwritten.
"""

from __future__ import annotations

import keyword
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click

from _repository import ROOT, components

TEMPLATES = Path(__file__).resolve().parent / "templates"
SUFFIX = ".tmpl"
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
SCRIPT = '\n[project.scripts]\n{script} = "{component}.cli:main"\n'


def render(text: str, values: dict[str, str]) -> str:
    """Replaces each `{{name}}`; a name without a value is an error."""
    return PLACEHOLDER.sub(lambda match: values[match.group(1)], text)


def render_path(path: Path, values: dict[str, str]) -> Path:
    """Replaces `__name__` in a path for all names in `values` and drops the template suffix."""
    text = path.as_posix().removesuffix(SUFFIX)
    for name, value in values.items():
        text = text.replace(f"__{name}__", value)
    return Path(text)


def plan(kind: str, target: Path, values: dict[str, str]) -> dict[Path, str]:
    """Returns path -> text of all files of a template folder, to be written below `target`."""
    source = TEMPLATES / kind
    return {
        target / render_path(path.relative_to(source), values): render(path.read_text(), values)
        for path in sorted(source.rglob(f"*{SUFFIX}"))
    }


def write(files: dict[Path, str], *, root: Path) -> None:
    """Writes new files; refuses before the first one if any exists."""
    existing = [str(path.relative_to(root)) for path in files if path.exists()]
    if existing:
        raise click.ClickException(
            f"already there: {', '.join(existing)}; choose another name or remove them first"
        )
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        click.echo(f"wrote {path.relative_to(root)}")
    tidy([path for path in files if path.suffix == ".py"], root)


def tidy(files: list[Path], root: Path) -> None:
    """Wraps lines and sorts imports: both depend on how long the new names are."""
    for command in (["check", "--fix"], ["format"]):
        arguments = [
            sys.executable,
            "-m",
            "ruff",
            *command,
            "--quiet",
            "--no-cache",
            *map(str, files),
        ]
        if subprocess.run(arguments, cwd=root, check=False).returncode:
            click.echo(f"note: ruff {command[0]} has complaints; look at the new files", err=True)


def check_name(name: str) -> str:
    """Returns `name` if it can be an import name of this repository, else raises an error."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or keyword.iskeyword(name):
        raise click.BadParameter(
            f"{name!r}; wanted lower-case words joined by underscores, for example tile_kernels"
        )
    return name


def pascal_case(name: str) -> str:
    """Returns `DeepGemm` for `deep_gemm`."""
    return "".join(word.capitalize() for word in name.split("_"))


def fragment(folder: Path, issue: str, name: str) -> str:
    """Returns a free name for a changelog fragment, without its suffix."""
    base = f"{issue}.added" if issue else f"+{name}.added"
    numbered = [base, *(f"{base}.{number}" for number in range(1, 100))]
    return next(stem for stem in numbered if not (folder / f"{stem}.md").exists())


def component_values(
    name: str, description: str, *, issue: str = "", torch: bool, script: str = "", prefix: str
) -> dict[str, str]:
    """Returns what the templates of a component need."""
    if not re.fullmatch(r"[A-Z]{2,4}", prefix):
        raise click.BadParameter(f"prefix {prefix!r}; wanted two to four capital letters")
    if not 10 <= len(description) <= 90 or not description.endswith("."):
        raise click.BadParameter(
            f"description of {len(description)} characters: {description!r}; "
            "wanted one sentence of 10 to 90 characters with a full stop"
        )
    return {
        "component": name,
        "distribution": name.replace("_", "-"),
        "Component": pascal_case(name),
        "description": description,
        "prefix": prefix,
        "fragment": f"{issue or '+scaffold'}.added",
        "torch_line": '    "torch>=2.10",\n' if torch else "",
        "scripts": SCRIPT.format(script=script, component=name) if script else "",
    }


def make_component(root: Path, values: dict[str, str]) -> None:
    """Writes the files of a new component below `root`, with the link to `shared`."""
    name = values["component"]
    target = root / "packages" / name
    write(plan("component", target, values), root=root)
    (target / "src" / name / "_shared").symlink_to("../../../../shared")
    shutil.copy(ROOT / "LICENSE", target / "LICENSE")


def kernel_values(target: Path, name: str, issue: str = "") -> dict[str, str]:
    """Returns what the templates of a kernel in the component at `target` need."""
    return {
        "component": target.name,
        "Component": pascal_case(target.name),
        "kernel": name,
        "title": name.replace("_", " ").capitalize(),
        "fragment": fragment(target / "changelog.d", issue, name),
    }


def make_kernel(root: Path, component: str, name: str, issue: str = "") -> None:
    """Writes the files of a new kernel of an existing component below `root`."""
    target = root / "packages" / component
    if not (target / "pyproject.toml").is_file():
        raise click.BadParameter(
            f"no component {component!r}; there are: {', '.join(components(root)) or 'none'}"
        )
    needed = [target / "src" / component / file for file in ("_jit.py", "errors.py")]
    missing = [str(path.relative_to(root)) for path in needed if not path.is_file()]
    if missing:
        raise click.ClickException(
            f"{component} holds no kernels: it has no {', '.join(missing)}; "
            "choose a component that was created for kernels"
        )
    write(plan("kernel", target, kernel_values(target, name, issue)), root=root)


@click.group()
def main() -> None:
    """Create a component or a kernel from the templates of this repository."""


@main.command()
@click.argument("name", callback=lambda _context, _parameter, value: check_name(value))
@click.option("--description", required=True, help="One sentence, 10 to 90 characters.")
@click.option("--issue", default="", help="Issue that the changelog fragment names.")
@click.option("--torch/--no-torch", default=True, show_default=True, help="Requires torch.")
@click.option("--prefix", required=True, help="Prefix of environment variables, for example TK.")
@click.option("--script", default="", help="Name of a command-line program of the component.")
@click.option("--root", type=click.Path(path_type=Path, exists=True), default=ROOT, hidden=True)
def component(
    name: str, description: str, issue: str, torch: bool, prefix: str, script: str, root: Path
) -> None:
    """Create the package NAME (an import name) in packages/."""
    values = component_values(
        name, description, issue=issue, torch=torch, script=script, prefix=prefix
    )
    make_component(root, values)
    click.echo(f"next: pip install --no-build-isolation -e packages/{name}")


@main.command()
@click.argument("component_name", metavar="COMPONENT")
@click.argument("name", callback=lambda _context, _parameter, value: check_name(value))
@click.option("--issue", default="", help="Issue that the changelog fragment names.")
@click.option("--root", type=click.Path(path_type=Path, exists=True), default=ROOT, hidden=True)
def kernel(component_name: str, name: str, issue: str, root: Path) -> None:
    """Create the kernel NAME in an existing COMPONENT; it works as it is, a copy by a factor."""
    make_kernel(root, component_name, name, issue)
    click.echo(
        f"next: nox -s 'tests({component_name})' -- -k {name}, "
        f"then export it from {component_name}/__init__.py and make it your own"
    )


if __name__ == "__main__":
    main()
