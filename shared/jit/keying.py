"""Keys of one runtime: constant parts once, include tree each time (deep_jit.md section 11)."""

from __future__ import annotations

import hashlib
import threading

from . import fork
from .backends.base import Backend
from .config import Config
from .errors import ConfigError
from .includes import IncludeParser, IncludeTree
from .key import CompatHash, Key, KeyExplanation, compat_hash, compat_key, frame, v2_key
from .options import CompilerOptions
from .strict_includes import StrictIncludeParser

__all__ = ["KEY_FORMATS", "Keying"]

KEY_FORMATS = ("v2", "deepjit")
_SHORT = 96


class Keying:
    """Computes keys.

    Args:
        backend: asked for its identity once, on the first key.
        config: signature and include settings.
        key_format: ``v2`` or ``deepjit``.
        strict_includes: use upstream's include scanner; implied by ``deepjit``.
    """

    def __init__(
        self, backend: Backend, config: Config, key_format: str, strict_includes: bool
    ) -> None:
        if key_format not in KEY_FORMATS:
            raise ConfigError(
                f"key_format must be one of {', '.join(KEY_FORMATS)}, got {key_format!r}"
            )
        self.key_format = key_format
        self._backend = backend
        self._config = config
        self._lock = threading.Lock()
        self._identity: tuple[bytes, ...] | None = None
        self._base: CompatHash | None = None
        self.parser: IncludeParser | StrictIncludeParser
        dirs, prefixes = config.include_paths, tuple(config.include_prefixes)
        if key_format == "deepjit":
            self.parser = StrictIncludeParser(dirs, prefixes, compat_hash)
        elif strict_includes:
            self.parser = StrictIncludeParser(dirs, prefixes, _sha_hash)
        else:
            self.parser = IncludeParser(dirs, prefixes)
        fork.register(self)

    def key(self, source: bytes, options: CompilerOptions) -> tuple[Key, IncludeTree]:
        """Key and include tree of a source under effective options."""
        tree = self.parser.parse(source)
        flags = self._flags(source, options, tree)
        if self.key_format == "deepjit":
            return compat_key(self._compat_base(), flags, tree.digest), tree
        key = v2_key(
            backend=self._backend.name,
            signature=self._config.signature_bytes,
            identity=self.identity(),
            flags=flags,
            include_tree=tree.digest,
        )
        return key, tree

    def _flags(
        self, source: bytes, options: CompilerOptions, tree: IncludeTree
    ) -> tuple[tuple[str, ...], ...]:
        """Groups of flags; some backends add one for what is in the text."""
        text_flags = getattr(self._backend, "text_flags", None)
        extra = text_flags(source, tree.tracked) if text_flags is not None else ()
        return (*self._backend.key_flags(options), *((extra,) if extra else ()))

    def identity(self) -> tuple[bytes, ...]:
        """`Backend.compiler_identity`, asked once."""
        if self._identity is None:
            with self._lock:
                if self._identity is None:
                    self._identity = self._backend.compiler_identity()
        return self._identity

    def base_digest(self) -> str:
        """Digest of the constant components, in the key's own format."""
        if self.key_format == "deepjit":
            return self._compat_base().hexdigest()
        name = self._backend.name.encode()
        return _sha_hash(name, self._config.signature_bytes, *self.identity())

    def _compat_base(self) -> CompatHash:
        if self._base is None:
            with self._lock:
                if self._base is None:
                    base = CompatHash().update(self._config.signature_bytes)
                    self._base = base.update(self._backend.compiler_hash())
        return self._base

    def explain(self, source: bytes, options: CompilerOptions) -> KeyExplanation:
        """The components of a key, with one line per header."""
        key, tree = self.key(source, options)
        components = self.components(source, options, tree)
        return KeyExplanation(key.digest, key.digest_full, components)

    def components(
        self, source: bytes, options: CompilerOptions, tree: IncludeTree
    ) -> tuple[tuple[str, str], ...]:
        """(name, value) of what the key depends on; long values by digest."""
        rows = [
            ("key format", self.key_format),
            ("backend", self._backend.name),
            ("extra signature", _shown(self._config.signature_bytes)),
        ]
        if self.key_format == "deepjit":
            rows.append(("compiler", self._backend.compiler_hash()))
        else:
            rows += [(f"compiler {i}", _shown(part)) for i, part in enumerate(self.identity())]
        groups = self._flags(source, options, tree)
        rows += [(f"flags {i}", " ".join(group)) for i, group in enumerate(groups)]
        rows.append(("source", hashlib.sha256(source).hexdigest()))
        rows += [(f"header {item.name}", item.sha256) for item in tree.tracked]
        rows.append(("include tree", tree.digest))
        return tuple(rows)

    def after_fork_in_child(self) -> None:
        """Another thread may have held the lock."""
        self._lock = threading.Lock()
        if isinstance(self.parser, StrictIncludeParser):
            self.parser.after_fork_in_child()


def _sha_hash(*components: bytes) -> str:
    return hashlib.sha256(frame(*components)).hexdigest()


def _shown(raw: bytes) -> str:
    text = raw.decode("utf-8", "backslashreplace").replace("\n", "\\n")
    return text if len(text) <= _SHORT and text.isprintable() else hashlib.sha256(raw).hexdigest()
