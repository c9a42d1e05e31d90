// Findings about the threads of SIMT functions: bounds, races in UB and GM, and barriers that not all of them reach.
#include "checkers/checker.hpp"

#include <algorithm>
#include <cstdio>

#include "checkers/thread_race.hpp"
#include "launch.hpp"
#include "simt/block.hpp"

namespace asc_emu {
namespace {

constexpr uint16_t kThreadSubject = 210;   // of findings about GM

Place thread_place(const Core& core, const char* role, const char* what, const void* site) {
    return {role, core.block->index, core.slot, Pipe::V, what, site};
}

std::string thread_name(uint3 index) {
    return "thread (" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) + ")";
}

void report_unwritten(Reporter& reporter, const Core& core, uint32_t offset, uint32_t bytes, const void* site) {
    reporter.add("initcheck", 6300, site, nullptr, [&] {
        Finding f;
        f.checker = "initcheck";
        f.memory = "UB";
        f.address = offset;
        f.bytes = bytes;
        f.message = "a thread of a SIMT function reads " + std::to_string(bytes) + " bytes of UB that nothing has written";
        f.fix = "write the bytes first, or keep the thread from reading them";
        f.places.push_back(thread_place(core, "reads", "SIMT thread", site));
        return f;
    });
}

}  // namespace

void Checker::on_thread_access(const Core& core, uint32_t offset, uint32_t bytes, const ThreadAccess& access) {
    if (has(kInitcheck) && !access.write && !state_of(core).init->written_ub(core, offset, offset + bytes))
        report_unwritten(launch_.reporter, core, offset, bytes, access.site);
    if (!has(kRacecheck)) return;
    if (const void* const other = thread_shadow().add(offset, bytes, access))
        report_thread_race(core, "UB", offset, bytes, access, other);
}

void Checker::report_thread_race(const Core& core, const char* memory, uint64_t address, uint64_t bytes,
                                 const ThreadAccess& access, const void* other) {
    const uint32_t subject = 6100u + access.write + (memory[0] == 'G' ? 2 : 0);
    launch_.reporter.add("racecheck", subject, other, access.site, [&] {
        const char* const first = access.write ? "reads" : "writes";
        const char* const second = access.write ? "writes" : "reads";
        Finding f;
        f.checker = "racecheck";
        f.memory = memory;
        f.address = address;
        f.bytes = bytes;
        f.message = std::string("race on ") + memory + ": a thread of a SIMT function " + second +
                    " what a thread of another warp " + first + "; no barrier lies between";
        f.fix = "asc_syncthreads() between the two";
        f.places.push_back(thread_place(core, first, "SIMT thread", other));
        f.places.push_back(thread_place(core, second, "SIMT thread", access.site));
        return f;
    });
}

void Checker::report_ub_bounds(const Core& core, int64_t offset, uint64_t bytes, const ThreadAccess& access) {
    const char* const does = access.write ? "writes" : "reads";
    const std::string message = thread_name(running_simt()->index()) + " of a SIMT function " + does + " UB bytes [" +
                                std::to_string(offset) + ", " +
                                std::to_string(offset + static_cast<int64_t>(bytes)) + "), but UB has " +
                                std::to_string(kSpaceBytes[static_cast<size_t>(Space::ub)]) + " bytes";
    launch_.reporter.add("memcheck", 6400u + access.write, access.site, nullptr, [&] {
        Finding f;
        f.checker = "memcheck";
        f.memory = "UB";
        f.address = static_cast<uint64_t>(offset);
        f.bytes = bytes;
        f.message = message;
        f.fix = "keep the thread from the access: compare its index with the size of the array";
        f.places.push_back(thread_place(core, does, "SIMT thread", access.site));
        return f;
    });
    throw KernelError{make_report("bounds", message, &core, "SIMT thread", access.site)};
}

void Checker::on_misaligned(const Core& core, uint64_t address, uint64_t bytes, const ThreadAccess& access) {
    const uint64_t offset = address - reinterpret_cast<uintptr_t>(core.at(Space::ub, 0));
    const bool in_ub = offset < kSpaceBytes[static_cast<size_t>(Space::ub)];
    if (!has(kMemcheck) || (!in_ub && running_simt()->owns(address))) return;
    const uint64_t align = std::min<uint64_t>(bytes, 8), rest = address % align;
    const char* const memory = in_ub ? "UB" : "GM";
    const char* const does = access.write ? "writes" : "reads";
    const std::string message = thread_name(running_simt()->index()) + " of a SIMT function " + does + " " +
                                std::to_string(bytes) + " bytes at " + memory + " address " +
                                std::to_string(in_ub ? offset : address) + ", allowed are multiples of " +
                                std::to_string(align) + " (it is " + std::to_string(rest) + " above one)";
    launch_.reporter.add("memcheck", 6410u + access.write + (in_ub ? 0 : 2), access.site, nullptr, [&] {
        Finding f;
        f.checker = "memcheck";
        f.memory = memory;
        f.address = in_ub ? offset : address;
        f.bytes = bytes;
        f.message = message;
        f.fix = "align the address, or move the value by bytes";
        f.places.push_back(thread_place(core, does, "SIMT thread", access.site));
        return f;
    });
    if (!launch_.options.report_bounds)
        throw KernelError{make_report("alignment", message, &core, "SIMT thread", access.site)};
}

