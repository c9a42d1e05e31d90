// How instructions pass on the marks of undefined bytes, and where undefined values leave the chip
// (ascend_c_cube.md section 19, emulator.md section 4).
#pragma once

#include "checkers/defined.hpp"
#include "checkers/report.hpp"
#include "op_table.hpp"

namespace asc_emu {

// What an unseen scalar store would have changed: UB holds this when a block starts under initcheck, unless
// the option `uninitialized` names another value.
constexpr uint8_t kUbPoison = 0xa5, kUbNan = 0xff;

class InitCheck {
public:
    void reset(Block& block);
    // Before the instruction runs.
    void run(const Core& core, const Command& c, const OpInfo& info, const AccessList& list, Reporter& reporter);
    // A vector function's own store.
    void vector_store(const Core& core, uint64_t low, uint64_t high);
    // Whether all bytes of a piece of the core's UB were written since the block's start.
    bool written_ub(const Core& core, uint64_t low, uint64_t high);

private:
    void move(const Core& core, const Command& c, const OpInfo& info, const AccessList& list);
    void load_from_gm(const Core& core, const Command& c, const AccessList& list);
    void define_writes(const Core& core, const AccessList& list);
    void multiply(const Core& core, const Command& c);
    void drain(const Core& core, const Command& c, const AccessList& list, Reporter& reporter);
    void store_ub(const Core& core, const Command& c, const AccessList& list, Reporter& reporter);
    bool changed(const uint8_t* marks, const uint8_t* ub, uint64_t offset) const;
    bool sources_defined(const Core& core, const AccessList& list);
    bool undefined(const uint8_t* marks, const uint8_t* ub, uint64_t offset) const;

    DefinedMemory memory_;
    uint8_t poison_ = kUbPoison;
    bool poisoned_ = true;      // false: UB starts with zeros, which a scalar store may well write
};

}  // namespace asc_emu
