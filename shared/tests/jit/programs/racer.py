"""Commit the same entry as others at the same moment: racer.py GATE; prints the final directory."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from deep_jit._shared.jit.entry import META, dump_json
from deep_jit._shared.jit.store import DiskCache

DIGEST = "0" * 32


def main() -> None:
    gate, root = Path(sys.argv[1]), Path(sys.argv[2])
    disk = DiskCache([root], source_name="kernel.asc", binary_names=["kernel.so"])
    build = disk.begin()
    for name in ("kernel.asc", "kernel.so"):
        (build.path / name).write_text("same")
    (build.path / "payload_a").write_text(sys.argv[3])
    (build.path / "payload_b").write_text(sys.argv[3])
    (build.path / META).write_bytes(dump_json({}))
    print("ready", flush=True)
    while not gate.exists():
        time.sleep(0.0005)
    print(disk.publish(build, "tag", DIGEST, b"same"), flush=True)


if __name__ == "__main__":
    main()
