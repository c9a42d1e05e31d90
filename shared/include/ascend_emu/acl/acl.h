// Host calls of the Ascend Computing Language as far as example programs use them, on host memory
// (emulator.md section 1). Streams are synchronous: a launch has ended when it returns, so an error
// of a kernel is known before the synchronising call reports it. Values are those of the public
// header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "asc_emu/host_state.hpp"

using aclError = int;
using aclrtStream = void*;
using aclrtContext = void*;
using aclrtEvent = void*;
using aclFloat16 = uint16_t;

constexpr aclError ACL_SUCCESS = 0;
constexpr aclError ACL_ERROR_NONE = 0;
constexpr aclError ACL_ERROR_INVALID_PARAM = 100000;
constexpr aclError ACL_ERROR_BAD_ALLOC = 200000;
constexpr aclError ACL_ERROR_INVALID_DEVICE = 200002;
constexpr aclError ACL_ERROR_RT_PARAM_INVALID = 107000;
constexpr aclError ACL_ERROR_RT_AICORE_EXCEPTION = 507015;

enum aclrtMemMallocPolicy {
    ACL_MEM_MALLOC_HUGE_FIRST,
    ACL_MEM_MALLOC_HUGE_ONLY,
    ACL_MEM_MALLOC_NORMAL_ONLY,
    ACL_MEM_MALLOC_HUGE_FIRST_P2P,
    ACL_MEM_MALLOC_HUGE_ONLY_P2P,
    ACL_MEM_MALLOC_NORMAL_ONLY_P2P,
};

enum aclrtMemcpyKind {
    ACL_MEMCPY_HOST_TO_HOST,
    ACL_MEMCPY_HOST_TO_DEVICE,
    ACL_MEMCPY_DEVICE_TO_HOST,
    ACL_MEMCPY_DEVICE_TO_DEVICE,
    ACL_MEMCPY_DEFAULT,
};

enum aclrtLastErrLevel { ACL_RT_THREAD_LEVEL = 0 };

// Attributes of the emulated device: 32 cores, each with one cube and two vector cores.
enum aclrtDevAttr {
    ACL_DEV_ATTR_AICORE_CORE_NUM = 101,
    ACL_DEV_ATTR_CUBE_CORE_NUM = 102,
    ACL_DEV_ATTR_VECTOR_CORE_NUM = 201,
};

constexpr uint32_t ACL_EVENT_SYNC = 0x00000001u;
constexpr uint32_t ACL_EVENT_TIME_LINE = 0x00000008u;

namespace asc_emu::host {

constexpr size_t kAllocationUnit = 32;  // device allocations are rounded up, with one unit behind
constexpr size_t kAllocationAlign = 512;

inline aclError wrong(const char* function, const char* problem) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: %s", function, problem);
}

inline aclError allocate(const char* function, void** pointer, size_t size, bool device) {
    if (pointer == nullptr)
        return wrong(function, "the address of the result is null; pass &pointer");
    if (size == 0) return wrong(function, "size 0; allowed: at least 1 byte");
    const size_t bytes =
        (size + kAllocationUnit - 1) / kAllocationUnit * kAllocationUnit + kAllocationUnit;
    const size_t total = (bytes + kAllocationAlign - 1) / kAllocationAlign * kAllocationAlign;
    *pointer = total < size ? nullptr : std::aligned_alloc(kAllocationAlign, total);
    if (*pointer == nullptr)
        return fail(ACL_ERROR_BAD_ALLOC, "%s: no memory for %zu bytes", function, size);
    if (device) add_device_memory(*pointer, bytes);
    return ACL_SUCCESS;
}

inline aclError release(const char* function, void* pointer) {
    if (pointer == nullptr) return wrong(function, "null pointer; free each allocation once");
    drop_device_memory(pointer);
    std::free(pointer);
    return ACL_SUCCESS;
}

inline aclError copy(const char* function, void* dst, size_t capacity, const void* src,
                     size_t count) {
    if (dst == nullptr || src == nullptr) return wrong(function, "null pointer");
    if (count > capacity) {
        return fail(ACL_ERROR_INVALID_PARAM,
                    "%s: %zu bytes into a buffer of %zu; allowed: count <= destMax", function,
                    count, capacity);
    }
    std::memmove(dst, src, count);
    return ACL_SUCCESS;
}

// The error of an earlier launch, as the device reports it until it is reset.
inline aclError device_status() {
    State& s = state();
    const Lock lock(s);
    return s.device_error;
}

// Streams, contexts and events are distinct non-null handles.
inline aclError make_handle(const char* function, void** handle) {
    if (handle == nullptr)
        return wrong(function, "the address of the result is null; pass &handle");
    *handle = new char;
    return ACL_SUCCESS;
}

inline aclError drop_handle(const char* function, void* handle) {
    if (handle == nullptr) return wrong(function, "null handle");
    delete static_cast<char*>(handle);
    return ACL_SUCCESS;
}

}  // namespace asc_emu::host

inline aclError aclInit(const char*) { return ACL_SUCCESS; }
inline aclError aclFinalize() { return ACL_SUCCESS; }

inline aclError aclrtGetDeviceCount(uint32_t* count) {
    if (count == nullptr) return asc_emu::host::wrong("aclrtGetDeviceCount", "null pointer");
    *count = 1;
    return ACL_SUCCESS;
}

