// What every wrapper file needs: types, enumerations, the issue functions, and the `_sync` twins.
#pragma once

#include "asc_emu/api/sync.hpp"
#include "asc_emu/enums.hpp"
#include "asc_emu/keywords.hpp"
#include "asc_emu/types.hpp"

// `<name>_sync(...)` = `<name>(...)` followed by a barrier of all pipes (ascend_c_cube.md section
// 0).
#define ASC_EMU_SYNC_TWIN(name)                    \
    template <class... Args>                       \
    inline void name##_sync(Args... args) {        \
        name(args...);                             \
        asc_sync_pipe(PIPE_ALL);                   \
    }

namespace asc_emu {

// Sets bit `bit` of CTRL of the running core.
inline void set_ctrl_bit(CtrlBit bit, bool value) {
    uint64_t& ctrl = registers().ctrl;
    ctrl = (ctrl & ~(1ull << bit)) | (static_cast<uint64_t>(value) << bit);
}
inline bool ctrl_bit(const Registers& r, CtrlBit bit) { return (r.ctrl >> bit) & 1; }

}  // namespace asc_emu
