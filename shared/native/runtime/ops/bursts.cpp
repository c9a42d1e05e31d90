// Burst copies from GM, with padding (ascend_c_cube.md sections 5.6 and 11).
#include "ops/bursts.hpp"

#include <cstring>

#include "ops/checks.hpp"

namespace asc_emu {
namespace {

// NOTE: what the hardware writes behind a burst, up to the next 32 bytes, is known for GM -> UB with
// a pad value only: else all ones, which is NaN in every float format, so that a kernel that uses it
// is seen.
constexpr int kTailPoison = 0xff;

bool padded(const Bursts& i) { return i.left_pad != 0 || i.right_pad != 0; }
// Bursts packed back to back: only their common tail is rounded up to 32 bytes.
bool compact(const Bursts& i) { return !padded(i) && i.dst_stride == i.bytes && i.count > 1; }

void fill_pad(std::byte* dst, uint32_t bytes, const void* element, uint32_t element_bytes) {
    for (uint32_t at = 0; at < bytes; at += element_bytes)
        std::memcpy(dst + at, element, element_bytes);
}

void fill_tail(const Bursts& i, std::byte* dst, uint64_t used) {
    const uint64_t missing = round_up(used, 32) - used;
    if (i.fill_from_register)
        fill_pad(dst + used, static_cast<uint32_t>(missing), &i.pad_value, i.element_bytes);
    else
        std::memset(dst + used, kTailPoison, missing);
}

void load_padded(const Bursts& i, const std::byte* src, std::byte* dst) {
    const void* element = i.pad_from_register ? static_cast<const void*>(&i.pad_value) : src;
    std::byte* at = dst;
    fill_pad(at, i.left_pad, element, i.element_bytes);
    at += i.left_pad;
    std::memcpy(at, src, i.bytes);
    at += i.bytes;
    fill_pad(at, i.right_pad, element, i.element_bytes);
}

void load_group(const Bursts& i, const std::byte* src, std::byte* dst) {
    if (compact(i)) {
        if (i.src_stride == i.bytes) {
            std::memcpy(dst, src, static_cast<size_t>(i.count) * i.bytes);
        } else {
            for (uint32_t b = 0; b < i.count; ++b)
                std::memcpy(dst + static_cast<size_t>(b) * i.bytes, src + b * i.src_stride,
                            i.bytes);
        }
        return fill_tail(i, dst, static_cast<uint64_t>(i.count) * i.bytes);
    }
    for (uint32_t b = 0; b < i.count; ++b) {
        std::byte* to = dst + b * i.dst_stride;
        const std::byte* from = src + b * i.src_stride;
        if (padded(i))
            load_padded(i, from, to);
        else
            std::memcpy(to, from, i.bytes);
        fill_tail(i, to, i.left_pad + i.bytes + i.right_pad);
    }
}

bool empty(const Bursts& i) { return i.bytes == 0 || i.loops.size1 == 0 || i.loops.size2 == 0; }

}  // namespace

void load_bursts(const Bursts& i, std::byte* dst) {
    if (empty(i)) return;
    const std::byte* src = gm_source(i.src);
    for (uint32_t l2 = 0; l2 < i.loops.size2; ++l2)
        for (uint32_t l1 = 0; l1 < i.loops.size1; ++l1)
            load_group(i, src + l2 * i.loops.src_stride2 + l1 * i.loops.src_stride1,
                       dst + l2 * i.loops.dst_stride2 + l1 * i.loops.dst_stride1);
}

void list_load_accesses(const Bursts& i, Space dst, AccessList& list) {
    if (empty(i)) return;
    const auto signed_stride = [](uint64_t stride) { return static_cast<int64_t>(stride); };
    const Loop src1{i.loops.size1, signed_stride(i.loops.src_stride1)};
    const Loop src2{i.loops.size2, signed_stride(i.loops.src_stride2)};
    const Loop dst1{i.loops.size1, signed_stride(i.loops.dst_stride1)};
    const Loop dst2{i.loops.size2, signed_stride(i.loops.dst_stride2)};
    list.read(Space::gm, i.src, i.bytes, {Loop{i.count, signed_stride(i.src_stride)}, src1, src2});
    if (compact(i)) {
        list.write(dst, i.dst, round_up(static_cast<uint64_t>(i.count) * i.bytes, 32), {dst1, dst2},
                   32);
    } else {
        list.write(dst, i.dst, round_up(i.left_pad + i.bytes + i.right_pad, 32),
                   {Loop{i.count, signed_stride(i.dst_stride)}, dst1, dst2}, 32);
    }
}

void check_load_bursts(const Core& core, const Bursts& i) {
    check_range(core, "n_burst", i.count, 1, kMaxBursts, "split the copy or skip it");
    check_range(core, "len_burst", i.bytes, 0, kMaxBurstBytes,
                "lengths are in bytes; split the burst");
    check_range(core, "left padding in bytes", i.left_pad, 0, 32, "pad at most 32 bytes on a side");
    check_range(core, "right padding in bytes", i.right_pad, 0, 32,
                "pad at most 32 bytes on a side");
    if (i.element_bytes > 1)
        check_multiple(core, "len_burst", i.bytes, i.element_bytes, "copy whole elements");
    if (i.count > 1 && !compact(i))
        check_multiple(core, "destination stride", i.dst_stride, 32,
                       "bursts start at 32-byte boundaries unless the stride equals len_burst");
    if (i.loops.size1 > 1)
        check_multiple(core, "loop1 destination stride", i.loops.dst_stride1, 32,
                       "use a multiple of 32 bytes");
    if (i.loops.size2 > 1)
        check_multiple(core, "loop2 destination stride", i.loops.dst_stride2, 32,
                       "use a multiple of 32 bytes");
}

Work bursts_work(const Bursts& i, CostClass cost) {
    const uint64_t requests = static_cast<uint64_t>(i.count) * i.loops.size1 * i.loops.size2;
    return {cost, requests * i.bytes, static_cast<uint32_t>(requests), i.l2_hint};
}

}  // namespace asc_emu
