// System variables, CTRL and asc_init (ascend_c_cube.md section 15).
#pragma once

#include "asc_emu/api/atomics.hpp"
#include "asc_emu/api/common.hpp"

// Vector cores: atomic stores off, vector mask all ones, mask mode normal. Cube cores: nothing.
inline void asc_init() {
    if ASC_IS_AIC
        return;
    asc_set_atomic_none();
    auto& r = asc_emu::registers();
    r.vector_mask[0] = r.vector_mask[1] = ~0ull;
    asc_emu::set_ctrl_bit(asc_emu::kCtrlMaskCounter, false);
}

inline int64_t asc_get_block_idx() { return asc_emu_block_idx(); }
inline int64_t asc_get_block_num() { return asc_emu_block_num(); }
inline int64_t asc_get_sub_block_id() { return asc_emu_sub_block_idx(); }
inline int64_t asc_get_sub_block_num() { return asc_emu_sub_block_num(); }
inline int64_t asc_get_core_id() { return asc_emu_core_id(); }
inline int64_t asc_get_system_cycle() { return static_cast<int64_t>(asc_emu_system_cycle()); }
inline int64_t asc_get_ctrl() { return static_cast<int64_t>(asc_emu::registers().ctrl); }
inline void asc_set_ctrl(uint64_t config) { asc_emu::registers().ctrl = config; }
inline int64_t asc_get_status() { return static_cast<int64_t>(asc_emu::registers().status); }
inline constexpr int64_t asc_get_vf_len() { return 256; }
inline uint64_t asc_get_phy_buf_addr(uint64_t offset) { return offset; }
// Opaque on the device; constants here.
inline void asc_get_arch_ver(uint32_t& core_version) { core_version = __NPU_ARCH__; }
inline int64_t asc_get_program_counter() { return 0; }
inline int64_t asc_get_phy_stack_base() { return 0; }
inline int64_t asc_get_sys_virtual_base() { return 0; }
inline int64_t asc_get_smmu_tag_version() { return 0; }

// Ends the kernel with an error.
[[noreturn]] inline void trap() {
    asc_emu_fail("the kernel called trap()");
    __builtin_trap();
}
