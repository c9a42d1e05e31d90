// A shared object held open, closed with its last user (deep_jit.md section 20, loading).
#pragma once

#include <memory>
#include <string>

namespace asc_emu::launcher {

/// One `dlopen` reference. Symbols stay local: nothing else in the process can bind to them.
class Library {
  public:
    /// Opens `path` with all symbols resolved.
    /// @throws std::runtime_error with the loader's own words.
    static std::shared_ptr<Library> open(const std::string& path);

    /// Returns the object that is loaded under this SONAME, or null.
    static std::shared_ptr<Library> find_loaded(const std::string& soname);

    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    ~Library();

    const std::string& path() const { return path_; }

    /// Returns the address of a symbol of this object.
    /// @throws std::runtime_error naming the symbol and the object.
    void* symbol(const char* name) const;

  private:
    Library(std::string path, void* handle);

    std::string path_;
    void* handle_;
};

}  // namespace asc_emu::launcher