void Checker::on_thread_memory(const Core& core, uint64_t address, uint64_t bytes, const ThreadAccess& access) {
    const auto offset = static_cast<int64_t>(address - reinterpret_cast<uintptr_t>(core.at(Space::ub, 0)));
    constexpr int64_t kMiB = 1 << 20;   // on-chip memories lie at such distances
    if (offset > -kMiB && offset < kMiB) {
        if (has(kMemcheck)) report_ub_bounds(core, offset, bytes, access);
        return;
    }
    const uint64_t end = address + bytes;
    const GmRange* const range = ranges_.known() ? ranges_.find(address, end) : nullptr;
    if (!range && running_simt()->owns(address)) return;
    const char* const name = "SIMT thread";
    if (has(kMemcheck) && !check_gm(core, Pipe::V, kThreadSubject, name, access.site, access.write, address, end) &&
        !range)
        // NOTE: a plain load or store cannot be left out.
        throw KernelError{make_report("bounds", "a SIMT thread's access to GM is out of bounds", &core, name,
                                      access.site)};
    if (!has(kRacecheck) || (range && range->read_only)) return;
    if (const void* const other = thread_shadow().add_global(address, bytes, access))
        report_thread_race(core, "GM", address, bytes, access, other);
    BlockState& s = state_of(core);
    const auto kind = access.write ? ScalarAccess::store : ScalarAccess::load;
    Agent& agent = access.atomic ? s.sync.step(core, Pipe::V) : s.sync.agent(core, Pipe::V);
    if (access.atomic) hand_over(s, core, Pipe::V, agent, kind, address);
    race_.global(s.gm_cache, {core, Pipe::V, static_cast<uint16_t>(Op::SimtFunction), access.site, agent,
                              agent_of(core.slot, Pipe::V)}, access.write, access.atomic, address, end);
    if (access.atomic) s.sync.step(core, Pipe::V);
}

void Checker::on_divergent_barrier(const Core& core, const void* first, const void* second, uint32_t waiting,
                                   uint32_t total) {
    if (!has(kSynccheck)) return;
    launch_.reporter.add("synccheck", 6200, first, second, [&] {
        Finding f;
        f.checker = "synccheck";
        f.fix = "let every thread of the block come to the same asc_syncthreads(): move it out of the condition";
        f.places.push_back(thread_place(core, "waits", "asc_syncthreads", first));
        if (second) {
            f.message = "divergent barrier: threads of one SIMT function wait at two different ones";
            f.places.push_back(thread_place(core, "waits", "asc_syncthreads", second));
        } else {
            f.severity = Severity::warning;
            f.message = "divergent barrier: " + std::to_string(waiting) + " of " + std::to_string(total) +
                        " threads of a SIMT function wait at it, the others have ended";
        }
        return f;
    });
}

void Checker::on_wait_in_vain(const Core& core, const char* what, const void* site) {
    if (!has(kSynccheck)) return;
    launch_.reporter.add("synccheck", 6220, site, nullptr, [&] {
        Finding f;
        f.checker = "synccheck";
        f.severity = Severity::warning;
        f.message = std::string("a thread waits in vain: `") + what + "` reads memory that is not volatile, and the "
                    "lanes of its warp that could change it wait for the thread; a device whose compiler keeps the "
                    "loop hangs here, one whose compiler takes it to end goes on, as was done now";
        f.fix = "let the lanes that wait for each other meet before the loop, or drop the loop";
        f.places.push_back(thread_place(core, "waits", "SIMT thread", site));
        return f;
    });
}

void Checker::on_stray_shuffle(const Core& core, const void* site, uint32_t lanes, uint32_t active) {
    if (!has(kSynccheck)) return;
    launch_.reporter.add("synccheck", 6210, site, nullptr, [&] {
        char masks[64];
        std::snprintf(masks, sizeof(masks), "0x%08x read, 0x%08x take part", lanes, active);
        Finding f;
        f.checker = "synccheck";
        f.severity = Severity::warning;
        f.message = "a shuffle reads lanes that take no part in it; their values are undefined (lanes: " +
                    std::string(masks) + ")";
        f.fix = "let all lanes it reads come to the shuffle, or give it a smaller width or distance";
        f.places.push_back(thread_place(core, "reads", "warp shuffle", site));
        return f;
    });
}

}  // namespace asc_emu
