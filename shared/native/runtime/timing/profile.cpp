// Profiles as JSON, for Python.
#include "timing/profile.hpp"

#include "launch.hpp"

namespace asc_emu::timing {
namespace {

std::string field(const char* name, double value) {
    return std::string(", \"") + name + "\": " + json_number(value);
}

std::string pipes(const double (&values)[kNumPipes]) {
    std::string out = "{";
    for (size_t p = 0; p < kNumPipes; ++p)
        out += (p ? ", " : "") + json_quote(pipe_name(static_cast<Pipe>(p))) + ": " + json_number(values[p]);
    return out + "}";
}

std::string sites(const std::map<uint32_t, double>& values) {
    std::string out;
    for (const auto& [site, value] : values)
        out += (out.empty() ? "" : ", ") + json_quote(std::to_string(site)) + ": " + json_number(value);
    return "{" + out + "}";
}

}  // namespace

std::string Profile::json() const {
    return "{\"kernel\": " + json_quote(kernel) + ", \"object\": " + json_quote(object) +
           ", \"bank_conflict_cycles\": " + sites(bank_conflicts) + ", \"mode\": " + json_quote(mode) + field("num_blocks", num_blocks) +
           field("num_aic", num_aic) + field("num_aiv", num_aiv) + field("num_cores", num_cores) +
           ", \"complete\": " + (complete ? "true" : "false") + field("cycles", cycles) +
           field("clock_mhz", clock_mhz) + field("launch_us", launch_us) + field("duration_us", duration_us) +
           field("flops", flops) + field("gm_read_bytes", gm_read) + field("gm_write_bytes", gm_write) +
           field("hbm_read_bytes", memory.hbm_read) + field("l2_read_bytes", memory.l2_read) +
           field("hbm_cycles", memory.hbm_time) + field("l2_cycles", memory.l2_time) +
           field("cube_cores_used", cores_used[0]) + field("vector_cores_used", cores_used[1]) +
           ", \"cube_busy\": " + pipes(busy[0]) + ", \"vector_busy\": " + pipes(busy[1]) +
           ", \"cube_most_busy\": " + pipes(most_busy[0]) + ", \"vector_most_busy\": " + pipes(most_busy[1]) + "}";
}

}  // namespace asc_emu::timing
