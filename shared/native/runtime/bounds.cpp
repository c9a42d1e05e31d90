// Bounds and alignment.
#include "bounds.hpp"

#include "launch.hpp"

namespace asc_emu {
namespace {

struct Problem {
    std::string message, fix;
};

bool is_good(const Access& a) {
    const auto [low, high] = a.span();
    if (a.space == Space::gm) return low >= 4096;
    return low >= 0 && high <= kSpaceBytes[static_cast<size_t>(a.space)] && a.address % a.align == 0;
}

// What is wrong with an access that is not good.
Problem problem_of(const OpInfo& info, const Access& a) {
    const auto [low, high] = a.span();
    const char* space = space_name(a.space);
    const int64_t size = kSpaceBytes[static_cast<size_t>(a.space)];
    if (a.space == Space::gm)
        return {std::string(info.name) + ": GM address " + std::to_string(low) + " is in the null page",
                "pass the address of a tensor"};
    if (low < 0 || high > size)
        return {std::string(info.name) + (a.write ? ": writes " : ": reads ") + space + " bytes [" + std::to_string(low) + ", " +
                    std::to_string(high) + "), but " + space + " has " + std::to_string(size) + " bytes",
                "use smaller sizes, strides or a lower address"};
    return {std::string(info.name) + ": " + space + " address " + std::to_string(a.address) +
                " must be a multiple of " + std::to_string(a.align) + " bytes",
            "move the buffer"};
}

void note(const Core& core, const Command& c, const OpInfo& info, const Access& a, const Problem& problem) {
    const auto subject = 100u + static_cast<uint32_t>(a.space) * 2 + a.write;
    core.block->launch->reporter.add("memcheck", subject, c.site, nullptr, [&] {
        Finding f;
        f.checker = "memcheck";
        f.message = problem.message;
        f.fix = problem.fix;
        f.memory = space_name(a.space);
        f.address = a.address;
        f.bytes = static_cast<uint64_t>(a.span().second - a.span().first);
        f.places.push_back({a.write ? "writes" : "reads", core.block->index, core.slot, c.pipe, info.name, c.site});
        return f;
    });
}

}  // namespace

bool within_bounds(const Core& core, const Command& c, const OpInfo& info, const AccessList& list) {
    for (const Access& a : list) {
        if (a.empty() || is_good(a)) continue;
        const Problem problem = problem_of(info, a);
        const Options& options = core.block->launch->options;
        if (options.report_bounds || options.checks) note(core, c, info, a, problem);
        if (options.report_bounds) return false;
        throw KernelError{make_report("bounds", problem.message + "; " + problem.fix, &core, info.name, c.site)};
    }
    return true;
}

}  // namespace asc_emu
