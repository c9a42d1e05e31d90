"""Checks who imports whom (architecture.md sections 3 and 5).

* `shared` imports itself relatively, no component, and nobody imports a top-level `shared`.
* A component imports another component inside functions only.
* What `shared` or a component imports at start is among the dependencies of its distribution.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from _repository import ROOT, components, metadata

# Distributions whose import name differs.
IMPORT_NAMES = {"pyelftools": "elftools"}
# Modules that are loaded for tests only, so that pytest and its kin may be imported.
TEST_HELP = ("testing",)


@dataclass(frozen=True)
class Import:
    """One imported top-level module: where, which, and whether it runs when the file is loaded."""

    path: Path
    line: int
    name: str
    at_start: bool


def imports_of(path: Path) -> Iterator[Import]:
    """Yields the absolute imports of a Python file."""
    yield from _walk(ast.parse(path.read_text(), str(path)), path, at_start=True)


def _walk(node: ast.AST, path: Path, *, at_start: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(path, child.lineno, alias.name.partition(".")[0], at_start)
        elif isinstance(child, ast.ImportFrom) and child.level == 0:
            yield Import(path, child.lineno, (child.module or "").partition(".")[0], at_start)
        else:
            yield from _walk(child, path, at_start=at_start and not _is_deferred(child))


def _is_deferred(node: ast.AST) -> bool:
    """Tells whether the body of `node` does not run, or may fail, when the module is loaded."""
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Try))


def python_files(folder: Path) -> list[Path]:
    """Returns the Python files below `folder`, without those behind the `_shared` link."""
    return [path for path in sorted(folder.rglob("*.py")) if "_shared" not in path.parts]


def dependencies(component: str, root: Path = ROOT) -> set[str]:
    """Returns the import names of what the distribution of `component` requires."""
    required = metadata(component, root)["project"]["dependencies"]
    names = (re.split(r"[^A-Za-z0-9_.-]", entry)[0] for entry in required)
    return {IMPORT_NAMES.get(name, name.replace("-", "_")) for name in names}


def check_shared(root: Path = ROOT) -> list[str]:
    """Returns what is wrong with the imports of `shared`."""
    names = components(root)
    allowed = set.intersection(*(dependencies(name, root) for name in names)) if names else set()
    problems = []
    for path in python_files(root / "shared"):
        parts = path.relative_to(root / "shared").parts
        if parts[0] == "tests":
            continue
        for item in imports_of(path):
            where = f"{path.relative_to(root)}:{item.line}: imports {item.name}"
            if item.name == "shared" or item.name in names:
                problems.append(f"{where}; shared code imports itself relatively, no component")
            elif parts[0] not in TEST_HELP and _is_missing(item, allowed):
                problems.append(f"{where}; not a dependency of every component: import it lazily")
    return problems


def check_component(component: str, root: Path = ROOT) -> list[str]:
    """Returns what is wrong with the imports of one component."""
    others = set(components(root)) - {component}
    allowed = dependencies(component, root) | {component}
    package = root / "packages" / component / "src" / component
    problems = []
    for path in python_files(package):
        in_tests = path.relative_to(package).parts[0] in TEST_HELP
        for item in imports_of(path):
            where = f"{path.relative_to(root)}:{item.line}: imports {item.name}"
            if item.name == "shared":
                problems.append(f"{where}; write {component}._shared")
            elif item.name in others and item.at_start:
                problems.append(f"{where}; another component is imported inside functions only")
            elif item.name not in others and not in_tests and _is_missing(item, allowed):
                problems.append(f"{where}; not a dependency of {component}: add it to pyproject")
    return problems


def _is_missing(item: Import, allowed: set[str]) -> bool:
    known = item.name in allowed or item.name in sys.stdlib_module_names
    return item.at_start and not known


def main() -> int:
    """Prints all problems; returns 1 if there are any."""
    problems = check_shared()
    for component in components():
        problems += check_component(component)
    print("\n".join(problems) or "imports: fine")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
