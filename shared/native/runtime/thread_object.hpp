// Objects that every thread has one of, behind a pointer.
// NOTE: thread variables of this library live in the few hundred bytes of static TLS that `dlopen` has left to
// share among all runtimes of a process, so only pointers and numbers may be thread_local (emulator.md section 2).
#pragma once

#include <memory>
#include <utility>

namespace asc_emu {

// The calling thread's `T`, made at first use and destroyed with the thread. `Tag` tells several uses of one
// type apart.
template <class T, class Tag>
T& thread_object() {
    static thread_local std::unique_ptr<T> object;
    if (!object) object = std::make_unique<T>();
    return *object;
}

}  // namespace asc_emu
