// C interface between kernel objects, host launchers and the emulator runtime (emulator.md sections 1-3).
// Kernel objects and `_native` modules see the runtime through these functions only; every name is
// prefixed `asc_emu_`, so that runtimes of different versions can live in one process.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASC_EMU_ABI_VERSION 1

// One parameter of a kernel: what the payload of deep_jit.md section 7.1 holds at its place.
enum asc_emu_param_kind {
    ASC_EMU_PARAM_INT = 0,
    ASC_EMU_PARAM_UINT = 1,
    ASC_EMU_PARAM_FLOAT = 2,
    ASC_EMU_PARAM_BOOL = 3,
    ASC_EMU_PARAM_POINTER = 4,
    ASC_EMU_PARAM_STRUCT = 5,
};

typedef struct asc_emu_param {
    uint8_t kind;
    uint32_t size;
    uint32_t align;
    const char* type_name;
} asc_emu_param;

typedef struct asc_emu_kernel {
    const char* name;             // expression that names the function in the source
    const void* function;         // its address: `dladdr` gives the mangled name
    void (*thunk)(const void*);   // unpacks a payload and calls the function
    const asc_emu_param* params;
    uint32_t num_params;
    uint8_t num_aic;              // cores of one block: cube (1, 0), vector (0, 1), mix (1, 1) or (1, 2)
    uint8_t num_aiv;
} asc_emu_kernel;

typedef struct asc_emu_kernel_table {
    uint32_t version;             // ASC_EMU_ABI_VERSION
    uint32_t num_kernels;
    const asc_emu_kernel* kernels;
} asc_emu_kernel_table;

// One GM allocation a launch may touch; read_only != 0 marks an input.
typedef struct asc_emu_gm_range {
    const void* base;
    uint64_t bytes;
    uint32_t read_only;
    const char* name;
} asc_emu_gm_range;

typedef struct asc_emu_launch_desc {
    uint32_t struct_bytes;        // sizeof(asc_emu_launch_desc) of the caller
    uint32_t num_blocks;
    uint32_t dynamic_ub_bytes;
    uint32_t timeout_secs;        // 0 = none
    const asc_emu_kernel* kernel;
    const void* payload;
    uint64_t payload_bytes;
    const asc_emu_gm_range* gm_ranges;
    uint32_t num_gm_ranges;
    uint32_t block_stride;        // blocks this far apart share operands: one worker runs them in turn; 0 = none
} asc_emu_launch_desc;

// Runs the kernel to its end on the calling thread and the runtime's workers. 0 = success; otherwise
// asc_emu_last_error() of this thread is a JSON object {"kind", "message", ...}. kinds: "argument",
// "api", "bounds", "deadlock", "timeout", "signal".
int asc_emu_launch(const asc_emu_launch_desc* desc);
const char* asc_emu_last_error(void);

// Process-wide options by name (emulator.md section 3): 0 = taken, -1 = refused (asc_emu_last_error).
int asc_emu_set_option(const char* name, const char* value);
const char* asc_emu_get_option(const char* name);
// JSON description of this build: {"isa", "abi", "numerics", "instructions": [...]}.
const char* asc_emu_describe(void);

// Modelled time (emulator.md section 5) of launches with the option timing = fast or replay.
// JSON of the last one, "" if there was none; *number grows with each, also between runtimes.
const char* asc_emu_timing_profile(uint64_t* number);
// JSON array of the model's constants: {"name", "value", "unit", "source", "meaning"}.
const char* asc_emu_timing_constants(void);
// Writes the trace of the last one. 0 = done, -1 = asc_emu_timing_problem().
int asc_emu_timing_save(const char* path);
// Simulates a trace again ("" = the last one), with shared memory (replay) or without (fast), constants
// replaced by "name=value,...", and, unless spans_path is "", all instructions written to that file.
// Returns JSON as above, or null with asc_emu_timing_problem().
const char* asc_emu_timing_replay(const char* trace_path, int shared, const char* overrides,
                                  const char* spans_path);
const char* asc_emu_timing_problem(void);

// Called from kernels ---------------------------------------------------------------------------

// Gives one instruction to a pipe of the running core; `params` is the instruction's struct.
void asc_emu_issue(uint16_t op, uint8_t pipe, const void* params);
// Registers of the running core (struct asc_emu::Registers).
void* asc_emu_registers(void);
// 1 on a cube core, 0 on a vector core.
int asc_emu_is_aic(void);
uint32_t asc_emu_block_idx(void);
uint32_t asc_emu_block_num(void);
uint32_t asc_emu_sub_block_idx(void);
uint32_t asc_emu_sub_block_num(void);
uint32_t asc_emu_core_id(void);
uint64_t asc_emu_system_cycle(void);   // 1 GHz counter
// Host address of offset 0 of an on-chip memory of the running core (asc_emu::Space).
void* asc_emu_base(int space);
// Host address of an array declared in an on-chip memory. `site` names the declaration: a second
// execution of it gives the same place. Laid out in order of first execution, from offset 0.
void* asc_emu_array(int space, const void* site, uint64_t bytes, uint64_t align);
// Dynamic UB requested at launch, and its host address (behind the arrays of the block).
void* asc_emu_dynamic_ub(void);
// A loop that polls memory tells so: other cores get to run.
void asc_emu_spin_hint(void);
// The running SIMT thread waits for the lanes of its warp that come to the same place; nothing elsewhere.
void asc_emu_simt_meet(const void* site);
// Hint in a loop of a SIMT function that waits for plain memory, which `what` names; not 0: leave the loop.
int asc_emu_simt_plain_wait(const char* what);
// Bit 0: checkers look on, bit 1: the timing model does. Only then: a scalar access to GM around the data cache (kind 0
// load, told after it; 1 store, 2 read-modify-write, told before it), or a write-back of the data cache (3 of the line
// of an address, 4 of all lines). Accesses of vector functions: asc_emu/vector/state.hpp.
extern uint32_t asc_emu_observing;
void asc_emu_scalar_access(const volatile void* address, uint32_t bytes, int kind);
// Ends the kernel with an error of kind "api".
void asc_emu_fail(const char* message);
// A failed assert(): the same in a kernel; returns where none runs, as in a program's host code.
void asc_emu_assertion_failed(const char* condition, const char* file, unsigned line);

#ifdef __cplusplus
}
#endif
