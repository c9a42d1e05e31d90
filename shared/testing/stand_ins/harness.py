"""What tests of the npu target share: builds without a cache, and the journal of the ACL calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...jit.backends.ascend import AscendBackend
from ...jit.backends.ascend.kernel import AscendKernel
from ...jit.backends.base import BuildRequest, BuildResult
from ...jit.env import Env
from ...jit.options import AscendCompilerOptions

__all__ = ["AICPU_KERNEL", "KERNEL", "AclJournal", "Builder", "normalised"]

KERNEL = 'extern "C" __global__ __vector__ void add(__gm__ float* x) {}\n'
AICPU_KERNEL = (
    'extern "C" __aicpu__ void helper() {}\n'
    'extern "C" __global__ __aicpu__ unsigned int add(int64_t* out) { return 0; }\n'
)


@dataclass(frozen=True)
class AclJournal:
    """The calls that the ACL stand-in has seen."""

    path: Path

    def calls(self, name: str | None = None) -> list[dict[str, Any]]:
        """Returns the recorded calls in order, or those of one function."""
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        records = [json.loads(line) for line in lines]
        return [record for record in records if name in (None, record["call"])]

    def launches(self) -> list[dict[str, Any]]:
        """Returns the recorded launches."""
        return self.calls("aclrtLaunchKernelWithHostArgs")


@dataclass
class Builder:
    """Builds and loads kernels through one backend in folders of its own, without a cache."""

    backend: AscendBackend
    folder: Path
    include_dirs: tuple[Path, ...] = ()
    _count: int = 0

    def build(
        self, source: str = KERNEL, options: AscendCompilerOptions | None = None, **request: Any
    ) -> tuple[Path, BuildResult]:
        """Compiles a source; returns its folder and what the backend reported."""
        self._count += 1
        directory = self.folder / f"build{self._count}"
        directory.mkdir(parents=True)
        (directory / "kernel.asc").write_text(source)
        defaults = self.backend.default_compiler_options()
        effective = defaults.override_with(options or AscendCompilerOptions())
        build = BuildRequest(
            "tag",
            source,
            directory,
            effective,
            self.include_dirs,
            Env("T").snapshot(),
            **request,
        )
        return directory, self.backend.compile(build)

    def load(
        self, source: str = KERNEL, options: AscendCompilerOptions | None = None
    ) -> AscendKernel:
        """Compiles and loads a source."""
        directory, result = self.build(source, options)
        return self.backend.load(directory, result.kernels)


def normalised(words: Sequence[str], **places: Path) -> list[str]:
    """Replaces folders by names, so that command lines can be compared."""
    out = []
    for word in words:
        for name, place in places.items():
            word = word.replace(str(place), f"<{name}>")
        out.append(word)
    return out
