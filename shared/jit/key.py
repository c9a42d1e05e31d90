"""Cache keys: SHA-256 (``v2``) and upstream's digest (``deepjit``) (deep_jit.md section 11)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["CompatHash", "Key", "KeyExplanation", "compat_hash", "compat_key", "frame", "v2_key"]

KEY_SCHEMA = b"deep_jit-key-v2"
DIGEST_LENGTH = 32
"""Hex digits of a digest in directory names."""

_MASK = (1 << 64) - 1


def frame(*components: bytes) -> bytes:
    """Each component as 8-byte little-endian length, then its bytes; injective."""
    parts = []
    for component in components:
        parts.append(len(component).to_bytes(8, "little"))
        parts.append(component)
    return b"".join(parts)


class CompatHash:
    """Upstream's two-lane hash over length-prefixed components."""

    def __init__(self) -> None:
        self._a = 0xC6A4A7935BD1E995
        self._b = 0xFF51AFD7ED558CCD

    def copy(self) -> CompatHash:
        """An independent hash with the same state."""
        other = CompatHash()
        other._a, other._b = self._a, self._b
        return other

    def update(self, component: str | bytes) -> CompatHash:
        """Feed one component; returns self."""
        if isinstance(component, str):
            component = component.encode("utf-8", "surrogateescape")
        a, b = self._a, self._b
        for byte in frame(component):
            a = ((a ^ byte) * 0x100000001B3) & _MASK
            b = ((b ^ byte) * 0x9E3779B97F4A7C15) & _MASK
        self._a, self._b = a, b
        return self

    def hexdigest(self) -> str:
        """32 lower-case hex digits."""
        return f"{_mix(self._a):016x}{_mix(self._b):016x}"


def _mix(value: int) -> int:
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def compat_hash(*components: str | bytes) -> str:
    """`CompatHash` of all components."""
    state = CompatHash()
    for component in components:
        state.update(component)
    return state.hexdigest()


@dataclass(frozen=True)
class KeyExplanation:
    """The components of a key, so that two keys can be compared.

    Attributes:
        digest: directory part of the key, 32 hex digits.
        digest_full: whole digest.
        components: (name, value) in key order; long values are given by their digest.
    """

    digest: str
    digest_full: str
    components: tuple[tuple[str, str], ...]

    def diff(self, other: KeyExplanation) -> list[tuple[str, str | None, str | None]]:
        """(name, ours, theirs) of each component that differs; None = not there."""
        ours, theirs = dict(self.components), dict(other.components)
        names = [*ours, *(name for name in theirs if name not in ours)]
        return [(n, ours.get(n), theirs.get(n)) for n in names if ours.get(n) != theirs.get(n)]


@dataclass(frozen=True)
class Key:
    """A key: directory digest, whole digest, format name."""

    digest: str
    digest_full: str
    key_format: str


def v2_key(
    *,
    backend: str,
    signature: bytes,
    identity: Sequence[bytes],
    flags: Sequence[Sequence[str]],
    include_tree: str,
    hook: str = "",
    environment: Sequence[tuple[str, str]] = (),
) -> Key:
    """SHA-256 over framed components; every list is framed with its own length.

    Args:
        backend: backend id.
        signature: `Config.extra_signature`.
        identity: `Backend.compiler_identity`.
        flags: groups of flags, one string per flag.
        include_tree: digest of the include tree, source included.
        hook: digest of a post hook.
        environment: kept environment values.
    """

    def text(value: str) -> bytes:
        return value.encode("utf-8", "surrogateescape")

    data = frame(
        KEY_SCHEMA,
        text(backend),
        signature,
        frame(*identity),
        frame(*(frame(*map(text, group)) for group in flags)),
        text(hook),
        text(include_tree),
        frame(*(text(f"{name}={value}") for name, value in environment)),
    )
    full = hashlib.sha256(data).hexdigest()
    return Key(full[:DIGEST_LENGTH], full, "v2")


def compat_key(
    base: CompatHash, flags: Sequence[Sequence[str]], include_tree: str, hook: str = ""
) -> Key:
    """Upstream's key: `base` holds signature and compiler hash; a flag group is one component."""
    state = base.copy()
    for group in flags:
        state.update(" ".join(group))
    digest = state.update(hook).update(include_tree).hexdigest()
    return Key(digest, digest, "deepjit")
