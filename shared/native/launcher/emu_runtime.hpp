// The emulator runtime `libasc_emu-<hash>.so` as this module sees it: a few C functions found by
// name (architecture.md section 3, asc_emu/core_api.h).
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "asc_emu/core_api.h"
#include "library.hpp"

namespace asc_emu::launcher {

/// A launch that the runtime refused or stopped; `what()` is the runtime's report, a JSON object.
class LaunchFailure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// One loaded runtime. Equal file names give the same one, since the name holds the hash of the
/// sources: components with other cache roots share it. It stays loaded until the process ends,
/// because its worker threads and options belong to the process.
class EmuRuntime {
  public:
    /// @throws std::runtime_error when the object cannot be loaded or lacks a function.
    static std::shared_ptr<EmuRuntime> load(const std::string& path);

    const std::string& path() const { return library_->path(); }

    /// @throws LaunchFailure with the runtime's report.
    void launch(const asc_emu_launch_desc& desc) const;

    /// @throws std::invalid_argument with the runtime's words: what was got and what is allowed.
    void set_option(const std::string& name, const std::string& value) const;

    /// @throws std::invalid_argument for a name that the runtime does not know.
    std::string get_option(const std::string& name) const;

    /// Returns the JSON description of this build: isa, abi, numerics, instructions.
    std::string describe() const { return describe_(); }

    /// Returns the report of the last failure of the calling thread, "" if there was none.
    std::string last_error() const;

  private:
    explicit EmuRuntime(std::shared_ptr<Library> library);

    std::shared_ptr<Library> library_;
    decltype(&asc_emu_launch) launch_;
    decltype(&asc_emu_set_option) set_option_;
    decltype(&asc_emu_get_option) get_option_;
    decltype(&asc_emu_describe) describe_;
    decltype(&asc_emu_last_error) last_error_;
};

}  // namespace asc_emu::launcher
