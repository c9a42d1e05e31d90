// A stand-in for libascendcl.so (architecture.md section 7): the ACL calls of a kernel launch, with checked arguments,
// a journal of what arrived, failures on demand (`journal.hpp`), and kernels that run in the emulator.
//
// As on a device, a launch returns before its kernel's failure is known: the failure waits for the next synchronisation.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "acl_abi.hpp"
#include "binary.hpp"
#include "journal.hpp"

using namespace stand_in;

namespace {

std::mutex state_mutex;
std::vector<std::unique_ptr<Binary>> binaries;
Code pending_code = kSuccess;
std::string pending_report;

Binary* known_binary(const void* handle) {
    for (const auto& binary : binaries)
        if (binary.get() == handle)
            return binary.get();
    return nullptr;
}

Function* known_function(void* handle) {
    auto* function = static_cast<Function*>(handle);
    for (const auto& binary : binaries)
        if (binary->owns(function))
            return function;
    return nullptr;
}

Code keep(std::unique_ptr<Binary> binary, void** handle) {
    *handle = binary.get();
    binaries.push_back(std::move(binary));
    return kSuccess;
}

Code load_object(std::string content, void** handle) {
    try {
        return keep(Binary::parse(std::move(content)), handle);
    } catch (const std::exception& error) {
        return fail(kInvalidParameter, error.what());
    }
}

/// Reads the attributes of a launch; a kind that a launch of ours never sets is refused.
Code read_attributes(const LaunchConfig* config, Launch& launch, Record& record) {
    if (config == nullptr) {
        record.number("attributes", 0);
        return kSuccess;
    }
    if (config->attributes == nullptr || config->count == 0)
        return fail(kInvalidParameter, "a launch configuration must hold at least one attribute");
    record.number("attributes", static_cast<std::int64_t>(config->count));
    for (std::size_t i = 0; i < config->count; ++i) {
        const LaunchAttribute& attribute = config->attributes[i];
        if (attribute.id == kAttributeDynamicUbuf) {
            launch.ubuf_bytes = attribute.value.dynamic_ubuf_bytes;
            record.number("dynamic_ubuf_bytes", launch.ubuf_bytes);
        } else if (attribute.id == kAttributeTimeout) {
            launch.timeout_seconds = attribute.value.timeout_seconds;
            record.number("timeout_seconds", launch.timeout_seconds);
        } else {
            return fail(kInvalidParameter, "unknown launch attribute " + std::to_string(attribute.id));
        }
    }
    return kSuccess;
}

void run(Function& function, const Launch& launch) {
    std::string report;
    Code code = kCoreException;
    try {
        code = function.binary->run(function, launch, report);
    } catch (const std::exception& error) {
        report = error.what();
    }
    if (code != kSuccess && pending_code == kSuccess) {
        pending_code = code;
        pending_report = report;
    }
}

Code synchronize() {
    const Code code = std::exchange(pending_code, kSuccess);
    return code == kSuccess ? kSuccess : fail(code, pending_report);
}

std::int64_t device_number(std::uint32_t attribute) {
    const auto replaced = listed_number(variable("ASC_STAND_IN_DEVICE_INFO"), std::to_string(attribute));
    if (replaced)
        return *replaced;
    switch (attribute) {
        case 1: return 8;
        case 101: return 32;
        case 102: return 32;
        case 201: return 64;
        case 202: return 32;
        case 203: return 2048;
        case 204: return 253952;
        case 301: return std::int64_t{112} << 30;
        case 302: return 128 << 20;
        case 601: return 3510;
        default: return -1;
    }
}

}  // namespace

#define STAND_IN_CALL extern "C" __attribute__((visibility("default")))

STAND_IN_CALL Code aclrtBinaryLoadFromFile(const char* path, BinaryLoadOptions* options, void** handle) {
    const std::lock_guard lock(state_mutex);
    Record("aclrtBinaryLoadFromFile").text("path", path ? path : "").number("options", options != nullptr).write();
    if (const Code code = injected("aclrtBinaryLoadFromFile"); code != kSuccess)
        return code;
    if (path == nullptr || path[0] != '/' || handle == nullptr)
        return fail(kInvalidParameter, "binPath must be an absolute path, binHandle must not be null");
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return fail(kInvalidParameter, std::string("cannot open ") + path);
    return load_object(std::string(std::istreambuf_iterator<char>(file), {}), handle);
}

STAND_IN_CALL Code aclrtBinaryLoadFromData(const void* data, std::size_t length, const BinaryLoadOptions* options,
                                           void** handle) {
    const std::lock_guard lock(state_mutex);
    const bool cpu_mode = options != nullptr && options->count == 1 && options->options != nullptr &&
                          options->options->type == kOptionCpuKernelMode;
    Record("aclrtBinaryLoadFromData")
        .number("length", static_cast<std::int64_t>(length))
        .number("cpu_kernel_mode", cpu_mode ? options->options->value.cpu_kernel_mode : -1)
        .write();
    if (const Code code = injected("aclrtBinaryLoadFromData"); code != kSuccess)
        return code;
    if (data == nullptr || length == 0 || handle == nullptr)
        return fail(kInvalidParameter, "data and binHandle must not be null, length must not be 0");
    if (!cpu_mode)
        return load_object(std::string(static_cast<const char*>(data), length), handle);
    if (options->options->value.cpu_kernel_mode != kCpuKernelFromData)
        return fail(kInvalidParameter, "only CPU kernel mode 2 loads from data");
    return keep(Binary::opaque(), handle);
}

