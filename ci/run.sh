#!/usr/bin/env bash
# What a CI machine runs: everything, from a machine with Python, a C++20 compiler and the package
# registries only (architecture.md sections 3 and 8). The tests come last, their sum is the last line.
set -uo pipefail
cd "$(dirname "$0")/.."

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
# A JIT cache of its own: a warm cache of the machine never hides a missing step.
export NOX_JIT_CACHE="$scratch/jit-cache"
export NOX_TEST_REPORTS="$scratch/reports"

python="$(command -v python3.11 || command -v python3)"
"$python" -m venv "$scratch/nox" || exit 1
"$scratch/nox/bin/python" -m pip install --quiet --constraint ci/constraints.txt nox || exit 1
nox="$scratch/nox/bin/nox"

status=0
"$nox" -s lint types changelog doctor quickstart build || status=1
"$nox" -s tests || status=1
"$python" ci/sum_tests.py "$NOX_TEST_REPORTS" || status=1
exit "$status"
