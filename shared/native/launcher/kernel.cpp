// A kernel object: its table of kernels, and the launch of one of them (deep_jit.md sections 8 and
// 20).
#include "kernel.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace asc_emu::launcher {
namespace {

constexpr const char* kTableSymbol = "asc_emu_kernels_v1";

const char* kind_name(std::uint8_t kind) {
    static constexpr const char* kNames[] = {"int", "uint", "float", "bool", "pointer", "struct"};
    if (kind >= std::size(kNames))
        throw std::runtime_error("unknown parameter kind " + std::to_string(kind) +
                                 " in a kernel table");
    return kNames[kind];
}

std::string demangle(const std::string& symbol) {
    int status = 0;
    char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
    std::string result = status == 0 ? text : symbol;
    std::free(text);
    return result;
}

// Name of the exported function at an address, "" when the object does not export it.
std::string symbol_at(const void* function) {
    Dl_info found{};
    const bool exported =
        dladdr(function, &found) != 0 && found.dli_sname != nullptr && found.dli_saddr == function;
    return exported ? found.dli_sname : "";
}

KernelInfo describe(const asc_emu_kernel& kernel) {
    KernelInfo info;
    info.name = kernel.name;
    info.symbol = symbol_at(kernel.function);
    info.demangled = info.symbol.empty() ? info.name : demangle(info.symbol);
    info.num_aic = kernel.num_aic;
    info.num_aiv = kernel.num_aiv;
    for (std::uint32_t i = 0; i < kernel.num_params; ++i) {
        const asc_emu_param& param = kernel.params[i];
        info.params.push_back({kind_name(param.kind), param.size, param.align,
                               param.type_name != nullptr ? param.type_name : ""});
    }
    return info;
}

const asc_emu_kernel_table& table_of(const Library& object) {
    const auto* table = static_cast<const asc_emu_kernel_table*>(object.symbol(kTableSymbol));
    if (table->version != ASC_EMU_ABI_VERSION)
        throw std::runtime_error("kernel table of version " + std::to_string(table->version) +
                                 " in " + object.path() + "; allowed: version " +
                                 std::to_string(ASC_EMU_ABI_VERSION));
    return *table;
}

const asc_emu_kernel& only_kernel(const Library& object) {
    const asc_emu_kernel_table& table = table_of(object);
    if (table.num_kernels != 1)
        throw std::runtime_error("expected exactly one kernel in " + object.path() + ", found " +
                                 std::to_string(table.num_kernels));
    return table.kernels[0];
}

const asc_emu_kernel& choose_kernel(const Library& object, const std::string& name) {
    if (name.empty()) return only_kernel(object);
    const asc_emu_kernel_table& table = table_of(object);
    for (std::uint32_t i = 0; i < table.num_kernels; ++i) {
        const asc_emu_kernel& kernel = table.kernels[i];
        if (name == kernel.name || name == symbol_at(kernel.function)) return kernel;
    }
    throw std::runtime_error("no kernel " + name + " in " + object.path());
}

}  // namespace

std::vector<KernelInfo> inspect(const std::string& path) {
    const std::shared_ptr<Library> object = Library::open(path);
    const asc_emu_kernel_table& table = table_of(*object);
    std::vector<KernelInfo> infos;
    for (std::uint32_t i = 0; i < table.num_kernels; ++i)
        infos.push_back(describe(table.kernels[i]));
    return infos;
}

Kernel::Kernel(std::shared_ptr<EmuRuntime> runtime, const std::string& path,
               const std::string& name)
    : runtime_(std::move(runtime)),
      object_(Library::open(path)),
      entry_(&choose_kernel(*object_, name)),
      info_(describe(*entry_)) {}

std::shared_ptr<Library> Kernel::object() const {
    const std::lock_guard lock(mutex_);
    if (object_ == nullptr)
        throw std::runtime_error("kernel must be loaded before launch: " + info_.name +
                                 " was unloaded");
    return object_;
}

void Kernel::launch(const void* payload, std::size_t payload_bytes, const LaunchSize& size,
                    const std::vector<MemoryRange>& ranges) const {
    const std::shared_ptr<Library> object_in_use = object();
    std::vector<asc_emu_gm_range> gm_ranges;
    for (const MemoryRange& range : ranges)
        gm_ranges.push_back({reinterpret_cast<const void*>(range.address), range.bytes,
                             range.read_only ? 1u : 0u, range.name.c_str()});
    asc_emu_launch_desc desc{};
    desc.struct_bytes = sizeof(desc);
    desc.num_blocks = size.num_blocks;
    desc.dynamic_ub_bytes = size.ubuf_bytes;
    desc.timeout_secs = size.timeout_secs;
    desc.kernel = entry_;
    desc.payload = payload;
    desc.payload_bytes = payload_bytes;
    desc.gm_ranges = gm_ranges.data();
    desc.num_gm_ranges = static_cast<std::uint32_t>(gm_ranges.size());
    desc.block_stride = size.block_stride;
    runtime_->launch(desc);
}

void Kernel::unload() {
    std::shared_ptr<Library> closing;
    const std::lock_guard lock(mutex_);
    closing.swap(object_);
}

bool Kernel::loaded() const {
    const std::lock_guard lock(mutex_);
    return object_ != nullptr;
}

}  // namespace asc_emu::launcher
