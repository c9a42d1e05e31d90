// Reading and running what the stand-in compiler produced (architecture.md section 7): see `binary.hpp`.
#include "binary.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "asc_emu/core_api.h"
#include "journal.hpp"

namespace stand_in {

namespace {

/// Returns the content of every section by name.
std::map<std::string, std::string> sections_of(const std::string& content) {
    Elf64_Ehdr header;
    if (content.size() < sizeof header || content.compare(0, SELFMAG, ELFMAG) != 0)
        throw std::runtime_error("the binary is not an ELF file");
    std::memcpy(&header, content.data(), sizeof header);
    const auto section_at = [&](std::size_t index) {
        Elf64_Shdr section;
        const std::size_t offset = header.e_shoff + index * sizeof section;
        if (offset + sizeof section > content.size())
            throw std::runtime_error("the binary's section table is cut off");
        std::memcpy(&section, content.data() + offset, sizeof section);
        return section;
    };
    const auto bytes_of = [&](const Elf64_Shdr& section) {
        if (section.sh_offset + section.sh_size > content.size())
            throw std::runtime_error("a section of the binary is cut off");
        return content.substr(section.sh_offset, section.sh_size);
    };
    const std::string names = bytes_of(section_at(header.e_shstrndx));
    std::map<std::string, std::string> sections;
    for (std::size_t i = 1; i < header.e_shnum; ++i) {
        const Elf64_Shdr section = section_at(i);
        sections[names.c_str() + std::min<std::size_t>(section.sh_name, names.size())] = bytes_of(section);
    }
    return sections;
}

void* open_library(const std::string& path) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
        throw std::runtime_error(dlerror());
    return handle;
}

/// A file of its own for each load, so that the loader never takes one object for another.
std::string temporary_file(const std::string& content) {
    std::string path = variable("TMPDIR", "/tmp") + "/stand_in_kernel_XXXXXX";
    const int file = mkstemp(path.data());
    if (file < 0 || write(file, content.data(), content.size()) != static_cast<ssize_t>(content.size()))
        throw std::runtime_error("cannot write " + path);
    close(file);
    return path;
}

}  // namespace

std::unique_ptr<Binary> Binary::parse(std::string content) {
    const auto sections = sections_of(content);
    auto binary = std::make_unique<Binary>();
    const auto names = sections.find(".stand_in.names");
    if (names == sections.end())
        throw std::runtime_error("the binary was not written by the stand-in linker");
    std::istringstream lines(names->second);
    int index = -1;
    std::string name;
    while (lines >> index && std::getline(lines >> std::ws, name))
        binary->functions_[name] = std::make_unique<Function>(Function{binary.get(), name, index});
    if (const auto object = sections.find(".stand_in.object"); object != sections.end()) {
        binary->object_ = object->second;
        binary->runtime_path_ = sections.at(".stand_in.runtime");
    }
    return binary;
}

std::unique_ptr<Binary> Binary::opaque() {
    return std::make_unique<Binary>();
}

Binary::~Binary() {
    if (handle_ != nullptr)
        dlclose(handle_);
}

Function* Binary::find(const std::string& name) {
    const auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : found->second.get();
}

Function* Binary::add(const std::string& name) {
    auto& slot = functions_[name];
    slot = std::make_unique<Function>(Function{this, name, -1});
    return slot.get();
}

bool Binary::owns(const Function* function) const {
    for (const auto& [name, own] : functions_)
        if (own.get() == function)
            return true;
    return false;
}

void Binary::load_object() {
    if (handle_ != nullptr)
        return;
    runtime_ = open_library(runtime_path_);
    const std::string path = temporary_file(object_);
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    const std::string problem = handle_ == nullptr ? dlerror() : "";
    unlink(path.c_str());
    if (handle_ == nullptr)
        throw std::runtime_error(problem);
}

Code Binary::run(const Function& function, const Launch& launch, std::string& report) {
    if (function.index < 0 || object_.empty())
        return kSuccess;
    load_object();
    const auto* table = static_cast<const asc_emu_kernel_table*>(dlsym(handle_, "asc_emu_kernels_v1"));
    const auto execute = reinterpret_cast<decltype(&asc_emu_launch)>(dlsym(runtime_, "asc_emu_launch"));
    const auto last_error = reinterpret_cast<decltype(&asc_emu_last_error)>(dlsym(runtime_, "asc_emu_last_error"));
    if (table == nullptr || execute == nullptr || last_error == nullptr)
        throw std::runtime_error("the kernel object or the emulator runtime lacks a symbol");
    asc_emu_launch_desc desc = {};
    desc.struct_bytes = sizeof desc;
    desc.num_blocks = launch.num_blocks;
    desc.dynamic_ub_bytes = launch.ubuf_bytes;
    desc.timeout_secs = launch.timeout_seconds;
    desc.kernel = &table->kernels[function.index];
    desc.payload = launch.payload;
    desc.payload_bytes = launch.payload_bytes;
    if (execute(&desc) == 0)
        return kSuccess;
    report = last_error();
    return report.find("\"timeout\"") == std::string::npos ? kCoreException : kCoreTimeout;
}

}  // namespace stand_in
