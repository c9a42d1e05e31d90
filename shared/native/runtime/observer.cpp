// Several observers behind one pointer (emulator.md sections 4 and 5).
#include "observer.hpp"

#include <algorithm>
#include <vector>

namespace asc_emu {

Observer* g_observer = nullptr;

namespace {

class Fan : public Observer {
public:
    void on_launch(const Launch& launch) override {
        for (Observer* o : observers) o->on_launch(launch);
    }
    void on_block(Block& block) override {
        for (Observer* o : observers) o->on_block(block);
    }
    bool permits(const Core& core, const Command& c, const OpInfo& info, const AccessList& list) override {
        for (Observer* o : observers)
            if (!o->permits(core, c, info, list)) return false;
        return true;
    }
    void on_issue(const Core& core, const Command& c, const OpInfo& info, const AccessList& list) override {
        for (Observer* o : observers) o->on_issue(core, c, info, list);
    }
    void on_execute(const Core& core, const Command& c, const OpInfo& info) override {
        for (Observer* o : observers) o->on_execute(core, c, info);
    }
    void on_vector_access(const Core& core, uint32_t offset, uint32_t bytes, bool write,
                          const void* site) override {
        for (Observer* o : observers) o->on_vector_access(core, offset, bytes, write, site);
    }
    void on_function_access(const Core& core, const OrderedAccess& access) override {
        for (Observer* o : observers) o->on_function_access(core, access);
    }
    void on_function_end(const Core& core) override {
        for (Observer* o : observers) o->on_function_end(core);
    }
    void on_vector_time(const Core& core, const timing::VectorTime& time) override {
        for (Observer* o : observers) o->on_vector_time(core, time);
    }
    void on_vector_work(const Core& core, const timing::VectorTime& time) override {
        for (Observer* o : observers) o->on_vector_work(core, time);
    }
    void on_scalar_access(const Core& core, ScalarAccess kind, uint64_t address, uint32_t bytes,
                          const void* site) override {
        for (Observer* o : observers) o->on_scalar_access(core, kind, address, bytes, site);
    }
    void on_plain_access(const Core& core, uint64_t address, uint64_t bytes, bool write, bool polling,
                         const void* site) override {
        for (Observer* o : observers) o->on_plain_access(core, address, bytes, write, polling, site);
    }
    void on_thread_access(const Core& core, uint32_t offset, uint32_t bytes, const ThreadAccess& access) override {
        for (Observer* o : observers) o->on_thread_access(core, offset, bytes, access);
    }
    void on_stray_shuffle(const Core& core, const void* site, uint32_t lanes, uint32_t active) override {
        for (Observer* o : observers) o->on_stray_shuffle(core, site, lanes, active);
    }
    void on_wait_in_vain(const Core& core, const char* what, const void* site) override {
        for (Observer* o : observers) o->on_wait_in_vain(core, what, site);
    }
    void on_misaligned(const Core& core, uint64_t address, uint64_t bytes, const ThreadAccess& access) override {
        for (Observer* o : observers) o->on_misaligned(core, address, bytes, access);
    }
    void on_thread_memory(const Core& core, uint64_t address, uint64_t bytes, const ThreadAccess& access) override {
        for (Observer* o : observers) o->on_thread_memory(core, address, bytes, access);
    }
    void on_divergent_barrier(const Core& core, const void* first, const void* second, uint32_t waiting,
                              uint32_t total) override {
        for (Observer* o : observers) o->on_divergent_barrier(core, first, second, waiting, total);
    }
    void on_deadlock(const std::vector<Block*>& blocks) override {
        for (Observer* o : observers) o->on_deadlock(blocks);
    }
    void on_wrong_core(const Core& core, const OpInfo& info, const void* site) override {
        for (Observer* o : observers) o->on_wrong_core(core, info, site);
    }
    void on_block_end(Block& block) override {
        for (Observer* o : observers) o->on_block_end(block);
    }
    void on_finish(const Launch& launch) override {
        for (Observer* o : observers) o->on_finish(launch);
    }

    std::vector<Observer*> observers;
};

// Leaked: worker threads may outlive static destructors.
Fan& fan() {
    static Fan* const instance = new Fan;
    return *instance;
}

void choose() {
    auto& all = fan().observers;
    g_observer = all.empty() ? nullptr : all.size() == 1 ? all.front() : &fan();
}

}  // namespace

void add_observer(Observer& observer) {
    fan().observers.push_back(&observer);
    choose();
}

void remove_observer(Observer& observer) {
    auto& all = fan().observers;
    all.erase(std::remove(all.begin(), all.end(), &observer), all.end());
    choose();
}

}  // namespace asc_emu
