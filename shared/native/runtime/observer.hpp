// Hooks for checkers and the timing model. No observer is installed by default: a launch then pays one
// comparison with null per instruction (emulator.md sections 4 and 5).
#pragma once

#include "core.hpp"
#include "op_table.hpp"

namespace asc_emu {

class Observer {
public:
    virtual ~Observer() = default;
    virtual void on_launch(const Launch&) {}
    virtual void on_block(Block&) {}
    // At issue, in program order; `list` holds what the instruction will touch.
    virtual void on_issue(const Core&, const Command&, const OpInfo&, const AccessList&) {}
    // When the pipe executes it.
    virtual void on_execute(const Core&, const Command&, const OpInfo&) {}
    // A call for the other core type, ignored as hardware does.
    virtual void on_wrong_core(const Core&, const OpInfo&, const void* /*site*/) {}
    virtual void on_block_end(Block&) {}
    virtual void on_finish(const Launch&) {}
};

extern Observer* g_observer;

}  // namespace asc_emu
