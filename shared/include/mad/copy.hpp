// Copies between memories: each hides the fractal layout, alignment, tails and parameter packing of one data
// path (deep_gemm.md section 5.2; ascend_c_cube.md sections 5, 7 and 9). Destination first.
#ifndef MAD_COPY_HPP_
#define MAD_COPY_HPP_

#include "mad/tile_ptr.hpp"

namespace mad {

// GM -> L1 (MTE2) --------------------------------------------------------------------------------
// The tile's first `mn` x `k` elements from `src`. Elements behind the last row stay as they were; behind the
// last column, up to a whole fractal row, zeros are written.
template <class T, Major kMajor>
inline __aicore__ void copy_gm_to_l1(l1_ptr<T, kMajor> dst, gm_ptr<T, kMajor> src, uint32_t mn, uint32_t k,
                                     asc_load_l2_cache_mode hint) {
    // Rows and columns as they lie in memory
    const uint32_t rows = kMajor == Major::K ? mn : k;
    const uint32_t cols = kMajor == Major::K ? k : mn;
    const uint32_t tile_rows = kMajor == Major::K ? dst.shape_mn : dst.shape_k;
    asc_set_gm2l1_nz_para(static_cast<uint16_t>(1), static_cast<uint16_t>(1),
                          static_cast<uint16_t>(tile_rows), static_cast<uint16_t>(0));
    if constexpr (kPack<T> == 2) {
        // NOTE: packed fp4 travels as bytes, two elements each; both sides count pairs.
        asc_copy_gm2l1_nd2nz(reinterpret_cast<__cbuf__ uint8_t*>(dst.get()),
                             reinterpret_cast<__gm__ uint8_t*>(src.addr), src.pitch_bytes(), hint,
                             static_cast<uint16_t>(rows), ceil_div(cols, 2), 0, false);
    } else {
        asc_copy_gm2l1_nd2nz(dst.get(), src.addr, src.pitch_bytes(), hint, static_cast<uint16_t>(rows), cols,
                             0, false);
    }
}

// MX scales of `mn` rows and `pairs` pairs along K. kMajor says which axis of the stored int16 matrix lies
// contiguous: K for [MN, pairs], MN for [pairs, MN].
template <Major kMajor>
inline __aicore__ void copy_gm_to_l1_mx(l1_sf_ptr dst, gm_ptr<int16_t, kMajor> src, uint32_t mn, uint32_t pairs,
                                        asc_load_l2_cache_mode hint) {
    asc_set_gm2l1_nz_para(static_cast<uint16_t>(1), static_cast<uint16_t>(1),
                          static_cast<uint16_t>(dst.shape_pairs), static_cast<uint16_t>(0));
    auto* to = reinterpret_cast<__cbuf__ int16_t*>(static_cast<uintptr_t>(dst.addr));
    if constexpr (kMajor == Major::K)
        asc_copy_gm2l1_dn2nz(to, src.addr, src.pitch_bytes(), hint, static_cast<uint16_t>(pairs), mn, 0, false);
    else
        asc_copy_gm2l1_nd2nz(to, src.addr, src.pitch_bytes(), hint, static_cast<uint16_t>(pairs), mn, 0, false);
}

// Zeros in L1 (MTE2) -----------------------------------------------------------------------------
namespace detail {

inline __aicore__ void fill_zero(uint32_t addr, uint32_t repeat, uint32_t blocks, uint32_t gap) {
    if (repeat == 0 || blocks == 0) return;
    asc_fill_value_config config{};
    config.repeat = repeat;
    config.blk_num = blocks;
    config.dst_gap = gap;
    asc_fill_l1(reinterpret_cast<__cbuf__ uint16_t*>(static_cast<uintptr_t>(addr)), static_cast<uint32_t>(0), config);
}

}  // namespace detail

// Clears columns [k, k_padded) of the tile, as MX instructions want K in whole 64s. `k_padded` is a multiple of a
// fractal row; what copy_gm_to_l1 has zeroed itself (up to the next fractal row) is left alone.
template <class T, Major kMajor>
inline __aicore__ void fill_k_tail(l1_ptr<T, kMajor> dst, uint32_t k, uint32_t k_padded) {
    constexpr uint32_t kCols = kFractalCols<T>;
    if constexpr (kMajor == Major::K) {
        const uint32_t first = ceil_div(k, kCols);
        detail::fill_zero(dst.addr + first * dst.shape_mn * kFractalRowBytes, 1,
                          (k_padded / kCols - first) * dst.shape_mn, 0);
    } else {
        detail::fill_zero(dst.addr + k * kFractalRowBytes, dst.shape_mn / kCols, k_padded - k,
                          dst.shape_k - (k_padded - k));
    }
}

// L1 -> L0A, L0B (MTE1) --------------------------------------------------------------------------
namespace detail {

// Steps of the fractal load. K-major tiles move as they are; MN-major tiles hold the transposed matrix and
// are transposed square by square on the way.
struct LoadSteps {
    uint16_t m_start, k_start;
    uint8_t m_step, k_step;
    int16_t src_stride;
    uint16_t dst_stride;
};
template <class T, Major kMajor>
inline __aicore__ LoadSteps load_steps(l1_ptr<T, kMajor> src, uint32_t mn_idx, uint32_t k_idx, uint32_t mn,
                                       uint32_t k, uint32_t dst_mn) {
    constexpr uint32_t kCols = kFractalCols<T>;
    const uint32_t row_idx = kMajor == Major::K ? mn_idx : k_idx, col_idx = kMajor == Major::K ? k_idx : mn_idx;
    const uint32_t rows = kMajor == Major::K ? mn : k, cols = kMajor == Major::K ? k : mn;
    const uint32_t tile_rows = kMajor == Major::K ? src.shape_mn : src.shape_k;
    // NOTE: squares are as wide as a fractal row, so a transposing load of b8 moves row blocks in pairs (b4
    // fours).
    constexpr uint32_t kRowBlock = kMajor == Major::K ? 1 : (kCols > kFractalRows ? kCols / kFractalRows : 1);
    return {static_cast<uint16_t>(row_idx / kFractalRows), static_cast<uint16_t>(col_idx / kCols),
            static_cast<uint8_t>(align_up(ceil_div(rows, kFractalRows), kRowBlock)),
            static_cast<uint8_t>(ceil_div(cols, kCols)), static_cast<int16_t>(tile_rows / kFractalRows),
            static_cast<uint16_t>(dst_mn / kFractalRows)};
}

}  // namespace detail

// The sub-tile of `mn` x `k` elements at (mn_idx, k_idx); indices are multiples of the fractal.
// `dst.shape_mn` is `mn` padded to 16 (to a fractal row for Major::MN): mad() reads it with that pitch.
template <class T, Major kMajor>
inline __aicore__ void copy_l1_to_l0a(l0a_ptr<T> dst, l1_ptr<T, kMajor> src, uint32_t mn_idx, uint32_t k_idx,
                                      uint32_t mn, uint32_t k) {
    const detail::LoadSteps s = detail::load_steps(src, mn_idx, k_idx, mn, k, dst.shape_mn);
    if constexpr (kMajor == Major::K)
        asc_copy_l12l0a(dst.get(), src.get(), s.m_start, s.k_start, s.m_step, s.k_step, s.src_stride,
                        s.dst_stride);
    else
        asc_copy_l12l0a_transpose(dst.get(), src.get(), s.m_start, s.k_start, s.m_step, s.k_step,
                                  s.src_stride, s.dst_stride);
}
template <class T, Major kMajor>
inline __aicore__ void copy_l1_to_l0b(l0b_ptr<T> dst, l1_ptr<T, kMajor> src, uint32_t mn_idx, uint32_t k_idx,
                                      uint32_t mn, uint32_t k) {
    const detail::LoadSteps s = detail::load_steps(src, mn_idx, k_idx, mn, k, dst.shape_mn);
    if constexpr (kMajor == Major::K)
        asc_copy_l12l0b(dst.get(), src.get(), s.m_start, s.k_start, s.m_step, s.k_step, s.src_stride,
                        s.dst_stride);
    else
        asc_copy_l12l0b_transpose(dst.get(), src.get(), s.m_start, s.k_start, s.m_step, s.k_step,
                                  s.src_stride, s.dst_stride);
}

// MX scales of the operand at `l0_addr` (bytes) in L0A or L0B: `pairs` pairs of `mn` rows from (mn_idx, pair_idx).
inline __aicore__ void copy_l1_to_l0a_mx(uint32_t l0_addr, l1_sf_ptr src, uint32_t mn_idx, uint32_t pair_idx,
                                         uint32_t mn, uint32_t pairs) {
    asc_copy_l12l0a_mx(static_cast<uint64_t>(l0_addr / 16),
                       reinterpret_cast<__cbuf__ fp8_e8m0_t*>(static_cast<uintptr_t>(src.addr)),
                       static_cast<uint16_t>(mn_idx / kFractalRows), static_cast<uint16_t>(pair_idx),
                       static_cast<uint8_t>(ceil_div(mn, kFractalRows)), static_cast<uint8_t>(pairs),
                       static_cast<uint16_t>(src.shape_pairs), static_cast<uint16_t>(pairs));
}
inline __aicore__ void copy_l1_to_l0b_mx(uint32_t l0_addr, l1_sf_ptr src, uint32_t mn_idx, uint32_t pair_idx,
                                         uint32_t mn, uint32_t pairs) {
    asc_copy_l12l0b_mx(static_cast<uint64_t>(l0_addr / 16),
                       reinterpret_cast<__cbuf__ fp8_e8m0_t*>(static_cast<uintptr_t>(src.addr)),
                       static_cast<uint16_t>(mn_idx / kFractalRows), static_cast<uint16_t>(pair_idx),
                       static_cast<uint8_t>(ceil_div(mn, kFractalRows)), static_cast<uint8_t>(pairs),
                       static_cast<uint16_t>(src.shape_pairs), static_cast<uint16_t>(pairs));
}

// L0C -> GM, UB (FIX) ----------------------------------------------------------------------------
namespace detail {

// Conversion of the accumulator on its way out.
template <class Dst, class Src>
constexpr QuantMode_t quant_mode() {
    if constexpr (std::is_same_v<Dst, Src>) return QuantMode_t::NoQuant;
    else if constexpr (std::is_same_v<Src, float> && std::is_same_v<Dst, bfloat16_t>) return QuantMode_t::F322BF16;
    else {
        static_assert(std::is_same_v<Src, float> && std::is_same_v<Dst, half>,
                      "the way out of L0C converts float to float, bfloat16_t or half; use one of these");
        return QuantMode_t::F322F16;
    }
}

}  // namespace detail

// Row-major rows of the result. `src.shape_m` is the pitch mad() wrote with. kUnitFlag: wait for mad() block
// by block; both sides must then cover the same region.
template <asc_unit_flag_mode kUnitFlag, class Dst, class Src>
inline __aicore__ void copy_l0c_to_gm(gm_ptr<Dst> dst, l0c_ptr<Src> src, uint32_t m, uint32_t n,
                                      asc_store_l2_cache_mode hint) {
    asc_set_l0c2gm_nz2nd(1, 0, 0);
    asc_copy_l0c2gm(dst.addr, src.get(), static_cast<uint16_t>(n), static_cast<uint16_t>(m),
                    static_cast<uint32_t>(dst.stride_outer), static_cast<uint16_t>(src.shape_m), hint,
                    kUnitFlag, detail::quant_mode<Dst, Src>(), asc_relu_pre_mode::NONE, false, true, false,
                    false);
}
// To the UB of vector core `sub_block`; whole 32-byte pieces of a row, so `n` is rounded up.
template <asc_unit_flag_mode kUnitFlag, class Dst, class Src>
inline __aicore__ void copy_l0c_to_ub(ub_ptr<Dst> dst, l0c_ptr<Src> src, uint32_t m, uint32_t n,
                                      uint32_t sub_block) {
    asc_set_l0c2gm_nz2nd(1, 0, 0);
    asc_copy_l0c2ub(dst.get(), src.get(),
                    static_cast<uint16_t>(align_up(n, kFractalRowBytes / sizeof(Dst))),
                    static_cast<uint16_t>(m), dst.shape_n, static_cast<uint16_t>(src.shape_m),
                    static_cast<int8_t>(sub_block), asc_dual_dst_mode::DUAL_DST_DISABLE, kUnitFlag,
                    detail::quant_mode<Dst, Src>(), asc_relu_pre_mode::NONE, false, true, false, false);
}

// UB <-> GM (MTE2, MTE3) -------------------------------------------------------------------------
// `m` rows of `n` elements; rows in UB start `shape_n` elements apart.
template <class T>
inline __aicore__ void copy_ub_to_gm(gm_ptr<T> dst, ub_ptr<T> src, uint32_t m, uint32_t n,
                                     asc_store_l2_cache_mode hint) {
    asc_copy_ub2gm_align(reinterpret_cast<__gm__ uint8_t*>(dst.addr),
                         reinterpret_cast<__ubuf__ uint8_t*>(src.get()), static_cast<uint16_t>(m),
                         static_cast<uint32_t>(n * sizeof(T)), hint, dst.pitch_bytes(),
                         static_cast<uint32_t>(src.shape_n * sizeof(T)));
}
template <class T>
inline __aicore__ void copy_gm_to_ub(ub_ptr<T> dst, gm_ptr<T> src, uint32_t m, uint32_t n,
                                     asc_load_l2_cache_mode hint) {
    asc_copy_gm2ub_align(reinterpret_cast<__ubuf__ uint8_t*>(dst.get()),
                         reinterpret_cast<__gm__ uint8_t*>(src.addr), static_cast<uint16_t>(m),
                         static_cast<uint32_t>(n * sizeof(T)), 0, 0, false, hint, src.pitch_bytes(),
                         static_cast<uint32_t>(dst.shape_n * sizeof(T)));
}

// UB -> UB (V), UB -> L1 (MTE3) --------------------------------------------------------------------
// Whole tiles of one shape; `bytes()` must be a multiple of 32.
template <class T>
inline __aicore__ void copy_ub_to_ub(ub_ptr<T> dst, ub_ptr<T> src) {
    asc_copy_ub2ub(dst.get(), src.get(), src.bytes());
}
// `cols` columns of fractals of `rows` rows each, which stand `src_rows` rows apart in UB, into a K-major tile
// whose columns of fractals are `dst.shape_mn` rows long.
template <class T>
inline __aicore__ void copy_ub_to_l1(l1_ptr<T, Major::K> dst, ub_ptr<T> src, uint32_t rows, uint32_t src_rows,
                                     uint32_t cols) {
    asc_copy_ub2l1(dst.get(), src.get(), static_cast<uint16_t>(cols), static_cast<uint16_t>(rows),
                   static_cast<uint16_t>(src_rows - rows), static_cast<uint16_t>(dst.shape_mn - rows));
}

}  // namespace mad

#endif  // MAD_COPY_HPP_
