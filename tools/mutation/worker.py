"""Judges mutants of one subject; a worker process of `mutate.py`.

It imports what the subject needs once, and forks for every request, so that nothing that a mutant
breaks outlives it. Requests and answers are lines of JSON: see `workers.py`.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

# NOTE: the first entry is this folder, whose modules have names of packages
sys.path[0] = str(Path(__file__).resolve().parents[1])

_ADDRESS_SPACE = 16 << 30


def answer(module: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Carries out a request in a fork and returns its answer."""
    with tempfile.TemporaryFile() as said:
        receive, send = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(receive)
            _child(module, request, send, said.fileno())
        os.close(send)
        raw = _read(receive, child, float(request["timeout"]))
        if raw is None:
            return {"by": "timeout", "detail": f"longer than {request['timeout']:.0f} s"}
        if raw:
            value: dict[str, Any] = json.loads(raw)
            return value
        said.seek(0)
        text = said.read().decode(errors="replace").strip()
        return {"by": "ended", "detail": text[-400:]}


def _child(module: Any, request: dict[str, Any], send: int, said: int) -> None:
    """The fork: never returns."""
    status = 1
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
        os.dup2(said, 1)
        os.dup2(said, 2)
        folder = Path(request["folder"])
        if request["do"] == "prepare":
            found: dict[str, Any] = {"files": module.prepare(folder, request["checked"])}
        else:
            verdict = module.judge(folder, request["file"]) or ("", "")
            found = {"by": verdict[0], "detail": verdict[1]}
        os.write(send, json.dumps(found).encode())
        status = 0
    except BaseException:
        # What a mutant does becomes a verdict in `judge`; this is a mistake of the harness.
        os.write(send, json.dumps({"error": traceback.format_exc()[-2000:]}).encode())
    finally:
        os._exit(status)


def _read(receive: int, child: int, timeout: float) -> bytes | None:
    """What the fork wrote until it ended; None: it took too long and was ended."""
    raw, end = b"", time.monotonic() + timeout
    with os.fdopen(receive, "rb", buffering=0) as pipe:
        while True:
            left = end - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], left)[0]:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return None
            piece = pipe.read(1 << 16)
            if not piece:
                os.waitpid(child, 0)
                return raw
            raw += piece


def main(subject: str) -> None:
    """Answers requests until the input ends."""
    warnings.simplefilter("ignore")
    module = import_module(f"mutation.{subject}")
    module.warm()
    for line in sys.stdin:
        print(json.dumps(answer(module, json.loads(line))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
