// C entry points to the mmad numerics for ctypes (mmad_native.py). Built by the tests once per
// instruction set, together with shared/native/runtime/numerics/*.cpp.
#include <fenv.h>

#include "mmad.hpp"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

using namespace asc_emu::numerics;

extern "C" {

uint32_t shim_problem_bytes() { return sizeof(MmadProblem); }

void shim_mmad(const MmadProblem* problem, int fast) {
    mmad(*problem, fast ? Mode::fast : Mode::exact);
    settle();
}

void shim_mmad_open(const MmadProblem* problem) { mmad(*problem, Mode::fast); }

void shim_mmad_exact_open(const MmadProblem* problem) { mmad(*problem, Mode::exact); }

void shim_settle() { settle(); }

void shim_settle_range(const void* c, size_t bytes) { settle(c, bytes); }

const char* shim_isa_name() { return isa_name(); }

const char* shim_fast_unit_name() { return fast_unit_name(); }

// The same call from a thread with a hostile floating-point environment: rounding upwards and,
// where the host has it, flush-to-zero. Returns 1 when that environment is still set afterwards.
int shim_mmad_hostile(const MmadProblem* problem) {
    fenv_t saved;
    fegetenv(&saved);
    fesetround(FE_UPWARD);
#if defined(__SSE2__)
    const unsigned hostile = _mm_getcsr() | 0x8040;
    _mm_setcsr(hostile);
#endif
    mmad(*problem, Mode::exact);
    int kept = fegetround() == FE_UPWARD;
#if defined(__SSE2__)
    kept = kept && (_mm_getcsr() & ~0x3fu) == (hostile & ~0x3fu);
#endif
    fesetenv(&saved);
    return kept;
}
}
