"""A TileLang kernel compiled for the emulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..dry_run import is_dry_run
from ..errors import ArgumentError
from ..kernel import Kernel
from .binding import bind
from .lowered import Lowered

__all__ = ["TileLangKernel"]


class TileLangKernel:
    """A kernel that takes the arguments of its TileLang function.

    Attributes:
        lowered: generated text, parameters and grid.
        kernel: the compiled kernel, which takes the arguments in its own order.
    """

    def __init__(self, lowered: Lowered, kernel: Kernel) -> None:
        self.lowered = lowered
        self.kernel = kernel

    @property
    def name(self) -> str:
        """Name of the TileLang function."""
        return self.lowered.name

    @property
    def source(self) -> str:
        """The generated Ascend C."""
        return self.lowered.source

    @property
    def artifact(self) -> Path:
        """Folder of the cache entry."""
        return self.kernel.artifact

    def get_kernel_source(self) -> str:
        """The generated Ascend C, under TileLang's name."""
        return self.lowered.source

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the kernel on CPU tensors.

        Args:
            args: tensors and scalars in the order of the function's parameters, without outputs.
            kwargs: the same by name.

        Returns:
            The output, a tuple of them, or None when all buffers are passed in.

        Raises:
            ArgumentError: count, type, shape or device of an argument.
            LaunchError: the kernel failed.
        """
        bound = bind(self.lowered, args, kwargs)
        if not is_dry_run() and bound.blocks:
            if not 0 < bound.blocks < 65536:
                raise ArgumentError(
                    f"{self.name}: the grid has {bound.blocks} blocks, allowed are 1 to 65535"
                )
            self.kernel.launch({"num_blocks": bound.blocks}, *bound.arguments)
        if not bound.outputs:
            return None
        return bound.outputs[0] if len(bound.outputs) == 1 else bound.outputs

    def __repr__(self) -> str:
        return f"TileLangKernel({self.name}, {self.kernel.digest})"