STAND_IN_CALL Code aclrtBinaryGetFunction(const void* handle, const char* name, void** function) {
    const std::lock_guard lock(state_mutex);
    Record("aclrtBinaryGetFunction").text("kernel", name ? name : "").write();
    if (const Code code = injected("aclrtBinaryGetFunction"); code != kSuccess)
        return code;
    Binary* binary = known_binary(handle);
    if (binary == nullptr || name == nullptr || function == nullptr)
        return fail(kInvalidParameter, "the binary handle is not loaded, or an argument is null");
    *function = binary->find(name);
    return *function == nullptr ? fail(kKernelNotFound, std::string("no kernel ") + name) : kSuccess;
}

STAND_IN_CALL Code aclrtRegisterCpuFunc(const void* handle, const char* function_name, const char* kernel_name,
                                        void** function) {
    const std::lock_guard lock(state_mutex);
    Record("aclrtRegisterCpuFunc")
        .text("function", function_name ? function_name : "")
        .text("kernel", kernel_name ? kernel_name : "")
        .write();
    if (const Code code = injected("aclrtRegisterCpuFunc"); code != kSuccess)
        return code;
    Binary* binary = known_binary(handle);
    if (binary == nullptr || function_name == nullptr || kernel_name == nullptr || function == nullptr)
        return fail(kInvalidParameter, "the binary handle is not loaded, or an argument is null");
    *function = binary->add(kernel_name);
    return kSuccess;
}

STAND_IN_CALL Code aclrtBinaryUnLoad(void* handle) {
    const std::lock_guard lock(state_mutex);
    Record("aclrtBinaryUnLoad").write();
    if (const Code code = injected("aclrtBinaryUnLoad"); code != kSuccess)
        return code;
    const auto found = std::find_if(binaries.begin(), binaries.end(),
                                    [handle](const auto& binary) { return binary.get() == handle; });
    if (found == binaries.end())
        return fail(kInvalidParameter, "the binary handle is not loaded");
    binaries.erase(found);
    return kSuccess;
}

STAND_IN_CALL Code aclrtLaunchKernelWithHostArgs(void* handle, std::uint32_t num_blocks, void* stream,
                                                 LaunchConfig* config, void* payload, std::size_t payload_bytes,
                                                 void* placeholders, std::size_t num_placeholders) {
    const std::lock_guard lock(state_mutex);
    Record record("aclrtLaunchKernelWithHostArgs");
    Launch launch{num_blocks, 0, 0, payload, payload_bytes};
    Function* function = known_function(handle);
    record.text("kernel", function ? function->name : "")
        .number("num_blocks", num_blocks)
        .number("stream", static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(stream)))
        .bytes("payload", payload, payload == nullptr ? 0 : payload_bytes)
        .number("placeholders", static_cast<std::int64_t>(num_placeholders));
    const Code attributes = read_attributes(config, launch, record);
    record.write();
    if (const Code code = injected("aclrtLaunchKernelWithHostArgs"); code != kSuccess)
        return code;
    if (attributes != kSuccess)
        return attributes;
    if (function == nullptr || num_blocks == 0 || placeholders != nullptr || num_placeholders != 0)
        return fail(kInvalidParameter, "the function is not loaded, numBlocks is 0, or there are placeholders");
    if (payload == nullptr || payload_bytes == 0 || payload_bytes % 8 != 0)
        return fail(kInvalidParameter, "hostArgs must hold a positive multiple of 8 bytes");
    run(*function, launch);
    return kSuccess;
}

STAND_IN_CALL Code aclrtSynchronizeStream(void* stream) {
    const std::lock_guard lock(state_mutex);
    Record("aclrtSynchronizeStream")
        .number("stream", static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(stream)))
        .write();
    const Code code = injected("aclrtSynchronizeStream");
    return code == kSuccess ? synchronize() : code;
}

STAND_IN_CALL Code aclrtSynchronizeDevice() {
    const std::lock_guard lock(state_mutex);
    Record("aclrtSynchronizeDevice").write();
    const Code code = injected("aclrtSynchronizeDevice");
    return code == kSuccess ? synchronize() : code;
}

STAND_IN_CALL Code aclrtGetDevice(std::int32_t* device) {
    if (const Code code = injected("aclrtGetDevice"); code != kSuccess)
        return code;
    *device = std::atoi(variable("ASC_STAND_IN_DEVICE", "0").c_str());
    return kSuccess;
}

STAND_IN_CALL Code aclrtGetDeviceInfo(std::uint32_t device, std::uint32_t attribute, std::int64_t* value) {
    Record("aclrtGetDeviceInfo").number("device", device).number("attribute", attribute).write();
    if (const Code code = injected("aclrtGetDeviceInfo"); code != kSuccess)
        return code;
    *value = device_number(attribute);
    return *value < 0 ? fail(kInvalidParameter, "unknown attribute " + std::to_string(attribute)) : kSuccess;
}

STAND_IN_CALL const char* aclrtGetSocName() {
    thread_local std::string name;
    name = variable("ASC_STAND_IN_SOC", "Ascend950PR_9599");
    return name.empty() ? nullptr : name.c_str();
}

STAND_IN_CALL const char* aclGetRecentErrMsg() {
    return recent_message().empty() ? nullptr : recent_message().c_str();
}
