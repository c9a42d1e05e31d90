"""Adds up pytest's result files and prints one closing line: `N passed, N failed, N skipped`.

Usage: sum_tests.py FOLDER. Fails if a test failed, or if none ran.
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree


def count(folder: Path) -> tuple[int, int, int]:
    """Returns the numbers of passed, failed and skipped tests in the `*.xml` files of `folder`."""
    total = failed = skipped = 0
    for report in sorted(folder.glob("*.xml")):
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            total += int(suite.get("tests", "0"))
            failed += int(suite.get("failures", "0")) + int(suite.get("errors", "0"))
            skipped += int(suite.get("skipped", "0"))
    return total - failed - skipped, failed, skipped


def main() -> int:
    """Prints the sum for the folder that the command line names."""
    passed, failed, skipped = count(Path(sys.argv[1]))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
