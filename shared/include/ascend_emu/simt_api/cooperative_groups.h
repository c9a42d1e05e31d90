// Groups of threads for the emulator (ascend_c_vector.md sections 14.6 and 18): the block, and the
// lanes of a warp that take part in a call.
#pragma once

#include <bit>

#include "asc_emu/simt/warp.hpp"

namespace cooperative_groups {

class thread_block {
  public:
    void sync(ASC_EMU_SITE) const { asc_syncthreads(file, line); }
    unsigned int size() const { return blockDim.x * blockDim.y * blockDim.z; }
    unsigned int num_threads() const { return size(); }
    unsigned int thread_rank() const {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    uint3 thread_index() const { return threadIdx; }
    uint3 group_index() const { return blockIdx; }
};
inline thread_block this_thread_block() { return {}; }

class coalesced_group {
  public:
    explicit coalesced_group(uint32_t lanes) : lanes_(lanes) {}
    // Waits for the lanes that were active when the group was made.
    void sync(ASC_EMU_SITE) const { asc_emu::simt::call_ballot(file + line, true); }
    unsigned int size() const { return static_cast<unsigned int>(std::popcount(lanes_)); }
    unsigned int num_threads() const { return size(); }
    unsigned int thread_rank() const {
        return static_cast<unsigned int>(std::popcount(lanes_ & lanemask_lt()));
    }

  private:
    uint32_t lanes_;
};
inline coalesced_group coalesced_threads(ASC_EMU_SITE) {
    return coalesced_group(asc_activemask(file, line));
}

}  // namespace cooperative_groups
