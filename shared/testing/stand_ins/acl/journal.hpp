// What a test can see and steer of the ACL stand-in: a JSON-lines journal of the calls, and failures on demand.
//
//   ASC_STAND_IN_JOURNAL      file that gets one JSON object per call
//   ASC_STAND_IN_FAIL         "<call>=<code>,..." : these calls return the code and do nothing
//   ASC_STAND_IN_MESSAGE      text of aclGetRecentErrMsg after such a failure; empty = no text
//   ASC_STAND_IN_DEVICE       current device (0)
//   ASC_STAND_IN_DEVICE_INFO  "<attribute>=<value>,..." : replaces numbers of the device
//   ASC_STAND_IN_SOC          name of the chip; empty = the call fails
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "acl_abi.hpp"

namespace stand_in {

inline std::string variable(const char* name, const char* fallback = "") {
    const char* value = std::getenv(name);
    return value == nullptr ? fallback : value;
}

/// Returns the number that a list "a=1,b=2" gives for `key`.
inline std::optional<std::int64_t> listed_number(const std::string& list, std::string_view key) {
    std::size_t begin = 0;
    while (begin < list.size()) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        const std::string_view item = std::string_view(list).substr(begin, end - begin);
        const std::size_t equals = item.find('=');
        if (equals != std::string_view::npos && item.substr(0, equals) == key)
            return std::strtoll(std::string(item.substr(equals + 1)).c_str(), nullptr, 10);
        begin = end + 1;
    }
    return std::nullopt;
}

/// One JSON object, built field by field.
class Record {
public:
    explicit Record(const char* call) { text("call", call); }

    Record& text(const char* name, std::string_view value) {
        key(name);
        line_ += '"';
        for (const char c : value)
            append_escaped(c);
        line_ += '"';
        return *this;
    }

    Record& number(const char* name, std::int64_t value) {
        key(name);
        line_ += std::to_string(value);
        return *this;
    }

    Record& bytes(const char* name, const void* data, std::size_t size) {
        static constexpr char kDigits[] = "0123456789abcdef";
        std::string hex;
        for (std::size_t i = 0; i < size; ++i) {
            const auto byte = static_cast<const unsigned char*>(data)[i];
            hex += {kDigits[byte >> 4], kDigits[byte & 15]};
        }
        return text(name, hex);
    }

    /// Appends the object to the journal file, if there is one, in a single write.
    void write() {
        const std::string path = variable("ASC_STAND_IN_JOURNAL");
        if (path.empty())
            return;
        if (std::FILE* file = std::fopen(path.c_str(), "a")) {
            std::fputs((line_ + "}\n").c_str(), file);
            std::fclose(file);
        }
    }

private:
    void key(const char* name) { line_ += (line_.empty() ? "{\"" : ", \"") + std::string(name) + "\": "; }

    void append_escaped(char c) {
        if (c == '"' || c == '\\') {
            line_ += {'\\', c};
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char buffer[8];
            std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(c));
            line_ += buffer;
        } else {
            line_ += c;
        }
    }

    std::string line_;
};

inline std::string& recent_message() {
    thread_local std::string message;
    return message;
}

inline Code fail(Code code, std::string message) {
    recent_message() = std::move(message);
    return code;
}

/// Returns the code that the test wants `call` to fail with.
inline Code injected(const char* call) {
    const auto code = listed_number(variable("ASC_STAND_IN_FAIL"), call);
    return code ? fail(static_cast<Code>(*code), variable("ASC_STAND_IN_MESSAGE")) : kSuccess;
}

}  // namespace stand_in
