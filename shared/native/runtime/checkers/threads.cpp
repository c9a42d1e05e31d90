// Findings about the threads of SIMT functions: races in UB, and barriers that not all of them reach.
#include "checkers/checker.hpp"
#include "checkers/thread_race.hpp"
#include "launch.hpp"

namespace asc_emu {
namespace {

Place thread_place(const Core& core, const char* role, const char* what, const void* site) {
    return {role, core.block->index, core.slot, Pipe::V, what, site};
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
    const void* const other = thread_shadow().add(offset, bytes, access);
    if (!other) return;
    launch_.reporter.add("racecheck", 6100u + access.write, other, access.site, [&] {
        const char* const first = access.write ? "reads" : "writes";
        const char* const second = access.write ? "writes" : "reads";
        Finding f;
        f.checker = "racecheck";
        f.memory = "UB";
        f.address = offset;
        f.bytes = bytes;
        f.message = std::string("race on UB: a thread of a SIMT function ") + second + " what a thread of another warp " +
                    first + "; no barrier lies between";
        f.fix = "asc_syncthreads() between the two";
        f.places.push_back(thread_place(core, first, "SIMT thread", other));
        f.places.push_back(thread_place(core, second, "SIMT thread", access.site));
        return f;
    });
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

}  // namespace asc_emu
