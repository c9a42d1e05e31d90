// JSON of the findings.
#include "checkers/report.hpp"

#include <dlfcn.h>

#include "launch.hpp"

namespace asc_emu {
namespace {

std::string place_json(const Place& place) {
    std::string out = "{\"role\": " + json_quote(place.role) + ", \"block\": " +
                      std::to_string(place.block) + ", \"core\": " + json_quote(core_name(place.core)) +
                      ", \"pipe\": " + json_quote(pipe_name(place.pipe));
    if (place.instruction) out += ", \"instruction\": " + json_quote(place.instruction);
    return out + site_json(place.site) + "}";
}

std::string finding_json(const Finding& f, uint64_t count, const std::string& kernel) {
    std::string out = "{\"checker\": " + json_quote(f.checker) + ", \"severity\": " +
                      (f.severity == Severity::error ? "\"error\"" : "\"warning\"") +
                      ", \"message\": " + json_quote(f.message) + ", \"kernel\": " + json_quote(kernel) +
                      ", \"count\": " + std::to_string(count);
    if (!f.memory.empty())
        out += ", \"memory\": " + json_quote(f.memory) + ", \"address\": " + std::to_string(f.address) +
               ", \"bytes\": " + std::to_string(f.bytes);
    if (!f.fix.empty()) out += ", \"fix\": " + json_quote(f.fix);
    out += ", \"places\": [";
    for (size_t i = 0; i < f.places.size(); ++i) out += (i ? ", " : "") + place_json(f.places[i]);
    return out + "]}";
}

}  // namespace

const char* core_name(CoreSlot slot) {
    static const char* const names[] = {"AIC", "AIV0", "AIV1", "own"};
    return names[static_cast<size_t>(slot)];
}

std::string site_json(const void* site) {
    Dl_info where;
    if (!site || !dladdr(site, &where) || !where.dli_fname) return "";
    return ", \"object\": " + json_quote(where.dli_fname) + ", \"offset\": " +
           std::to_string(static_cast<const char*>(site) - static_cast<const char*>(where.dli_fbase));
}

std::string Reporter::list_json(const std::string& kernel) const {
    std::string out = "[";
    for (size_t i = 0; i < findings_.size(); ++i)
        out += (i ? ", " : "") + finding_json(findings_[i], counts_[i], kernel);
    return out + "]";
}

std::string Reporter::error_json(const std::string& kernel, const std::string& abort_report) const {
    const size_t warnings = findings_.size() - errors_;
    std::string text = std::to_string(errors_) + (errors_ == 1 ? " error" : " errors");
    if (warnings) text += " and " + std::to_string(warnings) + (warnings == 1 ? " warning" : " warnings");
    text += " found by the checkers";
    if (dropped_) text += "; " + std::to_string(dropped_) + " more not kept";
    std::string out = "{\"kind\": \"sanitizer\", \"message\": " + json_quote(text) + ", \"kernel\": " +
                      json_quote(kernel) + ", \"reports\": " + list_json(kernel);
    if (!abort_report.empty()) out += ", \"stopped\": " + abort_report;
    return out + "}";
}

}  // namespace asc_emu
