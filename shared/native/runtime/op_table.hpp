// The runtime's table of instructions. A family registers each of its instructions once:
//
//     static void execute(Core& core, const CopyL1ToL0& insn) { ... }          // the meaning
//     static void accesses(const Core& core, const CopyL1ToL0& insn, AccessList& list) { ... }
//     static Work work(const Core& core, const CopyL1ToL0& insn) { ... }       // for the timing model
//     ASC_EMU_REGISTER(CopyL1ToL0, Roles::aic)
//
// Optional: `void skip(Core&, const Insn&)`: what is left of the meaning when its accesses are bad and the launch
// goes on (unit flags); `bool ready(Core&, const Insn&)`: false keeps the pipe waiting (flags, unit flags);
// `void validate(const Core&, const Insn&)`: parameter checks at issue, reported with fail();
// `void prepare(Core&, Insn&)`: program-order state captured at issue; `std::string describe(const Core&,
// const Insn&)`: what a waiting instruction waits for, for deadlock reports.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "access.hpp"
#include "core.hpp"

namespace asc_emu {

enum class Roles : uint8_t { aic = 1, aiv = 2, both = 3 };

// Which cost formula applies (ascend950_model.md sections 2 and 3) and the amount of work.
enum class CostClass : uint8_t {
    none, sync, gm_to_l1, fill_l1, l1_to_l0, l1_to_l0_mx, l1_to_bt, l1_to_fb, l1_to_ub, mmad, l0c_to_gm,
    l0c_to_ub, l0c_to_l1, gm_to_ub, ub_to_gm, ub_to_l1, ub_to_ub, vector
};
struct Work {
    CostClass cost = CostClass::none;
    uint64_t bytes = 0;         // moved; multiply-adds after alignment for mmad
    uint32_t descriptors = 1;   // hardware requests (row segments)
    uint8_t l2_hint = 0;
    uint8_t variant = 0;        // MmadRate; kLoadTrans, kFixDual, kFixNarrow
    uint64_t flops = 0;         // useful floating-point operations
};
enum class MmadRate : uint8_t { b16, b8, mx8, mx4, hf32, f32 };
constexpr uint8_t kLoadTrans = 1;   // l1_to_l0: the form with half the rate
constexpr uint8_t kFixDual = 1;     // l0c_to_ub: both vector cores at once
constexpr uint8_t kFixNarrow = 2;   // 8-bit results

struct OpInfo {
    const char* name = nullptr;
    Roles roles = Roles::both;
    uint16_t bytes = 0;
    void (*execute)(Core&, const void*) = nullptr;
    void (*skip)(Core&, const void*) = nullptr;
    void (*accesses)(const Core&, const void*, AccessList&) = nullptr;
    bool (*ready)(Core&, const void*) = nullptr;
    void (*validate)(const Core&, const void*) = nullptr;
    void (*prepare)(Core&, void*) = nullptr;
    std::string (*describe)(const Core&, const void*) = nullptr;
    Work (*work)(const Core&, const void*) = nullptr;
};

extern OpInfo g_op_table[static_cast<size_t>(Op::count)];

// Ends the kernel: kind "api" (bad parameter), message says got / allowed / fix.
[[noreturn]] void fail(const Core& core, const char* format, ...) __attribute__((format(printf, 2, 3)));
// The same at a place in the kernel.
[[noreturn]] void fail_at(const Core& core, const void* site, const std::string& text);

namespace detail {
template <class Insn>
OpInfo make_op_info(const char* name, Roles roles) {
    OpInfo info;
    info.name = name;
    info.roles = roles;
    info.bytes = sizeof(Insn);
    info.execute = [](Core& c, const void* p) { execute(c, *static_cast<const Insn*>(p)); };
    if constexpr (requires(const Core& c, const Insn& i, AccessList& l) { accesses(c, i, l); })
        info.accesses = [](const Core& c, const void* p, AccessList& l) {
            accesses(c, *static_cast<const Insn*>(p), l);
        };
    if constexpr (requires(Core& c, const Insn& i) { skip(c, i); })
        info.skip = [](Core& c, const void* p) { skip(c, *static_cast<const Insn*>(p)); };
    if constexpr (requires(Core& c, const Insn& i) { ready(c, i); })
        info.ready = [](Core& c, const void* p) -> bool { return ready(c, *static_cast<const Insn*>(p)); };
    if constexpr (requires(const Core& c, const Insn& i) { validate(c, i); })
        info.validate = [](const Core& c, const void* p) { validate(c, *static_cast<const Insn*>(p)); };
    if constexpr (requires(Core& c, Insn& i) { prepare(c, i); })
        info.prepare = [](Core& c, void* p) { prepare(c, *static_cast<Insn*>(p)); };
    if constexpr (requires(const Core& c, const Insn& i) { describe(c, i); })
        info.describe = [](const Core& c, const void* p) -> std::string {
            return describe(c, *static_cast<const Insn*>(p));
        };
    if constexpr (requires(const Core& c, const Insn& i) { work(c, i); })
        info.work = [](const Core& c, const void* p) -> Work { return work(c, *static_cast<const Insn*>(p)); };
    return info;
}
struct Registration {
    Registration(Op op, const OpInfo& info) { g_op_table[static_cast<size_t>(op)] = info; }
};
}  // namespace detail

// The functions must stand before this line, in namespace asc_emu (they are found by argument-dependent lookup).
#define ASC_EMU_REGISTER(insn, roles) \
    static const detail::Registration asc_emu_registration_##insn{ \
        insn::kOp, detail::make_op_info<insn>(#insn, roles)};

}  // namespace asc_emu
