// State of the emulated device in a host program: allocations and the error of the last launch.
// Shared by acl/acl.h and the launch of asc_emu/program.hpp. Plain C inside: kernels include acl.h
// for its types, and would compile the containers of the standard library with it.
#pragma once

#include <pthread.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace asc_emu::host {

struct Allocation {
    void* base;
    uint64_t bytes;
    Allocation* next;
};

struct State {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    Allocation* device_memory = nullptr;
    int device_error = 0;     // sticky, as after an exception of a core
    int last_error = 0;       // of the last failed call
    char* message = nullptr;  // of the last error
    bool message_taken = true;
    bool launch_failed = false;
};

class Lock {
  public:
    explicit Lock(State& state) : mutex_(&state.mutex) { pthread_mutex_lock(mutex_); }
    ~Lock() { pthread_mutex_unlock(mutex_); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

  private:
    pthread_mutex_t* mutex_;
};

// A program that ignores the status of its calls must not look successful after a failed kernel.
inline void exit_with_failure(int status, void* state) {
    if (status != 0 || !static_cast<State*>(state)->launch_failed) return;
    std::fflush(nullptr);
    std::_Exit(1);
}

inline State& state() {
    static State* const instance = [] {
        State* created = new State;  // lives as long as the process: handlers at exit read it
        ::on_exit(exit_with_failure, created);
        return created;
    }();
    return *instance;
}

// Records a failed call with a message as of printf, and returns its status.
__attribute__((format(printf, 2, 3))) inline int fail(int status, const char* format, ...) {
    char* message = nullptr;
    std::va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&message, format, arguments) < 0) message = nullptr;
    va_end(arguments);
    State& s = state();
    const Lock lock(s);
    std::free(s.message);
    s.last_error = status;
    s.message = message;
    s.message_taken = message == nullptr;
    return status;
}

inline void add_device_memory(void* base, uint64_t bytes) {
    State& s = state();
    const Lock lock(s);
    s.device_memory = new Allocation{base, bytes, s.device_memory};
}

inline void drop_device_memory(void* base) {
    State& s = state();
    const Lock lock(s);
    for (Allocation** at = &s.device_memory; *at != nullptr; at = &(*at)->next) {
        if ((*at)->base != base) continue;
        Allocation* const found = *at;
        *at = found->next;
        delete found;
        return;
    }
}

}  // namespace asc_emu::host
