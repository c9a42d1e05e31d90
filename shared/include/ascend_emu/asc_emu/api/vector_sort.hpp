// Sorting, merging and transposing in UB, outside vector functions (ascend_c_vector.md section 13).
#pragma once

#include "asc_emu/api/common.hpp"
#include "asc_emu/insn/vector_sort.hpp"

constexpr uint32_t ASC_C_API_MRGSORT_ELEMENT_LEN = 4;

template <class T>
inline void asc_bitsort(__ubuf__ T* dst, __ubuf__ T* src0, __ubuf__ uint32_t* src1,
                        int32_t repeat) {
    static_assert(std::is_same_v<T, half> || std::is_same_v<T, float>,
                  "asc_bitsort takes scores of half or float");
    asc_emu::issue(asc_emu::BitSort{asc_emu::offset_of(dst), asc_emu::offset_of(src0),
                                    asc_emu::offset_of(src1), static_cast<uint32_t>(repeat),
                                    std::is_same_v<T, half>});
}
ASC_EMU_SYNC_TWIN(asc_bitsort)

template <class T>
inline void asc_mrgsort4(__ubuf__ T* dst, __ubuf__ T* const* src, uint8_t repeat,
                         uint16_t element_length_0, uint16_t element_length_1,
                         uint16_t element_length_2, uint16_t element_length_3,
                         bool if_exhausted_suspension, uint8_t valid_bit) {
    static_assert(std::is_same_v<T, half> || std::is_same_v<T, float>,
                  "asc_mrgsort4 takes records with scores of half or float");
    asc_emu::MergeSort i;
    i.dst = asc_emu::offset_of(dst);
    const uint16_t lengths[4] = {element_length_0, element_length_1, element_length_2,
                                 element_length_3};
    for (uint32_t k = 0; k < 4; ++k) {
        const bool used = (valid_bit >> k) & 1;
        i.src[k] = used ? asc_emu::offset_of(src[k]) : 0;
        i.length[k] = used ? lengths[k] : 0;
    }
    i.repeat = repeat;
    i.valid = valid_bit;
    i.half_scores = std::is_same_v<T, half>;
    i.stop_at_empty = if_exhausted_suspension;
    asc_emu::issue(i);
}
ASC_EMU_SYNC_TWIN(asc_mrgsort4)

template <class T>
inline void asc_transpose(__ubuf__ T* dst, __ubuf__ T* src) {
    static_assert(sizeof(T) == 2, "asc_transpose takes elements of 2 bytes");
    asc_emu::issue(asc_emu::TransposeBlock{asc_emu::offset_of(dst), asc_emu::offset_of(src)});
}
ASC_EMU_SYNC_TWIN(asc_transpose)
