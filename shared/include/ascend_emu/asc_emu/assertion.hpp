// assert() in device code: its failure is the launch's error, with condition and line, in place of an abort
// (ascend_c_vector.md 19.3). Each kernel object has its own copy of the C library's hook.
#pragma once

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "asc_emu/core_api.h"

#ifdef __GLIBC__
extern "C" __attribute__((weak, visibility("hidden"), noreturn)) void __assert_fail(
    const char* condition, const char* file, unsigned int line, const char* function) noexcept {
    asc_emu_assertion_failed(condition, file, line);
    fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, condition);
    abort();
}
#endif