inline aclError aclrtSetDevice(int32_t device) {
    if (device != 0) {
        return asc_emu::host::fail(ACL_ERROR_INVALID_DEVICE,
                                   "aclrtSetDevice: device %d; allowed: 0, the emulated device",
                                   device);
    }
    return ACL_SUCCESS;
}

inline aclError aclrtGetDevice(int32_t* device) {
    if (device == nullptr) return asc_emu::host::wrong("aclrtGetDevice", "null pointer");
    *device = 0;
    return ACL_SUCCESS;
}

inline aclError aclrtResetDevice(int32_t) {
    asc_emu::host::State& s = asc_emu::host::state();
    const asc_emu::host::Lock lock(s);
    s.device_error = ACL_SUCCESS;
    return ACL_SUCCESS;
}

inline aclError aclrtGetDeviceInfo(uint32_t, aclrtDevAttr attribute, int64_t* value) {
    if (value == nullptr) return asc_emu::host::wrong("aclrtGetDeviceInfo", "null pointer");
    *value = attribute == ACL_DEV_ATTR_VECTOR_CORE_NUM ? 64 : 32;
    return ACL_SUCCESS;
}

inline const char* aclrtGetSocName() { return "Ascend950"; }

// Contexts, streams, events
inline aclError aclrtCreateContext(aclrtContext* context, int32_t) {
    return asc_emu::host::make_handle("aclrtCreateContext", context);
}
inline aclError aclrtDestroyContext(aclrtContext context) {
    return asc_emu::host::drop_handle("aclrtDestroyContext", context);
}
inline aclError aclrtSetCurrentContext(aclrtContext) { return ACL_SUCCESS; }
inline aclError aclrtCreateStream(aclrtStream* stream) {
    return asc_emu::host::make_handle("aclrtCreateStream", stream);
}
inline aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t) {
    return asc_emu::host::make_handle("aclrtCreateStreamWithConfig", stream);
}
inline aclError aclrtDestroyStream(aclrtStream stream) {
    return asc_emu::host::drop_handle("aclrtDestroyStream", stream);
}
inline aclError aclrtCreateEvent(aclrtEvent* event) {
    return asc_emu::host::make_handle("aclrtCreateEvent", event);
}
inline aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t) {
    return asc_emu::host::make_handle("aclrtCreateEventExWithFlag", event);
}
inline aclError aclrtDestroyEvent(aclrtEvent event) {
    return asc_emu::host::drop_handle("aclrtDestroyEvent", event);
}
inline aclError aclrtRecordEvent(aclrtEvent, aclrtStream) { return ACL_SUCCESS; }
inline aclError aclrtStreamWaitEvent(aclrtStream, aclrtEvent) { return ACL_SUCCESS; }
inline aclError aclrtSynchronizeEvent(aclrtEvent) { return asc_emu::host::device_status(); }
inline aclError aclrtSynchronizeStream(aclrtStream) { return asc_emu::host::device_status(); }
inline aclError aclrtSynchronizeStreamWithTimeout(aclrtStream, int32_t) {
    return asc_emu::host::device_status();
}
inline aclError aclrtSynchronizeDevice() { return asc_emu::host::device_status(); }

// Memory
inline aclError aclrtMalloc(void** pointer, size_t size, aclrtMemMallocPolicy) {
    return asc_emu::host::allocate("aclrtMalloc", pointer, size, true);
}
inline aclError aclrtFree(void* pointer) { return asc_emu::host::release("aclrtFree", pointer); }
inline aclError aclrtMallocHost(void** pointer, size_t size) {
    return asc_emu::host::allocate("aclrtMallocHost", pointer, size, false);
}
inline aclError aclrtFreeHost(void* pointer) {
    return asc_emu::host::release("aclrtFreeHost", pointer);
}
inline aclError aclrtMemcpy(void* dst, size_t dest_max, const void* src, size_t count,
                            aclrtMemcpyKind) {
    return asc_emu::host::copy("aclrtMemcpy", dst, dest_max, src, count);
}
inline aclError aclrtMemcpyAsync(void* dst, size_t dest_max, const void* src, size_t count,
                                 aclrtMemcpyKind, aclrtStream) {
    return asc_emu::host::copy("aclrtMemcpyAsync", dst, dest_max, src, count);
}
inline aclError aclrtMemset(void* pointer, size_t max_count, int32_t value, size_t count) {
    if (pointer == nullptr || count > max_count) {
        return asc_emu::host::wrong("aclrtMemset", "null pointer or count > maxCount");
    }
    std::memset(pointer, value, count);
    return ACL_SUCCESS;
}
inline aclError aclrtMemsetAsync(void* pointer, size_t max_count, int32_t value, size_t count,
                                 aclrtStream) {
    return aclrtMemset(pointer, max_count, value, count);
}

// Errors: the text is handed out once, as by the public library.
inline const char* aclGetRecentErrMsg() {
    asc_emu::host::State& s = asc_emu::host::state();
    const asc_emu::host::Lock lock(s);
    if (s.message_taken) return nullptr;
    s.message_taken = true;
    return s.message;
}
inline aclError aclrtPeekAtLastError(aclrtLastErrLevel) {
    asc_emu::host::State& s = asc_emu::host::state();
    const asc_emu::host::Lock lock(s);
    return s.last_error;
}
inline aclError aclrtGetLastError(aclrtLastErrLevel) {
    asc_emu::host::State& s = asc_emu::host::state();
    const asc_emu::host::Lock lock(s);
    const aclError error = s.last_error;
    s.last_error = ACL_SUCCESS;
    return error;
}
