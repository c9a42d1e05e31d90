"""Compile one key: publisher.py TAG NUMBER [before-publish FILE]; prints the artifact.

With FILE the process waits just before publication until FILE exists, so that a test can kill it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from deep_jit._shared.jit.store import DiskCache
from deep_jit._shared.tests.jit.fake_backend import make_runtime, source_of


def main() -> None:
    tag, number = sys.argv[1], int(sys.argv[2])
    if len(sys.argv) > 3:
        publish = DiskCache.publish

        def wait_first(self, build, *args):  # type: ignore[no-untyped-def]
            Path(sys.argv[3] + ".reached").touch()
            while not Path(sys.argv[3]).exists():
                time.sleep(0.005)
            return publish(self, build, *args)

        DiskCache.publish = wait_first  # type: ignore[method-assign]
    runtime = make_runtime()
    print(runtime.compile(tag, source_of(number)).artifact, runtime.stats.builds, flush=True)


if __name__ == "__main__":
    main()
