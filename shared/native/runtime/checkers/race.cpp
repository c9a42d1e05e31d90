// The happens-before check.
#include "checkers/race.hpp"

#include <bit>

#include "op_table.hpp"

namespace asc_emu {
namespace {

static_assert(static_cast<size_t>(Op::count) < 128, "cells keep the instruction in 7 bits");

// Whether the scalar unit's own instruction of that time is known to be complete.
bool knows_scalar(const Accessor& who, const GmCell& old) {
    const uint8_t scalar = agent_of(slot_of(old.agent), Pipe::S);
    if (old.block == who.core.block->index) return who.agent.clock.time[scalar] >= old.time;
    const Times* const known = who.agent.clock.world ? who.agent.clock.world->find(old.block) : nullptr;
    return known && (*known)[scalar] >= old.time;
}

bool ordered(const Accessor& who, uint32_t agent, uint32_t time) {
    if (who.agent.clock.time[agent] >= time) return true;
    return agent == who.id && time == who.agent.now;   // the same instruction
}

// Hand-over by unit flags: the blocks were raised after the write, or cleared after the read.
bool handed_over(SyncState& sync, const Accessor& who, const Cell& old, uint64_t start, uint64_t mask) {
    constexpr uint32_t kUnits = kUnitFlagBytes / granule_size(Region::l0c).unit;
    const Pipe from = pipe_of(old.agent);
    for (uint32_t block = 0; block < 64 / kUnits; ++block) {
        if (!(mask >> (block * kUnits) & ((1u << kUnits) - 1))) continue;
        const auto& unit = sync.unit(static_cast<uint32_t>(start / kUnitFlagBytes) + block);
        if (who.pipe == Pipe::FIX && from == Pipe::M && old.time <= unit.raised) continue;
        if (who.pipe == Pipe::M && from == Pipe::FIX && old.time <= unit.cleared) continue;
        return false;
    }
    return true;
}

const char* name_of(uint32_t op) {
    const char* name = op < static_cast<size_t>(Op::count) ? g_op_table[op].name : nullptr;
    return name ? name : "scalar access";
}

std::string who_text(const char* name, CoreSlot core, Pipe pipe, uint32_t block) {
    return std::string(name) + " on " + core_name(core) + " " + pipe_name(pipe) + " of block " +
           std::to_string(block);
}

std::string fix_for(const Accessor& who, uint32_t block, CoreSlot core, Pipe pipe) {
    const std::string from = pipe_name(pipe), to = pipe_name(who.pipe);
    if (block != who.core.block->index)
        return "give the blocks disjoint parts, use atomics, or let all cores meet in between "
               "(asc_sync_inter_arrive after the first, asc_sync_inter_wait before the second)";
    if (core != who.core.slot)
        return "asc_sync_intra_arrive on " + from + " of " + core_name(core) +
               " after the first, asc_sync_intra_wait on " + to + " of " + core_name(who.core.slot) +
               " before the second";
    if (pipe == who.pipe)
        return "asc_sync_pipe(PIPE_" + from + ") between the two, or a flag to another pipe and back";
    return "notify " + from + "->" + to + " after the first, wait for it before the second";
}

}  // namespace

int32_t RaceCheck::relative(const void* site) const {
    const auto distance = static_cast<const char*>(site) - static_cast<const char*>(entry_);
    return distance == static_cast<int32_t>(distance) ? static_cast<int32_t>(distance) : 0;
}

void RaceCheck::report(const Accessor& who, bool write, const Other& other, const char* memory,
                       uint32_t subject, uint64_t address, uint64_t bytes) {
    const void* first = other.site ? static_cast<const char*>(entry_) + other.site : nullptr;
    reporter_.add("racecheck", subject, first, who.site, [&] {
        const CoreSlot core = slot_of(other.agent);
        const Pipe pipe = pipe_of(other.agent);
        const char* first_name = name_of(other.op);
        const char* second_name = name_of(who.op);
        const uint32_t block = who.core.block->index;
        Finding f;
        f.checker = "racecheck";
        f.memory = memory;
        f.address = address;
        f.bytes = bytes;
        f.message = std::string("race on ") + memory + ": " +
                    who_text(second_name, who.core.slot, who.pipe, block) + (write ? " writes" : " reads") +
                    " what " + who_text(first_name, core, pipe, other.block) +
                    (other.write ? " writes" : " reads") +
                    (other.in_cache ? "; the store may still be in the scalar unit's data cache"
                                    : "; nothing orders the two");
        f.fix = other.in_cache ? "call asc_dcci_single() with the address after the store, before what orders the two"
                               : fix_for(who, other.block, core, pipe);
        f.places.push_back({other.write ? "writes" : "reads", other.block, core, pipe, first_name, first});
        f.places.push_back({write ? "writes" : "reads", block, who.core.slot, who.pipe, second_name, who.site});
        return f;
    });
}

void RaceCheck::on_chip(Shadow& shadow, SyncState& sync, const Accessor& who, Region region, bool write,
                        uint64_t low, uint64_t high) {
    Cell now{0, who.agent.now, relative(who.site), who.id, static_cast<uint8_t>(who.op)};
    const uint32_t unit = granule_size(region).unit;
    const auto check = [&](const Cell& old, bool old_write, uint64_t both, uint64_t start) {
        if (ordered(who, old.agent, old.time)) return;
        // NOTE: MTE1 waits for fills issued before it (ascend_c_cube.md section 3).
        if (old_write && old.op == static_cast<uint8_t>(Op::FillL1) && who.pipe == Pipe::MTE1) return;
        if (who.unit_flag && region == Region::l0c && handed_over(sync, who, old, start, both)) return;
        report(who, write, {who.core.block->index, old.agent, old.op, old.site, old_write},
               space_name(space_of(region)), static_cast<uint32_t>(region) * 4 + write * 2 + old_write,
               start + static_cast<uint64_t>(std::countr_zero(both)) * unit,
               static_cast<uint64_t>(std::popcount(both)) * unit);
    };
    shadow.for_each(region, low, high, [&](Granule& g, uint64_t mask, uint64_t start) {
        now.mask = mask;
        for (Cell& w : g.writes) {
            if (const uint64_t both = w.mask & mask) {
                check(w, true, both, start);
                if (write) w.mask &= ~mask;
            }
        }
        if (!write) return remember(g.reads, now);
        for (Cell& r : g.reads) {
            if (const uint64_t both = r.mask & mask) {
                check(r, false, both, start);
                r.mask &= ~mask;
            }
        }
        remember(g.writes, now);
    });
}

void RaceCheck::global(GmShadow::Cache& cache, const Accessor& who, bool write, bool atomic, uint64_t low,
                       uint64_t high) {
    const uint32_t block = who.core.block->index;
    const GmCell cell{0, who.agent.now, relative(who.site), static_cast<uint16_t>(block), who.id,
                      static_cast<uint8_t>(who.op & 127), atomic};
    const auto check = [&](const GmCell& old, bool old_write, uint64_t mask, uint64_t start) {
        if (atomic && old.atomic) return;
        if (old.block == block) {
            if (ordered(who, old.agent, old.time)) return;
            // A scalar unit does one thing after the other, and reads from its own cache.
            if (who.pipe == Pipe::S && pipe_of(old.agent) == Pipe::S && slot_of(old.agent) == who.core.slot) return;
        } else if (who.agent.clock.world) {
            const Times* known = who.agent.clock.world->find(old.block);
            if (known && (*known)[old.agent] >= old.time) return;
        }
        const uint64_t both = old.mask & mask;
        const bool in_cache = is_cache(old.agent) && knows_scalar(who, old);
        report(who, write, {old.block, old.agent, old.op, old.site, old_write, in_cache}, "GM",
               1000u + in_cache * 4u + write * 2u + old_write, start + static_cast<uint64_t>(std::countr_zero(both)),
               static_cast<uint64_t>(std::popcount(both)));
    };
    gm_.for_each(cache, low, high, !write, [&](GmCells& writes, GmCells* reads, uint64_t mask, uint64_t start) {
        GmCell now = cell;
        now.mask = mask;
        for (GmCell& w : writes.cells) {
            if (!(w.mask & mask)) continue;
            check(w, true, mask, start);
            if (write) w.mask &= ~mask;
        }
        if (!write) return remember(reads->cells, now);
        if (reads)
            for (GmCell& r : reads->cells) {
                if (!(r.mask & mask)) continue;
                check(r, false, mask, start);
                r.mask &= ~mask;
            }
        remember(writes.cells, now);
    });
}

void RaceCheck::clean(GmShadow::Cache& cache, const Accessor& who, uint64_t low, uint64_t high) {
    gm_.for_each(cache, low, high, false, [&](GmCells& writes, GmCells*, uint64_t, uint64_t) {
        for (GmCell& w : writes.cells) {
            if (w.mask == 0 || w.agent != cache_of(who.core.slot) || w.block != who.core.block->index) continue;
            w.agent = who.id;
            w.time = who.agent.now;
        }
    });
}

}  // namespace asc_emu
