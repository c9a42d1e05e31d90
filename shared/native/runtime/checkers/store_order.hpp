// Order of accesses to UB inside one SIMD vector function (ascend_c_vector.md section 11): who stored each byte last,
// and up to which instruction a barrier (asc_mem_bar) orders stores before what comes later.
//
// Loads are not kept: a store of what a load brought waits for its register. For the same reason what a barrier orders
// before a load comes before the stores behind that load. NOTE: nobody sees whether they depend on it; a race may be
// missed, none is invented.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace asc_emu {

// Units of a vector core that load and store; an access of either kind.
enum class StoreUnit : uint8_t { vector, scalar };
struct OrderedAccess {
    uint32_t offset, bytes;
    StoreUnit unit;
    bool write;
    bool more;          // of the instruction that the access before this one belongs to
    const void* site;
};

// Bytes next to each other that one earlier instruction stored, and which nothing orders before an access.
struct UnorderedStore {
    uint32_t offset, bytes;
    StoreUnit unit;
    const void* site;
};

class StoreOrder {
public:
    // Begins with nothing to order if function number `function` is another than before; whether it is.
    bool enter(uint32_t function);
    // Barriers since the last access, a bit for each mem_bar_t.
    void barriers(uint32_t types);
    // Tells `found` of the stores that the access must wait for and need not.
    template <class Found>
    void add(const OrderedAccess& access, Found&& found) {
        if (!access.more) ++instruction_;
        const Stamp latest = latest_of(access);
        if (!is_settled(latest, access)) find(access, found);
        if (access.write) remember(access);
        else pass_on(access);
    }

private:
    // What stored a byte: number of the instruction, and the unit; and from where.
    using Stamp = uint32_t;
    struct Writer {
        Stamp stamp;
        int32_t site;      // counts from the function's first one
    };
    // The last writer of 32 bytes. If they have several, `bytes_` tells which.
    struct Block {
        Writer last;
        bool split;
    };
    static constexpr uint32_t kBlockBytes = 32;
    Writer writer_of(uint32_t byte) const {
        const Block& block = blocks_[byte / kBlockBytes];
        return block.split ? bytes_[byte] : block.last;
    }
    static constexpr Stamp kUnitBit = 1;
    static constexpr uint32_t kMaxInstruction = 1u << 30;
    static uint32_t instruction_of(Stamp stamp) { return stamp >> 1; }
    static StoreUnit unit_of(Stamp stamp) { return static_cast<StoreUnit>(stamp & kUnitBit); }
    const uint32_t* limits(const OrderedAccess& access) const {
        return ordered_[static_cast<size_t>(access.unit) * 2 + access.write];
    }
    // The newest stamp in the blocks of the bytes.
    Stamp latest_of(const OrderedAccess& access) const;
    // Whether stores up to the newest one come before the access, as far as one comparison can say.
    bool is_settled(Stamp latest, const OrderedAccess& access) const {
        const uint32_t* const limit = limits(access);
        return instruction_of(latest) <= (scalar_stores_ ? std::min(limit[0], limit[1]) : limit[0]);
    }
    bool comes_before(Stamp stamp, const OrderedAccess& access) const {
        return instruction_of(stamp) <= limits(access)[stamp & kUnitBit] ||
               (access.more && instruction_of(stamp) == instruction_);
    }
    template <class Found>
    void find(const OrderedAccess& access, Found&& found) const {
        const uint32_t end = access.offset + access.bytes;
        for (uint32_t at = access.offset; at < end;) {
            const Writer writer = writer_of(at);
            uint32_t next = at + 1;
            while (next < end && writer_of(next).stamp == writer.stamp) ++next;
            if (!comes_before(writer.stamp, access))
                found(UnorderedStore{at, next - at, unit_of(writer.stamp), base_ + writer.site});
            at = next;
        }
    }
    // What comes before a load comes before the stores of its unit behind it.
    void pass_on(const OrderedAccess& load);
    void remember(const OrderedAccess& access);

    uint32_t function_ = 0;
    uint32_t instruction_ = 0;
    bool scalar_stores_ = false;     // whether the function has any
    // By what comes later (load and store of the vector unit, then of the scalar unit) and who stored: the last
    // instruction whose stores come first.
    uint32_t ordered_[4][2] = {};
    const char* base_ = nullptr;     // the function's first site
    std::vector<Block> blocks_;      // of UB
    std::vector<Writer> bytes_;
};

// A store onto one that nothing orders before it. It matters if it changes the bytes, which shows once it is made.
struct PendingStore {
    OrderedAccess access;
    UnorderedStore old;
    std::vector<std::byte> bytes;    // before it
};

// Of a worker: a vector function runs to its end before another begins.
struct FunctionOrder {
    StoreOrder stores;
    std::vector<PendingStore> pending;
    // Bytes of the last vector instruction: the plain accesses by which it carries itself out are no scalar ones. NOTE:
    // neither is a scalar one of the same kind right behind it: a race may be missed, none is invented.
    uint32_t low = 0, high = 0;
    bool write = false;

    void begin(const OrderedAccess& access) {
        const uint32_t end = access.offset + access.bytes;
        low = access.more ? std::min(low, access.offset) : access.offset;
        high = access.more ? std::max(high, end) : end;
        write = access.write;
    }
    bool is_own(const OrderedAccess& scalar) const {
        return scalar.write == write && scalar.offset >= low && scalar.offset + scalar.bytes <= high;
    }
};
FunctionOrder& function_order();

// Name of the barrier that orders a store of `first` before an access.
const char* barrier_between(StoreUnit first, const OrderedAccess& access);

}  // namespace asc_emu
