// Meaning of the n-dimensional copy (ascend_c_vector.md section 12.4).
#include "asc_emu/insn/ub_ndim.hpp"

#include <cstring>

#include "ops/checks.hpp"

namespace asc_emu {
namespace {

constexpr uint64_t kMaxSize = (1u << 20) - 1;
constexpr uint64_t kMaxSrcStride = (uint64_t{1} << 40) - 1;

uint32_t padded_size(const CopyGmToUbNd& i, int k) {
    return i.left_pad[k] + i.size[k] + i.right_pad[k];
}

// One coordinate: distance of the source element in elements, and whether the coordinate is a pad.
struct Coordinate {
    uint64_t source;
    bool pad;
};
Coordinate coordinate(const CopyGmToUbNd& i, int k, uint32_t padded) {
    const int64_t q = static_cast<int64_t>(padded) - i.left_pad[k];
    const int64_t last = static_cast<int64_t>(i.size[k]) - 1;
    const int64_t nearest = q < 0 ? 0 : q > last ? last : q;
    return {static_cast<uint64_t>(nearest) * i.src_stride[k], q != nearest};
}

void copy_level(const CopyGmToUbNd& i, int k, uint64_t source, std::byte* dst, bool pad) {
    for (uint32_t p = 0; p < padded_size(i, k); ++p) {
        const Coordinate c = coordinate(i, k, p);
        std::byte* to = dst + uint64_t{p} * i.dst_stride[k] * i.element_bytes;
        if (k > 0) {
            copy_level(i, k - 1, source + c.source, to, pad || c.pad);
        } else if (i.constant && (pad || c.pad)) {
            std::memcpy(to, &i.pad_value, i.element_bytes);
        } else {
            const uint64_t at = i.src + (source + c.source) * i.element_bytes;
            std::memcpy(to, gm_source(at), i.element_bytes);
        }
    }
}

// A box of elements. NOTE: the innermost loop is taken as one run, which covers a little more than
// what is touched when its stride is not 1.
Access box(const CopyGmToUbNd& i, Space space, uint64_t address, const uint32_t (&sizes)[5],
           const int64_t (&strides)[5]) {
    Access a;
    a.space = space;
    a.address = address;
    const uint64_t width = i.element_bytes;
    a.bytes = (static_cast<uint64_t>(sizes[0] - 1) * static_cast<uint64_t>(strides[0]) + 1) * width;
    for (int k = 1; k < 5; ++k)
        a.loops[static_cast<size_t>(k - 1)] = {sizes[k], strides[k] * static_cast<int64_t>(width)};
    return a;
}

}  // namespace

static void execute(Core& core, const CopyGmToUbNd& i) {
    copy_level(i, 4, 0, core.at(Space::ub, i.dst), false);
}
static void accesses(const Core&, const CopyGmToUbNd& i, AccessList& list) {
    uint32_t padded[5];
    int64_t from[5], to[5];
    for (int k = 0; k < 5; ++k) {
        padded[k] = padded_size(i, k);
        from[k] = static_cast<int64_t>(i.src_stride[k]);
        to[k] = i.dst_stride[k];
    }
    list.add(box(i, Space::gm, i.src, i.size, from));
    Access& written = list.add(box(i, Space::ub, i.dst, padded, to));
    written.write = true;
    written.align = 32;
}
static void validate(const Core& core, const CopyGmToUbNd& i) {
    for (int k = 0; k < 5; ++k) {
        check_range(core, "loop size of asc_ndim_copy_gm2ub", i.size[k], 1, kMaxSize,
                    "an unused loop has size 1");
        check_range(core, "source stride of asc_ndim_copy_gm2ub", i.src_stride[k], 0, kMaxSrcStride,
                    "strides count elements");
        check_range(core, "destination stride of asc_ndim_copy_gm2ub", i.dst_stride[k], 0, kMaxSize,
                    "strides count elements");
    }
}
static Work work(const Core&, const CopyGmToUbNd& i) {
    uint64_t rows = 1;
    for (int k = 1; k < 5; ++k) rows *= padded_size(i, k);
    return {CostClass::gm_to_ub, rows * padded_size(i, 0) * i.element_bytes,
            static_cast<uint32_t>(rows), i.l2_hint};
}
ASC_EMU_REGISTER(CopyGmToUbNd, Roles::aiv)

}  // namespace asc_emu
