// Traces on disk. All numbers little endian, as in memory of every host this runs on:
//     "ASCTRC01"                                       8 bytes
//     u32 num_blocks, num_aic, num_aiv, num_cores
//     text kernel, text object                         text = u32 length, bytes
//     u32 number of instruction names, then that many texts
//     u32 number of core traces, then for each:
//         u32 block, u32 slot (0 AIC, 1 AIV0, 2 AIV1), u64 flops, u64 num_records, u64 num_gm
//         num_records * 32 bytes (Record), num_gm * 64 bytes (GmShape)
#include <cstdio>
#include <cstring>
#include <memory>

#include "timing/trace.hpp"

namespace asc_emu::timing {
namespace {

constexpr char kMagic[] = "ASCTRC01";
constexpr uint64_t kMostItems = 1ull << 32;   // a damaged file must not ask for all memory

struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

class Writer {
public:
    explicit Writer(std::FILE* file) : file_(file) {}
    void bytes(const void* data, size_t size) { good_ &= std::fwrite(data, 1, size, file_) == size; }
    template <class T>
    void number(T value) { bytes(&value, sizeof(value)); }
    void text(const std::string& s) {
        number(static_cast<uint32_t>(s.size()));
        bytes(s.data(), s.size());
    }
    template <class T>
    void items(const std::vector<T>& v) { bytes(v.data(), v.size() * sizeof(T)); }
    bool good() const { return good_; }

private:
    std::FILE* file_;
    bool good_ = true;
};

class Reader {
public:
    explicit Reader(std::FILE* file) : file_(file) {}
    void bytes(void* data, size_t size) { good_ = good_ && std::fread(data, 1, size, file_) == size; }
    template <class T>
    T number() {
        T value{};
        bytes(&value, sizeof(value));
        return good_ ? value : T{};
    }
    std::string text() {
        const uint32_t size = number<uint32_t>();
        if (size > 1u << 20) good_ = false;
        std::string s(good_ ? size : 0, '\0');
        bytes(s.data(), s.size());
        return s;
    }
    template <class T>
    void items(std::vector<T>& v, uint64_t count) {
        // NOTE: in pieces, so that a wrong count ends at the end of the file.
        constexpr uint64_t kPiece = 1u << 16;
        if (count > kMostItems) good_ = false;
        for (uint64_t at = 0; good_ && at < count; at += kPiece) {
            const uint64_t n = count - at < kPiece ? count - at : kPiece;
            v.resize(at + n);
            bytes(v.data() + at, n * sizeof(T));
        }
    }
    bool good() const { return good_; }
    void refuse() { good_ = false; }

private:
    std::FILE* file_;
    bool good_ = true;
};

bool valid(const CoreTrace& core, const LaunchTrace& trace) {
    if (static_cast<uint8_t>(core.slot) > 2 || core.block >= trace.num_blocks) return false;
    for (const Record& r : core.records)
        if (r.kind > Kind::wait_fill || r.pipe > Pipe::all || r.gm > core.gm.size() ||
            r.op >= trace.op_names.size() || r.value >= 1u << 31)
            return false;
    return true;
}

}  // namespace

std::string save_trace(const LaunchTrace& trace, const std::string& path) {
    const File file(std::fopen(path.c_str(), "wb"));
    if (!file) return "cannot write " + path + ": " + std::strerror(errno);
    Writer out(file.get());
    out.bytes(kMagic, 8);
    for (uint32_t n : {trace.num_blocks, trace.num_aic, trace.num_aiv, trace.num_cores}) out.number(n);
    out.text(trace.kernel);
    out.text(trace.object);
    out.number(static_cast<uint32_t>(trace.op_names.size()));
    for (const std::string& name : trace.op_names) out.text(name);
    out.number(static_cast<uint32_t>(trace.cores.size()));
    for (const CoreTrace& core : trace.cores) {
        out.number(core.block);
        out.number(static_cast<uint32_t>(core.slot));
        out.number(core.flops);
        out.number(static_cast<uint64_t>(core.records.size()));
        out.number(static_cast<uint64_t>(core.gm.size()));
        out.items(core.records);
        out.items(core.gm);
    }
    if (!out.good() || std::fflush(file.get()) != 0) return "cannot write " + path + ": " + std::strerror(errno);
    return "";
}

std::string load_trace(LaunchTrace& trace, const std::string& path) {
    const File file(std::fopen(path.c_str(), "rb"));
    if (!file) return "cannot read " + path + ": " + std::strerror(errno);
    Reader in(file.get());
    char magic[8] = {};
    in.bytes(magic, 8);
    if (!in.good() || std::memcmp(magic, kMagic, 8) != 0)
        return path + " is no trace of this version; record it again with timing=replay";
    for (uint32_t* n : {&trace.num_blocks, &trace.num_aic, &trace.num_aiv, &trace.num_cores})
        *n = in.number<uint32_t>();
    trace.kernel = in.text();
    trace.object = in.text();
    const uint32_t num_names = in.number<uint32_t>();
    for (uint32_t i = 0; in.good() && i < num_names; ++i) trace.op_names.push_back(in.text());
    const uint32_t num_cores = in.number<uint32_t>();
    for (uint32_t i = 0; in.good() && i < num_cores; ++i) {
        CoreTrace core;
        core.block = in.number<uint32_t>();
        core.slot = static_cast<CoreSlot>(in.number<uint32_t>());
        core.flops = in.number<uint64_t>();
        const uint64_t num_records = in.number<uint64_t>(), num_gm = in.number<uint64_t>();
        in.items(core.records, num_records);
        in.items(core.gm, num_gm);
        if (!valid(core, trace)) in.refuse();
        trace.cores.push_back(std::move(core));
    }
    if (trace.num_cores == 0 || trace.num_blocks == 0) in.refuse();
    return in.good() ? "" : path + " is damaged or cut off; record it again with timing=replay";
}

}  // namespace asc_emu::timing
