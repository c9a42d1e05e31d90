"""Runs calls of tile_kernels up to the texts of their kernels: nothing is compiled or launched."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tile_kernels import _bridge
from tile_kernels._shared.jit.dry_run import dry_run
from tile_kernels._shared.jit.tilelang.bridge import TextRequest, TileLangBridge
from tile_kernels._shared.jit.tilelang.kernel import TileLangKernel
from tile_kernels._shared.jit.tilelang.lowered import Lowered
from tile_kernels._shared.jit.tilelang.shipped_texts import ShippedTexts, text_of

__all__ = ["TextMaker", "make_texts"]

Calls = dict[str, Callable[[], Any]]
TITLE = "Written by tools/gen_texts.py; do not edit."


class MissingText(Exception):
    """A text is not in the folder; its message is the file's name."""


class TextMaker(TileLangBridge):
    """A bridge whose kernels have a text and no binary.

    Args:
        known: texts that need not be lowered again.
        check: do not lower others either: raise `MissingText`.

    Attributes:
        contents: name and content of the file of each kernel that was asked for.
    """

    def __init__(self, known: ShippedTexts, check: bool) -> None:
        super().__init__(_bridge.ENV_PREFIX)
        self._known = known
        self._check = check
        self.contents: dict[str, str] = {}

    def _text(self, request: TextRequest) -> Lowered:
        path = self._known.path(request.name, request.portable_key)
        lowered = self._known.find(request.name, request.portable_key)
        if lowered is None:
            if self._check:
                raise MissingText(path.name)
            lowered = super()._text(request)
        self.contents[path.name] = text_of(lowered, TITLE)
        return lowered

    def _compiled(self, lowered: Lowered) -> TileLangKernel:
        no_binary: Any = None
        return TileLangKernel(lowered, no_binary)


def make_texts(
    calls: Callable[[], Calls], known: ShippedTexts, cache: Path, check: bool, workers: int
) -> tuple[dict[str, str], list[str]]:
    """Returns the files that the calls need, and the names of those that `check` finds missing.

    Args:
        calls: makes the calls, once in each worker.
        known: texts that need not be lowered again.
        cache: an empty folder.
        check: lower nothing.
        workers: processes.
    """
    for name in [name for name in os.environ if name.startswith(("DJ_", "TK_"))]:
        del os.environ[name]
    os.environ[f"{_bridge.ENV_PREFIX}_JIT_CACHE_DIR"] = str(cache)
    _use(TextMaker(known, check))
    names = list(calls())
    contents: dict[str, str] = {}
    missing: list[str] = []
    with ProcessPoolExecutor(workers, get_context("fork")) as pool:
        shares = [names[start::workers] for start in range(workers)]
        jobs = [pool.submit(_run, calls, share) for share in shares]
        for job in jobs:
            made, not_there = job.result()
            contents |= made
            missing += not_there
    return contents, missing


def _use(maker: TextMaker) -> None:
    """Gives the bridge to all kernels; they ask for one when their modules are imported."""
    _bridge.bridge = lambda: maker  # type: ignore[assignment]
    folder = Path(_bridge.__file__).parent
    for path in sorted(folder.rglob("*_asc.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        importlib.import_module(".".join(parts))


def _run(calls: Callable[[], Calls], names: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """In a worker, which was forked and has the bridge."""
    import torch

    torch.set_num_threads(1)
    maker: Any = _bridge.bridge()
    missing = []
    everything = calls()
    for name in names:
        try:
            with dry_run():
                everything[name]()
        except MissingText as error:
            missing.append(f"{error} ({name})")
        except Exception as error:
            raise RuntimeError(f"the call '{name}' of tools/texts failed: {error}") from error
    return maker.contents, missing
