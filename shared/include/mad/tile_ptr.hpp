// Typed pointers of a tile kernel: memory space, element type, major-ness and shape in the type or beside the
// address (deep_gemm.md section 5.1). On-chip addresses are byte offsets from 0 of their memory.
#ifndef MAD_TILE_PTR_HPP_
#define MAD_TILE_PTR_HPP_

#include "c_api/asc_simd.h"

namespace mad {

// Which logical axis of an operand [MN, K] lies contiguous in memory.
enum class Major : uint32_t { K = 0, MN = 1 };

// Rows of a fractal, and bytes of one of its rows (one "C0").
constexpr uint32_t kFractalRows = 16;
constexpr uint32_t kFractalRowBytes = 32;
constexpr uint32_t kFractalBytes = kFractalRows * kFractalRowBytes;

// Logical elements behind one T: packed fp4 types hold two.
template <class T>
constexpr uint32_t kPack = 1;
template <>
inline constexpr uint32_t kPack<fp4x2_e2m1_t> = 2;
template <>
inline constexpr uint32_t kPack<fp4x2_e1m2_t> = 2;

// Logical elements in one fractal row: 16 (bf16), 32 (fp8), 64 (fp4).
template <class T>
constexpr uint32_t kFractalCols = kFractalRowBytes / sizeof(T) * kPack<T>;

constexpr __aicore__ uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }
constexpr __aicore__ uint32_t align_up(uint32_t a, uint32_t b) { return ceil_div(a, b) * b; }
constexpr __aicore__ uint32_t min_of(uint32_t a, uint32_t b) { return a < b ? a : b; }

// Operand or result in GM; passed by value as a launch argument. Strides count logical elements:
// `stride_outer` between rows of the non-contiguous axis, `stride_batch` between batches.
template <class T, Major kMajor = Major::K>
struct gm_ptr {
    __gm__ T* addr;
    int64_t stride_outer;
    int64_t stride_batch;

    __aicore__ gm_ptr operator+(int64_t elements) const {
        return {addr + elements / kPack<T>, stride_outer, stride_batch};
    }
    // Element (mn, k); for a result, (row, column).
    __aicore__ gm_ptr index(uint32_t mn, uint32_t k) const {
        return kMajor == Major::K ? *this + (mn * stride_outer + k) : *this + (k * stride_outer + mn);
    }
    __aicore__ gm_ptr batch(uint32_t i) const { return *this + i * stride_batch; }
    __aicore__ uint64_t pitch_bytes() const {
        return static_cast<uint64_t>(stride_outer) * sizeof(T) / kPack<T>;
    }
};

// Operand tile [MN, K] in L1: NZ fractals of the stored matrix, that is [MN, K] for Major::K and [K, MN] for
// Major::MN. `[i]` is the i-th tile behind the first (a pipeline stage).
template <class T, Major kMajor>
struct l1_ptr {
    uint32_t addr;
    uint32_t shape_mn;   // multiple of 16 (of kFractalCols<T> for Major::MN)
    uint32_t shape_k;    // multiple of kFractalCols<T> (of 16 for Major::MN)

    static constexpr Major major = kMajor;
    __aicore__ uint32_t bytes() const { return shape_mn * shape_k / kPack<T> * sizeof(T); }
    __aicore__ l1_ptr operator[](uint32_t stage) const { return {addr + stage * bytes(), shape_mn, shape_k}; }
    __aicore__ __cbuf__ T* get() const { return reinterpret_cast<__cbuf__ T*>(static_cast<uintptr_t>(addr)); }
};

// MX scale factors of an operand tile in L1: one int16 holds the scales of 64 K elements of a row (low byte: the
// first 32). 32-byte fractals [MN/16][pairs][16 rows] (deep_gemm.md sections 2.2 and 2.3).
struct l1_sf_ptr {
    uint32_t addr;
    uint32_t shape_mn;      // multiple of 16
    uint32_t shape_pairs;   // K / 64
    __aicore__ uint32_t bytes() const { return shape_mn * shape_pairs * 2; }
    __aicore__ l1_sf_ptr operator[](uint32_t stage) const { return {addr + stage * bytes(), shape_mn, shape_pairs}; }
};

// Operand tile in L0A or L0B: [MN, K] in fractals, MN padded to 16.
template <class T>
struct l0a_ptr {
    uint32_t addr;
    uint32_t shape_mn;
    uint32_t shape_k;
    __aicore__ __ca__ T* get() const { return reinterpret_cast<__ca__ T*>(static_cast<uintptr_t>(addr)); }
};
template <class T>
struct l0b_ptr {
    uint32_t addr;
    uint32_t shape_mn;
    uint32_t shape_k;
    __aicore__ __cb__ T* get() const { return reinterpret_cast<__cb__ T*>(static_cast<uintptr_t>(addr)); }
};

// Accumulator tile [M, N] in L0C: 16x16 fractals, column blocks of `shape_m` rows (padded to 16).
template <class T>
struct l0c_ptr {
    uint32_t addr;
    uint32_t shape_m;
    uint32_t shape_n;
    __aicore__ l0c_ptr operator[](uint32_t stage) const {
        return {addr + stage * shape_m * shape_n * static_cast<uint32_t>(sizeof(T)), shape_m, shape_n};
    }
    // The same place with the pitch of an instruction that covers `m` rows.
    __aicore__ l0c_ptr with_rows(uint32_t m) const { return {addr, align_up(m, kFractalRows), shape_n}; }
    __aicore__ __cc__ T* get() const { return reinterpret_cast<__cc__ T*>(static_cast<uintptr_t>(addr)); }
};

// Row-major tile [M, N] in UB; the pitch is `shape_n` elements.
template <class T>
struct ub_ptr {
    uint32_t addr;
    uint32_t shape_m;
    uint32_t shape_n;
    __aicore__ uint32_t bytes() const { return shape_m * shape_n * static_cast<uint32_t>(sizeof(T)); }
    __aicore__ ub_ptr operator[](uint32_t stage) const { return {addr + stage * bytes(), shape_m, shape_n}; }
    // The same memory read as another element type, rows packed.
    template <class U>
    __aicore__ ub_ptr<U> as() const { return {addr, shape_m, shape_n}; }
    __aicore__ __ubuf__ T* get() const { return reinterpret_cast<__ubuf__ T*>(static_cast<uintptr_t>(addr)); }
};

}  // namespace mad

#endif  // MAD_TILE_PTR_HPP_
