// Look-up by hash with chains, eviction of the line not used for longest.
#include "timing/l2_cache.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace asc_emu::timing {

L2Cache::L2Cache(const Constants& k)
    : line_bytes_(static_cast<uint32_t>(std::clamp(k.l2_line_bytes, 32.0, 65536.0))),
      sector_bytes_(static_cast<uint32_t>(std::clamp(k.l2_sector_bytes, line_bytes_ / 32.0, line_bytes_ * 1.0))),
      num_lines_(static_cast<uint32_t>(std::clamp(k.l2_bytes / line_bytes_, 1.0, 1e8))) {
    const unsigned bits = static_cast<unsigned>(std::bit_width(num_lines_)) + 1;
    shift_ = 64 - bits;
    buckets_.reset(static_cast<uint32_t*>(std::calloc(size_t{1} << bits, sizeof(uint32_t))));
    if (!buckets_) throw std::bad_alloc();
}

uint32_t L2Cache::find(uint64_t tag) const {
    uint32_t next = buckets_[bucket(tag)];
    while (next != 0 && lines_[next - 1].tag != tag) next = lines_[next - 1].bucket_next;
    return next == 0 ? kNone : next - 1;
}

void L2Cache::unlink(uint32_t line) {
    Line& l = lines_[line];
    (l.newer == kNone ? newest_ : lines_[l.newer].older) = l.older;
    (l.older == kNone ? oldest_ : lines_[l.older].newer) = l.newer;
}

void L2Cache::make_newest(uint32_t line) {
    Line& l = lines_[line];
    l.newer = kNone;
    l.older = newest_;
    (newest_ == kNone ? oldest_ : lines_[newest_].newer) = line;
    newest_ = line;
}

uint32_t L2Cache::insert(uint64_t tag) {
    uint32_t line;
    if (used_ < num_lines_) {
        line = used_++;
        lines_.emplace_back();
    } else {
        line = oldest_;
        unlink(line);
        uint32_t* at = &buckets_[bucket(lines_[line].tag)];
        while (*at != line + 1) at = &lines_[*at - 1].bucket_next;
        *at = lines_[line].bucket_next;
    }
    Line& l = lines_[line];
    uint32_t& head = buckets_[bucket(tag)];
    l = {tag, 0, head, kNone, kNone};
    head = line + 1;
    make_newest(line);
    return line;
}

L2Cache::Bytes L2Cache::segment(uint64_t begin, uint64_t end, bool write, bool bypass) {
    Bytes bytes;
    for (uint64_t tag = begin / line_bytes_; tag * line_bytes_ < end; ++tag) {
        const uint64_t line_begin = tag * line_bytes_;
        const uint64_t from = begin > line_begin ? begin - line_begin : 0;
        const uint64_t to = std::min<uint64_t>(end - line_begin, line_bytes_);
        const uint64_t first = from / sector_bytes_, last = (to - 1) / sector_bytes_;
        const uint32_t wanted = static_cast<uint32_t>(((2ull << last) - 1) & ~((1ull << first) - 1));
        uint32_t line = find(tag);
        if (bypass) {
            if (write && line != kNone) lines_[line].sectors &= ~wanted;
            bytes.miss += static_cast<uint64_t>(std::popcount(wanted)) * sector_bytes_;
            continue;
        }
        if (line == kNone) {
            line = insert(tag);
        } else if (line != newest_) {
            unlink(line);
            make_newest(line);
        }
        const int present = std::popcount(wanted & lines_[line].sectors);
        bytes.hit += static_cast<uint64_t>(present) * sector_bytes_;
        bytes.miss += static_cast<uint64_t>(std::popcount(wanted) - present) * sector_bytes_;
        lines_[line].sectors |= wanted;
    }
    return bytes;
}

L2Cache::Bytes L2Cache::access(const GmShape& s) {
    Bytes total;
    const bool bypass = s.hint >= kFirstBypass;
    if (s.bytes == 0) return total;
    for (uint64_t c = 0; c < s.loops[2].count; ++c)
        for (uint64_t b = 0; b < s.loops[1].count; ++b) {
            uint64_t at = s.address + c * static_cast<uint64_t>(s.loops[2].stride) +
                          b * static_cast<uint64_t>(s.loops[1].stride);
            for (uint64_t a = 0; a < s.loops[0].count; ++a, at += static_cast<uint64_t>(s.loops[0].stride)) {
                const Bytes one = segment(at, at + s.bytes, s.write, bypass);
                total.hit += one.hit;
                total.miss += one.miss;
            }
        }
    return total;
}

}  // namespace asc_emu::timing
