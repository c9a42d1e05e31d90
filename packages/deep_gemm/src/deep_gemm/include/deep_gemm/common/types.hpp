// Types shared by the GEMM kernels and their launchers (deep_gemm.md sections 3.1 and 3.9).
#ifndef DEEP_GEMM_COMMON_TYPES_HPP_
#define DEEP_GEMM_COMMON_TYPES_HPP_

#include "mad/mad.hpp"

namespace deep_gemm {

enum class GemmType : uint32_t {
    Normal,
    MGroupedContiguousWithPsumLayout,
    KGroupedContiguousWithPsumLayout,
    Batched,
};

// Last launch argument of every GEMM; the fields an epilogue does not use are zero.
struct EpilogueArgs {
    float alpha;              // Alpha
    __gm__ int16_t* sfd;      // FP8Quantization: scale factors of D
    uint32_t sfd_stride;
    uint32_t shape_n;
};

}  // namespace deep_gemm

#endif  // DEEP_GEMM_COMMON_TYPES_HPP_
