"""Builds and loads of the ascend backend (deep_jit.md sections 8, 9 and 11), without the cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from deep_jit._shared.jit.backends import create_backend
from deep_jit._shared.jit.backends.ascend import AscendBackend
from deep_jit._shared.jit.elf import BinaryFormatError
from deep_jit._shared.jit.env import Env
from deep_jit._shared.jit.errors import (
    CompileError,
    CompileTimeout,
    ConfigError,
    KernelCountError,
    LaunchError,
    ToolchainError,
)
from deep_jit._shared.jit.options import AscendCompilerOptions, CpuCompilerOptions
from deep_jit._shared.testing.stand_ins import StandInToolkit
from deep_jit._shared.testing.stand_ins.harness import (
    AICPU_KERNEL,
    KERNEL,
    AclJournal,
    Builder,
)

MIX_KERNEL = "__global__ __mix__(1, 2) void both(__gm__ float* x) {}\n"


def test_factory_makes_it(toolkit: StandInToolkit, journal: AclJournal) -> None:
    backend = create_backend("ascend", Env("T"))
    assert isinstance(backend, AscendBackend)
    assert (backend.name, backend.source_name, backend.binary_name) == (
        "ascend",
        "kernel.asc",
        "kernel.o",
    )
    assert backend.device.kind == "npu"


def test_defaults(
    toolkit: StandInToolkit, journal: AclJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("T_JIT_LAUNCH_TIMEOUT", "10")
    monkeypatch.setenv("DJ_JIT_KERNEL_DEBUG_INFO", "yes")
    monkeypatch.setenv("T_JIT_DUMP_ASM", "1")
    monkeypatch.setenv("ASC_STAND_IN_DEVICE_INFO", "601=3511")
    backend = AscendBackend(Env("T"))
    compiler = backend.default_compiler_options()
    assert (compiler.arch, compiler.debug_info, compiler.dump_asm) == (3511, True, True)
    launch = backend.default_launch_options()
    assert (launch.num_launch_timeout_secs, launch.num_ubuf_bytes) == (10, 0)
    assert launch.num_blocks is None


def test_build_leaves_source_and_binary(builder: Builder) -> None:
    directory, result = builder.build()
    assert sorted(path.name for path in directory.iterdir()) == ["kernel.asc", "kernel.o"]
    assert [(k.name, k.num_aic, k.num_aiv) for k in result.kernels] == [("add", 0, 1)]
    assert result.kernels[0].params is None


def test_mix_kernel_counts_once(builder: Builder) -> None:
    _, result = builder.build(MIX_KERNEL)
    kernels = [(k.name, k.demangled, k.num_aic, k.num_aiv) for k in result.kernels]
    assert kernels == [("_Z4bothv", "both()", 1, 2)]
    assert builder.load(MIX_KERNEL).info.name == "_Z4bothv"


def test_dump_asm(builder: Builder) -> None:
    directory, _ = builder.build(options=AscendCompilerOptions(dump_asm=True))
    assert [path.name for path in (directory / "asm").iterdir()] == ["kernel-aicore.asci"]


def test_dumps_only(builder: Builder, toolkit: StandInToolkit) -> None:
    options = AscendCompilerOptions(dump_asm=True)
    directory, result = builder.build(options=options, dumps_only=True)
    assert sorted(path.name for path in directory.iterdir()) == ["asm", "kernel.asc"]
    assert (result.kernels, len(toolkit.commands())) == ((), 1)


def test_failing_compiler(builder: Builder) -> None:
    with pytest.raises(CompileError) as caught:
        builder.build("// stand-in: exit 7 kernel.asc:1: error: bad\n")
    error = caught.value
    assert "command failed with exit code 7:\n" in str(error)
    assert error.returncode == 7
    assert "kernel.asc:1: error: bad" in error.output
    assert error.command[0].endswith("bin/bisheng")


@pytest.mark.parametrize("what", ["empty", "nothing"])
def test_no_valid_binary(builder: Builder, what: str) -> None:
    with pytest.raises(CompileError, match="Bisheng did not produce a valid Ascend binary"):
        builder.build(f"// stand-in: {what}\n")


def test_binary_of_another_kind(builder: Builder, toolkit: StandInToolkit) -> None:
    linker = toolkit.home / "bin" / "ld.lld"
    linker.write_text('#!/bin/sh\nfor out; do :; done; echo garbage > "$out"\n')
    with pytest.raises(BinaryFormatError, match="invalid Ascend binary"):
        builder.build()


def test_compile_timeout(builder: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("T_JIT_COMPILE_TIMEOUT", "1")
    with pytest.raises(CompileTimeout):
        builder.build("// stand-in: sleep 60\n" + KERNEL)


def test_commands_are_announced(builder: Builder) -> None:
    heard: list[str] = []
    builder.build(announce=lambda words: heard.append(Path(words[0]).name))
    assert heard == ["bisheng", "ld.lld"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (AscendCompilerOptions(optimize_level=""), "optimization level must be specified"),
        (AscendCompilerOptions(optimize_level="2"), "Ascend architecture must be specified"),
        (AscendCompilerOptions(optimize_level="2", arch=0), "architecture must be specified"),
        (CpuCompilerOptions(), "takes AscendCompilerOptions, got CpuCompilerOptions"),
    ],
)
def test_options_that_cannot_compile(
    builder: Builder, options: AscendCompilerOptions, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        builder.backend.check_options(options)


def test_aicpu_mode_needs_no_arch(builder: Builder) -> None:
    builder.backend.check_options(AscendCompilerOptions(aicpu=True, optimize_level="2", arch=0))


def test_identity_follows_the_tools_not_their_path(
    make_toolkit: Callable[..., StandInToolkit], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def identity(name: str, version: str) -> tuple[tuple[bytes, ...], str]:
        home = make_toolkit(name, version=version).home
        monkeypatch.setenv("ASCEND_HOME_PATH", str(home))
        backend = AscendBackend(Env("T"))
        return backend.compiler_identity(), backend.compiler_hash()

    first = identity("one", "9.1")
    assert identity("two", "9.1") == first
    newer = identity("six", "9.2")
    assert newer[0] != first[0]
    assert newer[1] != first[1]
    assert len(first[1]) == 32


def test_compiler_hash_is_the_published_one(builder: Builder, toolkit: StandInToolkit) -> None:
    for tool in ("bisheng", "ld.lld"):
        (toolkit.home / "bin" / tool).write_text(f"#!/bin/sh\necho {tool} 1\n")
    assert builder.backend.compiler_hash() == "22ed86f67c585b365a95e9604067c105"


def test_compiler_info_order(builder: Builder, toolkit: StandInToolkit) -> None:
    info = builder.backend.compiler_info()
    assert list(info) == ["path", "version", "linker_path", "linker_version"]
    assert info["path"] == str(toolkit.home / "bin" / "bisheng")


def test_aicpu_build_and_load(builder: Builder, journal: AclJournal) -> None:
    options = AscendCompilerOptions(aicpu=True)
    directory, result = builder.build(AICPU_KERNEL, options)
    files = sorted(path.name for path in directory.iterdir())
    assert files == ["kernel.aicpu.so", "kernel.asc"]
    assert [kernel.name for kernel in result.kernels] == ["add"], "the helper is no kernel"
    kernel = builder.backend.load(directory, result.kernels)
    (load,) = journal.calls("aclrtBinaryLoadFromData")
    assert load["cpu_kernel_mode"] == 2
    assert load["length"] == (directory / "kernel.aicpu.so").stat().st_size
    (register,) = journal.calls("aclrtRegisterCpuFunc")
    assert (register["function"], register["kernel"]) == ("add_interface", "add")
    kernel.unload()


def test_aicpu_assembly(builder: Builder) -> None:
    options = AscendCompilerOptions(aicpu=True, dump_asm=True)
    directory, _ = builder.build(AICPU_KERNEL, options)
    assert (directory / "asm" / "kernel.s").is_file()


@pytest.mark.parametrize(
    ("source", "count"),
    [("// nothing\n", 0), (KERNEL + KERNEL.replace("add", "sub"), 2)],
)
@pytest.mark.parametrize("recorded", [True, False])
def test_load_needs_exactly_one_kernel(
    builder: Builder, source: str, count: int, recorded: bool
) -> None:
    directory, result = builder.build(source)
    with pytest.raises(
        KernelCountError, match=f"expected exactly one kernel in .*kernel.o, found {count}"
    ) as caught:
        builder.backend.load(directory, result.kernels if recorded else ())
    assert len(caught.value.names) == count


def test_load_by_path_and_name(builder: Builder, journal: AclJournal) -> None:
    directory, _ = builder.build()
    builder.backend.load(directory, ())
    (load,) = journal.calls("aclrtBinaryLoadFromFile")
    assert (load["path"], load["options"]) == (str(directory / "kernel.o"), 0)
    assert [call["kernel"] for call in journal.calls("aclrtBinaryGetFunction")] == ["add"]


def test_failed_look_up_unloads(
    builder: Builder, journal: AclJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASC_STAND_IN_FAIL", "aclrtBinaryGetFunction=507027")
    with pytest.raises(LaunchError, match="aclrtBinaryGetFunction failed with ACL error 507027"):
        builder.load()
    assert len(journal.calls("aclrtBinaryUnLoad")) == 1


def test_load_on_another_device(builder: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASC_STAND_IN_DEVICE", "2")
    with pytest.raises(LaunchError, match="device 0 cannot be loaded while device 2 is current"):
        builder.load()


def test_toolkit_without_acl(
    make_toolkit: Callable[..., StandInToolkit], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASCEND_HOME_PATH", str(make_toolkit(acl=False).home))
    with pytest.raises(ToolchainError, match=r"failed to load libascendcl\.so"):
        AscendBackend(Env("T"))
