// A binary that the ACL stand-in has loaded: its kernels by name, and how the emulator runs one of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "acl_abi.hpp"

namespace stand_in {

class Binary;

/// A kernel of a binary. `index` is its place in the emulator's kernel table, -1 when it can only be recorded.
struct Function {
    Binary* binary;
    std::string name;
    int index;
};

/// What a launch asks for.
struct Launch {
    std::uint32_t num_blocks;
    std::uint32_t ubuf_bytes;
    std::uint32_t timeout_seconds;
    const void* payload;
    std::size_t payload_bytes;
};

class Binary {
public:
    /// Reads the sections that the stand-in linker wrote.
    /// @throws std::runtime_error when the content is not such a file.
    static std::unique_ptr<Binary> parse(std::string content);

    /// Takes an AICPU binary as it is: its functions get registered by name, and are recorded, not run.
    static std::unique_ptr<Binary> opaque();

    ~Binary();

    /// Returns the function of that name, nullptr if there is none.
    Function* find(const std::string& name);

    /// Adds a function that has only a name.
    Function* add(const std::string& name);

    bool owns(const Function* function) const;

    /// Runs a function in the emulator to its end.
    /// @return kSuccess, or the code a device would report, with the emulator's report in `report`.
    Code run(const Function& function, const Launch& launch, std::string& report);

private:
    void load_object();

    std::map<std::string, std::unique_ptr<Function>> functions_;
    std::string object_;
    std::string runtime_path_;
    void* runtime_ = nullptr;
    void* handle_ = nullptr;
};

}  // namespace stand_in
