// Default rounding with subnormals for the length of a call. The calling thread may have
// flush-to-zero on (torch.set_flush_denormal), which must not change an exact result.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace asc_emu::numerics {

class FloatEnvironment {
  public:
    FloatEnvironment() : saved_(read()) {
        if ((saved_ & kControl) != kDefault) write((saved_ & ~kControl) | kDefault);
    }
    ~FloatEnvironment() {
        if ((saved_ & kControl) != kDefault) write(saved_);
    }
    FloatEnvironment(const FloatEnvironment&) = delete;
    FloatEnvironment& operator=(const FloatEnvironment&) = delete;

  private:
#if defined(__SSE2__)
    // MXCSR: everything but the sticky flags; exceptions masked.
    static constexpr uint64_t kControl = 0xffc0, kDefault = 0x1f80;
    static uint64_t read() { return _mm_getcsr(); }
    static void write(uint64_t value) { _mm_setcsr(uint32_t(value)); }
#elif defined(__aarch64__)
    // FPCR: AHP, DN, FZ, rounding, FZ16 and the trap enables, all zero.
    static constexpr uint64_t kControl = 0x07c89f00, kDefault = 0;
    static uint64_t read() {
        uint64_t value;
        asm volatile("mrs %0, fpcr" : "=r"(value));
        return value;
    }
    static void write(uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
#else
    static constexpr uint64_t kControl = 0, kDefault = 0;
    static uint64_t read() { return 0; }
    static void write(uint64_t) {}
#endif
    uint64_t saved_;
};

}  // namespace asc_emu::numerics
