// A kernel object: its table of kernels, and the launch of one of them (deep_jit.md sections 8 and
// 20).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emu_runtime.hpp"
#include "library.hpp"

namespace asc_emu::launcher {

/// What the object says of one parameter of a kernel.
struct ParamInfo {
    std::string kind;
    std::uint32_t size;
    std::uint32_t align;
    std::string type_name;
};

/// What the object says of one kernel.
struct KernelInfo {
    std::string name;
    std::string symbol;  ///< mangled name; "" when the function is not exported
    std::string demangled;
    std::vector<ParamInfo> params;
    int num_aic;
    int num_aiv;
};

/// Reads the kernel table of an object and closes the object again.
/// @throws std::runtime_error when the object cannot be loaded or its table is of another version.
std::vector<KernelInfo> inspect(const std::string& path);

/// A range of global memory that a launch may touch.
struct MemoryRange {
    std::uint64_t address;
    std::uint64_t bytes;
    bool read_only;
    std::string name;
};

/// The launch options of deep_jit.md section 5.3.
struct LaunchSize {
    std::uint32_t num_blocks;
    std::uint32_t ubuf_bytes;
    std::uint32_t timeout_secs;  ///< 0 = no limit
    std::uint32_t block_stride;  ///< of blocks that share operands; 0 = none
};

/// One kernel of a loaded object. Threads may launch it at the same time; an unload during a launch
/// takes effect when that launch ends.
class Kernel {
  public:
    /// `name` is a kernel's symbol or its name in the table; "" means the only one.
    /// @throws std::runtime_error when the object has no such kernel, or, without a name, not
    /// exactly one.
    Kernel(std::shared_ptr<EmuRuntime> runtime, const std::string& path, const std::string& name);

    const KernelInfo& info() const { return info_; }

    /// Runs the kernel and returns when all blocks are done.
    /// @throws LaunchFailure with the runtime's report, std::runtime_error after `unload`.
    void launch(const void* payload, std::size_t payload_bytes, const LaunchSize& size,
                const std::vector<MemoryRange>& ranges) const;

    /// Gives the object back; a second call does nothing.
    void unload();

    bool loaded() const;

  private:
    std::shared_ptr<Library> object() const;

    std::shared_ptr<EmuRuntime> runtime_;
    mutable std::mutex mutex_;
    std::shared_ptr<Library> object_;
    const asc_emu_kernel* entry_;
    KernelInfo info_;
};

}  // namespace asc_emu::launcher
