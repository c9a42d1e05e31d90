// The bytes of a Python buffer, kept alive and unmovable while a launch reads them (deep_jit.md
// section 7.1).
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

namespace asc_emu::launcher {

/// A contiguous read-only view of any object with the buffer protocol.
class PayloadView {
  public:
    /// @throws nanobind::python_error (TypeError or BufferError) for other objects.
    explicit PayloadView(nanobind::handle object) {
        if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0)
            throw nanobind::python_error();
    }
    PayloadView(const PayloadView&) = delete;
    PayloadView& operator=(const PayloadView&) = delete;
    ~PayloadView() { PyBuffer_Release(&view_); }

    const void* data() const { return view_.buf; }
    std::size_t size() const { return static_cast<std::size_t>(view_.len); }

  private:
    Py_buffer view_{};
};

}  // namespace asc_emu::launcher
