// Which bytes an instruction touches: strided boxes of up to four nested loops. The bounds check reads
// them at issue; checkers and the timing model receive the same list (emulator.md sections 4 and 5).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <utility>

#include "asc_emu/command.hpp"

namespace asc_emu {

// Core of the block whose memory is meant: the cube core or one of its two vector cores.
enum class CoreSlot : uint8_t { aic, aiv0, aiv1, own };

struct Loop {
    uint64_t count = 1;
    int64_t stride = 0;   // bytes
};

struct Access {
    Space space = Space::gm;
    CoreSlot core = CoreSlot::own;
    bool write = false;
    bool atomic = false;         // a GM store with an armed atomic operation
    uint16_t align = 1;          // required alignment of `address` in bytes
    uint64_t address = 0;        // host address in GM, offset elsewhere
    uint64_t bytes = 0;          // contiguous bytes at the innermost level
    std::array<Loop, 4> loops{};

    // Lowest touched address and one past the highest.
    std::pair<int64_t, int64_t> span() const {
        int64_t low = 0, high = static_cast<int64_t>(bytes);
        for (const Loop& l : loops) {
            const int64_t reach = static_cast<int64_t>(l.count - 1) * l.stride;
            (reach < 0 ? low : high) += reach;
        }
        return {static_cast<int64_t>(address) + low, static_cast<int64_t>(address) + high};
    }
    bool empty() const {
        for (const Loop& l : loops)
            if (l.count == 0) return true;
        return bytes == 0;
    }
};

class AccessList {
public:
    static constexpr size_t kMax = 12;
    Access& add(const Access& a) {
        if (size_ == kMax) throw std::length_error("an instruction touches more than AccessList::kMax boxes");
        return *new (storage_ + sizeof(Access) * size_++) Access(a);
    }
    Access& read(Space space, uint64_t address, uint64_t bytes, std::array<Loop, 4> loops = {},
                 uint16_t align = 1) {
        return add({space, CoreSlot::own, false, false, align, address, bytes, loops});
    }
    Access& write(Space space, uint64_t address, uint64_t bytes, std::array<Loop, 4> loops = {},
                  uint16_t align = 1) {
        return add({space, CoreSlot::own, true, false, align, address, bytes, loops});
    }
    const Access* begin() const { return reinterpret_cast<const Access*>(storage_); }
    const Access* end() const { return begin() + size_; }
    size_t size() const { return size_; }

private:
    // NOTE: raw storage, since a list is made for every instruction and holds two or three boxes.
    alignas(Access) std::byte storage_[kMax * sizeof(Access)];
    size_t size_ = 0;
};

}  // namespace asc_emu
