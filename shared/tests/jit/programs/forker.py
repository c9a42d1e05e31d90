"""Fork after use and during a build: forker.py ACT; exits 0 when the child could work.

ACTs: after_use, during_build, device_lost.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

from deep_jit._shared.jit.errors import LaunchError
from deep_jit._shared.jit.stream import Stream
from deep_jit._shared.tests.jit.fake_backend import FakeBackend, make_runtime, source_of


def in_child(work) -> int:  # type: ignore[no-untyped-def]
    """Exit status of `work` run in a forked child; 1 when it raised."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def after_use() -> int:
    runtime = make_runtime()
    stream = Stream()
    kernel = runtime.compile("run", source_of(1))
    kernel({"num_blocks": 1, "stream": stream}, None, 1)
    stream.synchronize()

    def child() -> None:
        kernel({"num_blocks": 1}, None, 2)
        assert runtime.compile("run", source_of(1)) is kernel
        kernel({"num_blocks": 1, "stream": stream}, None, 3)
        stream.synchronize(timeout=10)
        assert len(kernel.loaded.launches) == 3
        runtime.compile("run", source_of(2))

    status = in_child(child)
    assert len(kernel.loaded.launches) == 1
    return status


def during_build() -> int:
    gate = Path(os.environ["FAKE_CC_WAIT_FOR"])
    runtime = make_runtime()
    builder = threading.Thread(target=lambda: runtime.compile("run", source_of(1)))
    builder.start()
    while not Path(os.environ["FAKE_CC_STARTED"]).exists():
        time.sleep(0.005)
    time.sleep(0.05)
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            while not gate.exists():
                time.sleep(0.005)
            runtime.compile("run", source_of(1))  # the parent's flight is unknown here
            runtime.compile("run", source_of(2))
            status = 0
        finally:
            os._exit(status)
    time.sleep(0.05)
    gate.touch()
    builder.join(20)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def refused(act) -> None:  # type: ignore[no-untyped-def]
    """Run `act`, which must say that the runtime has to be created again."""
    try:
        act()
    except LaunchError as error:
        if "must be re-created in the child" in str(error):
            return
    raise AssertionError("device state survived a fork")


def device_lost() -> int:
    runtime = make_runtime(FakeBackend("ascend"))
    kernel = runtime.compile("run", source_of(1))

    def child() -> None:
        refused(lambda: kernel({"num_blocks": 1}, None, 1))
        refused(lambda: runtime.compile("run", source_of(2)))

    return in_child(child)


ACTS = {"after_use": after_use, "during_build": during_build, "device_lost": device_lost}

if __name__ == "__main__":
    sys.exit(ACTS[sys.argv[1]]())
