"""A tiny runtime and kernels for tests of the backend that need no emulator.

The runtime counts launches and keeps options; what it does is written in the payload.
"""

from __future__ import annotations

import os
import stat
import textwrap
from pathlib import Path

from deep_jit._shared.jit.env import Env, EnvSettings

RUNTIME_SOURCE = r"""
#include <cstring>
#include <map>
#include <string>
#include "asc_emu/core_api.h"
#define API extern "C" __attribute__((visibility("default")))
static thread_local std::string g_error, g_text;
static std::map<std::string, std::string> g_options;
API int asc_emu_launch(const asc_emu_launch_desc* desc) {
    if (desc->struct_bytes != sizeof(*desc)) { g_error = "{\"kind\": \"argument\"}"; return 1; }
    for (uint32_t i = 0; i < desc->num_blocks; ++i) desc->kernel->thunk(desc->payload);
    if (desc->dynamic_ub_bytes == 13) {
        g_error = "{\"kind\": \"deadlock\", \"message\": \"all cores wait\", \"block\": 3, "
                  "\"core\": \"AIC\", \"kernel\": \"add\", \"instruction\": \"WaitFlag\"}";
        return 1;
    }
    if (desc->timeout_secs == 7) {
        g_error = "{\"kind\": \"timeout\", \"message\": \"too slow\"}";
        return 1;
    }
    if (desc->num_gm_ranges == 2 && std::string(desc->gm_ranges[1].name) == "b" &&
        desc->gm_ranges[1].read_only && desc->gm_ranges[0].bytes == 16) {
        g_error = "not json";
        return 1;
    }
    return 0;
}
API const char* asc_emu_last_error(void) { return g_error.c_str(); }
API int asc_emu_set_option(const char* name, const char* value) {
    if (std::string(value) == "13") {
        g_error = "{\"kind\": \"argument\", \"message\": \"13 is not allowed\"}";
        return -1;
    }
    g_options[name] = value;
    return 0;
}
API const char* asc_emu_get_option(const char* name) {
    g_text = g_options[name];
    return g_text.c_str();
}
API const char* asc_emu_describe(void) { return "{\"abi\": 1}"; }
API int fake_addend(void) { return ADDEND; }
"""

KERNEL_SOURCE = r"""
#include "asc_emu/entry.hpp"
extern "C" int fake_addend(void);
extern "C" __attribute__((visibility("default"))) void add(int* total, int value) {
    *total += value + fake_addend();
}
template <class T>
__attribute__((visibility("default"))) void scale(T* total, double by, bool) { *total *= by; }
struct Pair { long a; char b; };
__attribute__((visibility("default"))) void pair(Pair p, float* out) { *out = p.a + p.b; }
"""


def table(*kernels: str) -> str:
    """The kernel table with entries like `0, 1, add`."""
    entries = "\n".join(f"ASC_EMU_KERNEL({kernel})" for kernel in kernels)
    return f"ASC_EMU_KERNELS_BEGIN\n{entries}\nASC_EMU_KERNELS_END\n"


def settings_of(prefix: str, root: Path, **values: str) -> tuple[Env, EnvSettings]:
    """An environment with a cache root and further `JIT_*` values, and its snapshot."""
    environ = {
        f"{prefix}_JIT_CACHE_DIR": str(root),
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
    }
    environ.update(values)
    env = Env(prefix, environ)
    return env, env.snapshot()


def script(path: Path, body: str) -> Path:
    """An executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + textwrap.dedent(body))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
