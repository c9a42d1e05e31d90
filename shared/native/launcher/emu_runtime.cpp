// The emulator runtime `libasc_emu-<hash>.so` as this module sees it: a few C functions found by
// name (architecture.md section 3, asc_emu/core_api.h).
#include "emu_runtime.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace asc_emu::launcher {
namespace {

template <class Function>
Function* find(const Library& library, const char* name) {
    return reinterpret_cast<Function*>(library.symbol(name));
}

}  // namespace

EmuRuntime::EmuRuntime(std::shared_ptr<Library> library)
    : library_(std::move(library)),
      launch_(find<decltype(asc_emu_launch)>(*library_, "asc_emu_launch")),
      set_option_(find<decltype(asc_emu_set_option)>(*library_, "asc_emu_set_option")),
      get_option_(find<decltype(asc_emu_get_option)>(*library_, "asc_emu_get_option")),
      describe_(find<decltype(asc_emu_describe)>(*library_, "asc_emu_describe")),
      last_error_(find<decltype(asc_emu_last_error)>(*library_, "asc_emu_last_error")) {}

std::shared_ptr<EmuRuntime> EmuRuntime::load(const std::string& path) {
    static std::mutex mutex;
    // NOTE: never destroyed, so that no runtime is closed under its own threads at exit.
    static auto* loaded = new std::map<std::string, std::shared_ptr<EmuRuntime>>;
    const std::string soname = path.substr(path.rfind('/') + 1);
    const std::lock_guard lock(mutex);
    std::shared_ptr<EmuRuntime>& runtime = (*loaded)[soname];
    if (runtime == nullptr) {
        std::shared_ptr<Library> library = Library::find_loaded(soname);
        if (library == nullptr) library = Library::open(path);
        runtime = std::shared_ptr<EmuRuntime>(new EmuRuntime(std::move(library)));
    }
    return runtime;
}

void EmuRuntime::launch(const asc_emu_launch_desc& desc) const {
    if (launch_(&desc) != 0) throw LaunchFailure(last_error());
}

void EmuRuntime::set_option(const std::string& name, const std::string& value) const {
    if (set_option_(name.c_str(), value.c_str()) != 0) throw std::invalid_argument(last_error());
}

std::string EmuRuntime::get_option(const std::string& name) const {
    const char* value = get_option_(name.c_str());
    if (value == nullptr || *value == 0)
        throw std::invalid_argument("the emulator runtime has no option " + name);
    return value;
}

std::string EmuRuntime::last_error() const {
    const char* text = last_error_();
    return text != nullptr ? text : "";
}

}  // namespace asc_emu::launcher
