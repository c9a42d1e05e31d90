// A shared object held open, closed with its last user (deep_jit.md section 20, loading).
#include "library.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <utility>

namespace asc_emu::launcher {
namespace {

std::string loader_error() {
    const char* text = dlerror();
    return text != nullptr ? text : "the loader gave no reason";
}

}  // namespace

Library::Library(std::string path, void* handle) : path_(std::move(path)), handle_(handle) {}

Library::~Library() { dlclose(handle_); }

std::shared_ptr<Library> Library::open(const std::string& path) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
        throw std::runtime_error("failed to load " + path + ": " + loader_error());
    return std::shared_ptr<Library>(new Library(path, handle));
}

std::shared_ptr<Library> Library::find_loaded(const std::string& soname) {
    void* handle = dlopen(soname.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    return handle != nullptr ? std::shared_ptr<Library>(new Library(soname, handle)) : nullptr;
}

void* Library::symbol(const char* name) const {
    dlerror();
    void* address = dlsym(handle_, name);
    if (address == nullptr)
        throw std::runtime_error("failed to load " + std::string(name) + " from " + path_ + ": " +
                                 loader_error());
    return address;
}

}  // namespace asc_emu::launcher
