"""Where things lie in the checkout; used by the programs of this folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ROOT / "packages"
SHARED = ROOT / "shared"


def components(root: Path = ROOT) -> list[str]:
    """Returns the import names of all components of the checkout."""
    return sorted(path.parent.name for path in root.glob("packages/*/pyproject.toml"))


def metadata(component: str, root: Path = ROOT) -> dict[str, Any]:
    """Returns the parsed `pyproject.toml` of a component."""
    return tomllib.loads((root / "packages" / component / "pyproject.toml").read_text())
