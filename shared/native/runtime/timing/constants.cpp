// Access to the table of constants by name.
#include "timing/constants.hpp"

#include <cstdlib>

#include "launch.hpp"

namespace asc_emu::timing {
namespace {

struct Entry {
    const char* name;
    double Constants::*field;
    const char* unit;
    const char* source;
    const char* meaning;
};
constexpr Entry kEntries[] = {
#define ASC_EMU_CONSTANT(name, value, unit, source, meaning) \
    {#name, &Constants::name, unit, source, meaning},
#include "timing/constants.inc"
#undef ASC_EMU_CONSTANT
};

std::string apply_one(Constants& constants, const std::string& item) {
    const size_t equal = item.find('=');
    if (equal == std::string::npos) return "got '" + item + "', write name=value";
    const std::string name = item.substr(0, equal), text = item.substr(equal + 1);
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != 0 || !(value >= 0)) return name + " got '" + text + "', allowed: a number >= 0";
    for (const Entry& e : kEntries)
        if (name == e.name) {
            constants.*(e.field) = value;
            return "";
        }
    return "no constant is named '" + name + "'; the table of constants lists them";
}

}  // namespace

double Constants::launch_us(double n) const {
    const double at[] = {1, 32, 128, 1024};
    const double us[] = {launch_us_1, launch_us_32, launch_us_128, launch_us_1024};
    size_t i = 0;
    while (i < 2 && n > at[i + 1]) ++i;
    return us[i] + (us[i + 1] - us[i]) * (n - at[i]) / (at[i + 1] - at[i]);
}

std::string apply_overrides(Constants& constants, const std::string& text) {
    for (size_t at = 0; at < text.size();) {
        const size_t end = text.find(',', at) == std::string::npos ? text.size() : text.find(',', at);
        const std::string problem = apply_one(constants, text.substr(at, end - at));
        if (!problem.empty()) return problem;
        at = end + 1;
    }
    return "";
}

std::string constants_json() {
    const Constants defaults;
    std::string out = "[";
    for (const Entry& e : kEntries)
        out += (out.size() > 1 ? ", " : "") + std::string("{\"name\": ") + json_quote(e.name) +
               ", \"value\": " + json_number(defaults.*(e.field)) + ", \"unit\": " + json_quote(e.unit) +
               ", \"source\": " + json_quote(e.source) + ", \"meaning\": " + json_quote(e.meaning) + "}";
    return out + "]";
}

}  // namespace asc_emu::timing
