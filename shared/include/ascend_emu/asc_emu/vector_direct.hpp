// Direct call of a SIMD vector function, as rewritten text makes it (ascend_c_vector.md section 2):
// the same instruction of PIPE_V as `asc_vf_call`.
#pragma once

#include "asc_emu/api/vector_call.hpp"

namespace asc_emu {

template <class Body, class... Args>
struct DirectVectorCall {
    static void run(Args... args) { Body{}(args...); }
};

// `Body` captures nothing, so the pipe can make one when it runs the call.
template <class Body, class... Args>
inline void call_vector_function(Body, Args... args) {
    asc_vf_call<&DirectVectorCall<Body, Args...>::run>(args...);
}

}  // namespace asc_emu
