"""What the bridge keeps of a lowered kernel: the Ascend C text and how to call it.

Plain data, stored as JSON (emulator.md section 7).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from .expression import Expression

__all__ = ["Lowered", "Parameter"]

SCHEMA = 1


@dataclass(frozen=True)
class Parameter:
    """A parameter of the TileLang function, in Python's order.

    Attributes:
        name: its name in the function, and in the kernel.
        dtype: TileLang's name of the element or scalar type.
        shape: None for scalars.
        strides: in elements; empty for a dense buffer.
    """

    name: str
    dtype: str
    shape: tuple[Expression, ...] | None = None
    strides: tuple[Expression, ...] = ()

    @property
    def is_buffer(self) -> bool:
        """Whether a tensor is passed."""
        return self.shape is not None


@dataclass(frozen=True)
class Lowered:
    """A lowered TileLang function.

    Attributes:
        name: name of the function.
        kernel: name of the kernel in `source`.
        source: Ascend C.
        grid: number of blocks.
        parameters: in Python's order.
        outputs: indices of the parameters that the call allocates and returns.
        kernel_parameters: names in the kernel's order: buffers, scalars and dynamic symbols.
    """

    name: str
    kernel: str
    source: str
    grid: Expression
    parameters: tuple[Parameter, ...]
    outputs: tuple[int, ...]
    kernel_parameters: tuple[str, ...]

    def to_json(self) -> bytes:
        """Returns the form on disk."""
        return json.dumps({"schema": SCHEMA, **asdict(self)}).encode()

    @classmethod
    def from_json(cls, raw: bytes) -> Lowered:
        """Reads the form on disk.

        Raises:
            ValueError, KeyError, TypeError: it is damaged or of another schema.
        """
        value = json.loads(raw)
        if value.pop("schema") != SCHEMA:
            raise ValueError("another schema")
        parameters = tuple(
            Parameter(
                name=item["name"],
                dtype=item["dtype"],
                shape=_tuple_or_none(item["shape"]),
                strides=tuple(item["strides"]),
            )
            for item in value.pop("parameters")
        )
        return cls(
            parameters=parameters,
            outputs=tuple(value.pop("outputs")),
            kernel_parameters=tuple(value.pop("kernel_parameters")),
            **value,
        )


def _tuple_or_none(value: Sequence[Expression] | None) -> tuple[Expression, ...] | None:
    return None if value is None else tuple(value)
