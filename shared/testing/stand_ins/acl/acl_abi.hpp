// The part of ACL's binary interface that a kernel launch uses, for the stand-in of architecture.md section 7.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stand_in {

using Code = int;

constexpr Code kSuccess = 0;
constexpr Code kInvalidParameter = 107000;
constexpr Code kKernelNotFound = 507027;
constexpr Code kCoreTimeout = 507014;
constexpr Code kCoreException = 507015;

constexpr std::uint32_t kAttributeDynamicUbuf = 2;
constexpr std::uint32_t kAttributeTimeout = 7;
constexpr std::uint32_t kOptionCpuKernelMode = 3;
constexpr std::int32_t kCpuKernelFromData = 2;

union LaunchValue {
    std::uint32_t dynamic_ubuf_bytes;
    std::uint16_t timeout_seconds;
    std::uint32_t reserved[4];
};

struct LaunchAttribute {
    std::uint32_t id;
    LaunchValue value;
};

struct LaunchConfig {
    LaunchAttribute* attributes;
    std::size_t count;
};

union BinaryLoadValue {
    std::int32_t cpu_kernel_mode;
    std::uint32_t reserved[4];
};

struct BinaryLoadOption {
    std::uint32_t type;
    BinaryLoadValue value;
};

struct BinaryLoadOptions {
    BinaryLoadOption* options;
    std::size_t count;
};

static_assert(sizeof(LaunchAttribute) == 20 && sizeof(BinaryLoadOption) == 20, "ACL unions hold four words");

}  // namespace stand_in
