"""Stand-ins for an Ascend toolkit and its driver library, built by the tests (architecture.md 7).

`toolkit.build_toolkit` writes a folder that the JIT takes for a CANN toolkit: `bisheng` and
`ld.lld` record their command lines and compile for the emulator, `libascendcl.so` checks the calls
of a launch and runs the kernel in the emulator.
"""

from .toolkit import StandInToolkit, build_toolkit

__all__ = ["StandInToolkit", "build_toolkit"]
