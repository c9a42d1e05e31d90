// What happens to a result tile between L0C and GM (deep_gemm.md sections 1.7 and 4.3).
// An operator names the element type of the tile in UB and transforms it in place on PIPE_V.
#ifndef DEEP_GEMM_EPILOGUE_OPERATORS_HPP_
#define DEEP_GEMM_EPILOGUE_OPERATORS_HPP_

#include "deep_gemm/common/types.hpp"

namespace deep_gemm::epilogue {

namespace detail {

// values[i] = alpha * values[i], one vector of 64 floats a step.
__simd_vf__ inline void scale_f32(__ubuf__ float* values, uint32_t num, float alpha) {
    constexpr uint32_t kLanes = 64;
    for (uint32_t i = 0; i < num; i += kLanes) {
        uint32_t left = num - i;
        vector_bool mask = asc_update_mask_b32(left);
        vector_float x;
        asc_loadalign(x, values + i);
        asc_mul_scalar(x, x, alpha, mask);
        asc_storealign(values + i, x, mask);
    }
}

// The same, then rounded to bf16 (nearest even) and packed to the front.
// NOTE: step i writes bytes [128 i, 128 i + 128) behind its own read of [256 i, 256 i + 256): in place is safe.
__simd_vf__ inline void scale_bf16(__ubuf__ bfloat16_t* dst, __ubuf__ float* values, uint32_t num, float alpha) {
    constexpr uint32_t kLanes = 64;
    for (uint32_t i = 0; i < num; i += kLanes) {
        uint32_t left = num - i;
        vector_bool mask = asc_update_mask_b32(left);
        vector_float x;
        vector_bfloat16_t y;
        asc_loadalign(x, values + i);
        asc_mul_scalar(x, x, alpha, mask);
        asc_float2bfloat16_rn(y, x, mask);
        asc_storealign_pack(reinterpret_cast<__ubuf__ uint32_t*>(dst + i), (vector_uint32_t&)y, mask);
    }
}

}  // namespace detail

// D = accumulator, converted on the way out of L0C.
struct Identity {
    static constexpr bool kTransforms = false;
    template <class CD>
    using ub_t = CD;

    template <class CD>
    static __aicore__ mad::ub_ptr<CD> apply(mad::ub_ptr<CD> tile, uint32_t, const EpilogueArgs&) {
        return tile;
    }
};

// D = alpha * accumulator in fp32, then converted.
struct Alpha {
    static constexpr bool kTransforms = true;
    template <class CD>
    using ub_t = float;

    template <class CD>
    static __aicore__ mad::ub_ptr<CD> apply(mad::ub_ptr<float> tile, uint32_t rows, const EpilogueArgs& args) {
        const uint32_t num = rows * tile.shape_n;
        if constexpr (std::is_same_v<CD, float>)
            asc_vf_call<detail::scale_f32>(tile.get(), num, args.alpha);
        else
            asc_vf_call<detail::scale_bf16>(tile.template as<CD>().get(), tile.get(), num, args.alpha);
        return tile.template as<CD>();
    }
};

}  // namespace deep_gemm::epilogue

#endif  // DEEP_GEMM_EPILOGUE_OPERATORS_HPP_
