// The Python module `_native` of a component: bindings only (architecture.md section 3).
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <tuple>

#include "emu_runtime.hpp"
#include "kernel.hpp"
#include "payload_view.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace asc_emu::launcher;

namespace {

using RangeTuple = std::tuple<std::uint64_t, std::uint64_t, bool, std::string>;

nb::dict param_dict(const ParamInfo& param) {
    nb::dict result;
    result["kind"] = param.kind;
    result["size"] = param.size;
    result["align"] = param.align;
    result["type_name"] = param.type_name;
    return result;
}

nb::dict kernel_dict(const KernelInfo& kernel) {
    nb::list params;
    for (const ParamInfo& param : kernel.params) params.append(param_dict(param));
    nb::dict result;
    result["name"] = kernel.name;
    result["symbol"] = kernel.symbol;
    result["demangled"] = kernel.demangled;
    result["params"] = params;
    result["num_aic"] = kernel.num_aic;
    result["num_aiv"] = kernel.num_aiv;
    return result;
}

nb::list inspect_object(const std::filesystem::path& path) {
    nb::list result;
    for (const KernelInfo& kernel : inspect(path.native())) result.append(kernel_dict(kernel));
    return result;
}

void launch_kernel(const Kernel& kernel, nb::handle payload, std::uint32_t num_blocks,
                   std::uint32_t ubuf_bytes, std::uint32_t timeout_secs,
                   const std::vector<RangeTuple>& range_tuples, std::uint32_t block_stride) {
    const PayloadView view(payload);
    std::vector<MemoryRange> ranges;
    for (const auto& [address, bytes, read_only, name] : range_tuples)
        ranges.push_back({address, bytes, read_only, name});
    const nb::gil_scoped_release unlocked;
    kernel.launch(view.data(), view.size(), {num_blocks, ubuf_bytes, timeout_secs, block_stride}, ranges);
}

}  // namespace

NB_MODULE(_native, module) {
    module.doc() = "Loads the emulator runtime and kernel objects, and launches kernels.";

    nb::exception<LaunchFailure>(module, "LaunchFailure", PyExc_RuntimeError);

    nb::class_<EmuRuntime>(module, "EmuRuntime",
                           "One loaded emulator runtime; equal paths give the same object.")
        .def_prop_ro("path", &EmuRuntime::path, "The file it was loaded from.")
        .def("set_option", &EmuRuntime::set_option, "name"_a, "value"_a,
             "Sets an option of emulator.md section 3 for the whole process; ValueError if it is "
             "not allowed.")
        .def("get_option", &EmuRuntime::get_option, "name"_a, "Returns the text of an option.")
        .def("describe", &EmuRuntime::describe, "Returns the JSON description of this build.")
        .def("last_error", &EmuRuntime::last_error,
             "Returns this thread's last failure report (JSON), or \"\".");

    nb::class_<Kernel>(module, "Kernel", "A kernel of a loaded object.")
        .def(
            "info", [](const Kernel& kernel) { return kernel_dict(kernel.info()); },
            "Returns name, symbol, demangled, params, num_aic and num_aiv.")
        .def("launch", &launch_kernel, "payload"_a, "num_blocks"_a, "ubuf_bytes"_a = 0,
             "timeout_secs"_a = 0, "ranges"_a = std::vector<RangeTuple>(), "block_stride"_a = 0,
             "Runs all blocks without the interpreter lock; LaunchFailure carries the runtime's "
             "JSON report. "
             "`ranges` lists (address, bytes, read_only, name) of the global memory it may touch; "
             "blocks `block_stride` apart share operands and run in turn on one worker.")
        .def("unload", &Kernel::unload, nb::call_guard<nb::gil_scoped_release>(),
             "Closes the object once no launch uses it; a second call does nothing.")
        .def_prop_ro("loaded", &Kernel::loaded, "False after `unload`.");

    module.def(
        "load_runtime",
        [](const std::filesystem::path& path) { return EmuRuntime::load(path.native()); }, "path"_a,
        nb::call_guard<nb::gil_scoped_release>(),
        "Loads an emulator runtime; one whose file name is loaded already is taken.");
    module.def("inspect", &inspect_object, "path"_a,
               "Lists the kernels of an object; its runtime must be loaded before.");
    module.def(
        "load_kernel",
        [](std::shared_ptr<EmuRuntime> runtime, const std::filesystem::path& path,
           const std::string& name) {
            const nb::gil_scoped_release unlocked;
            return std::make_shared<Kernel>(std::move(runtime), path.native(), name);
        },
        "runtime"_a, "path"_a, "name"_a = "",
        "Loads a kernel of an object by symbol or name; without a name its only one.");
}
