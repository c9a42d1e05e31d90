"""The npu target: Ascend toolkit, command lines, ACL (architecture.md section 2)."""

from .backend import AscendBackend

__all__ = ["AscendBackend"]
