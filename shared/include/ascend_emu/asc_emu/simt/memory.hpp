// Loads and stores with cache hints (ascend_c_vector.md section 14.2). The data cache is modelled
// as coherent, so a hint changes nothing but keeps the compiler from reusing an earlier value.
#pragma once

#include <type_traits>

// Through the data cache, and past it from L2.
template <class T>
inline std::remove_cv_t<T> asc_ldca(T* address) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return *const_cast<std::remove_cv_t<T>*>(address);
}
template <class T>
inline std::remove_cv_t<T> asc_ldcg(T* address) {
    // What L2 holds is what other cores have stored: to checkers such a load polls.
    if constexpr (std::is_arithmetic_v<T>) return *static_cast<const volatile T*>(address);
    return asc_ldca(address);
}
// To L2, and through to memory.
template <class T>
inline void asc_stcg(T* address, std::type_identity_t<T> value) {
    *address = value;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
template <class T>
inline void asc_stwt(T* address, std::type_identity_t<T> value) {
    asc_stcg(address, value);
}
