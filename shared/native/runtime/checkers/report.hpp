// Findings of the checkers: collected during a launch, equal ones counted, given out as JSON
// (emulator.md section 4).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core.hpp"

namespace asc_emu {

enum class Severity : uint8_t { error, warning };

// One side of a finding: who did what, and from which line.
struct Place {
    std::string role;            // "writes", "reads", "waits", ...
    uint32_t block = 0;
    CoreSlot core = CoreSlot::aic;
    Pipe pipe = Pipe::S;
    const char* instruction = nullptr;
    const void* site = nullptr;  // return address in the kernel
};

struct Finding {
    const char* checker = "";
    Severity severity = Severity::error;
    std::string message;
    std::string memory;          // "L1", "GM", ...; empty when no memory is meant
    uint64_t address = 0;        // offset, host address in GM
    uint64_t bytes = 0;
    std::string fix;
    std::vector<Place> places;
};

const char* core_name(CoreSlot slot);

class Reporter {
public:
    static constexpr size_t kMaxFindings = 64;   // of different kinds or lines in one launch

    // Counts a finding; `build` is called only for the first of its kind: same checker, subject and sites.
    template <class Build>
    void add(const char* checker, uint32_t subject, const void* first, const void* second, Build&& build) {
        std::lock_guard lock(mutex_);
        const Key key{checker, subject, first, second};
        const auto found = index_.find(key);
        if (found != index_.end()) {
            ++counts_[found->second];
            return;
        }
        if (findings_.size() >= kMaxFindings) {
            ++dropped_;
            return;
        }
        index_.emplace(key, findings_.size());
        findings_.push_back(build());
        counts_.push_back(1);
        if (findings_.back().severity == Severity::error) ++errors_;
    }
    size_t errors() const { return errors_; }
    bool empty() const { return findings_.empty(); }
    const std::vector<Finding>& findings() const { return findings_; }
    // JSON array of the findings, and the object of asc_emu_last_error() that holds it.
    std::string list_json(const std::string& kernel) const;
    std::string error_json(const std::string& kernel, const std::string& abort_report) const;

private:
    struct Key {
        const char* checker;
        uint32_t subject;
        const void *first, *second;
        auto operator<=>(const Key&) const = default;
    };
    std::mutex mutex_;
    std::map<Key, size_t> index_;
    std::vector<Finding> findings_;
    std::vector<uint64_t> counts_;
    uint64_t dropped_ = 0;
    size_t errors_ = 0;
};

// `"object": ..., "offset": ...` of an address in a kernel, or "".
std::string site_json(const void* site);

}  // namespace asc_emu
