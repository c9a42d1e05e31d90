"""Runs tile_kernels' operators, with the generated texts of a folder.

The numeric test compares with what the intact texts gave, bit for bit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .mutants import find_mutants
from .tilelang_texts import read, run_checked, run_plain, texts_read, texts_written

if TYPE_CHECKING:
    import torch

__all__ = ["judge", "prepare", "read", "sources", "warm"]

_KERNEL = re.compile(r"^@asc_kernel\([^\n]*\)\ndef (\w+)", re.MULTILINE)
_CORES, _SEED = 4, 20250


def warm() -> None:
    """Imports TileLang and the package's kernels."""
    from importlib import import_module

    for path in sorted(_package().rglob("*_asc.py")):
        import_module(".".join(path.relative_to(_package().parent).with_suffix("").parts))


def prepare(folder: Path, checked: bool = True) -> list[str]:
    """Runs the cases for their texts and results.

    Texts of one kernel with the same statements to mutate, in the same order, are mutated once:
    in the first case that has them.

    Raises:
        RuntimeError: a case is not silent, or none runs some kernel.
    """
    from .tile_kernels_cases import CASES

    names: set[str] = set()
    chosen: dict[tuple[str, ...], str] = {}
    run = run_checked if checked else run_plain
    for case in CASES:
        with texts_written(_bridge(), folder, case) as files:
            wrong = run("tile_kernels", partial(_save, case, folder / f"{case}.pt"))
        if wrong:
            raise RuntimeError(f"{case} is not silent when intact: {' '.join(wrong)}")
        for file in files:
            kernel = file.split(".")[1]
            names.add(kernel)
            edits = (f"{m.kind} {m.text} {m.new}" for m in find_mutants(folder, [Path(file)]))
            chosen.setdefault((kernel, *edits), file)
    if missing := _kernels() - names:
        raise RuntimeError(f"no case of tile_kernels_cases.py runs {', '.join(sorted(missing))}")
    return sorted(chosen.values())


def sources(file: str) -> Sequence[Path]:
    """The package, the cases and what runs them."""
    here = Path(__file__)
    return [_package(), *map(here.with_name, ("tile_kernels_cases.py", "tilelang_texts.py"))]


def judge(folder: Path, file: str | None) -> tuple[str, str] | None:
    """Runs the case of an edited text, or all."""
    from .tile_kernels_cases import CASES

    for case in [file.partition(".")[0]] if file else CASES:
        with texts_read(_bridge(), folder, case):
            found = run_checked("tile_kernels", partial(_compare, case, folder / f"{case}.pt"))
        if found is not None:
            return found
    return None


def _package() -> Path:
    import tile_kernels

    return Path(tile_kernels.__file__).resolve().parent


def _bridge() -> Any:
    from tile_kernels._shared.jit.tilelang import TileLangBridge

    return TileLangBridge


def _kernels() -> set[str]:
    """Names of the package's kernels."""
    texts = (path.read_text() for path in _package().rglob("*_asc.py"))
    return {name for text in texts for name in _KERNEL.findall(text)}


def _run(case: str) -> list[torch.Tensor]:
    """The tensors that a case returns."""
    import torch

    import tile_kernels

    from .tile_kernels_cases import CASES

    # NOTE: so that what a kernel leaves out of its outputs is the same in each run
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(_SEED)
    tile_kernels.config.reset_runtime_config()
    with tile_kernels.emulator(num_cores=_CORES):
        return list(_tensors(CASES[case]()))


def _save(case: str, path: Path) -> None:
    import torch

    torch.save(_run(case), path)


def _compare(case: str, path: Path) -> None:
    import torch

    for got, wanted in zip(_run(case), torch.load(path), strict=True):
        assert torch.equal(_bytes(got), _bytes(wanted)), f"another result of {case}"


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    import torch

    dense = torch.empty(tensor.numel(), dtype=tensor.dtype)
    return dense.copy_(tensor.flatten()).view(torch.uint8)


def _tensors(value: object) -> Iterator[torch.Tensor]:
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)
