// vdpbf16ps and AMX engines of fast mode, see fast_units.hpp.
//
// Both read subnormals as zero and flush subnormal results; mmad.cpp keeps such operands away.
#include "fast_units.hpp"

#include "isa.hpp"

// ASC_EMU_FORCE_BF16_DOT builds a runtime that uses vdpbf16ps wherever it exists, for tests.
#if defined(__AMX_BF16__) && defined(__linux__) && !defined(ASC_EMU_FORCE_BF16_DOT)
#define ASC_EMU_HAS_AMX 1
#include "amx_engine.hpp"
#elif defined(__AVX512BF16__) && !defined(ASC_EMU_ISA_GENERIC)
#define ASC_EMU_HAS_BF16_DOT 1
#include "tile_engine.hpp"
#endif

namespace asc_emu::numerics {
namespace {

#ifdef ASC_EMU_HAS_BF16_DOT
struct MultiplyPairs {
    static isa::Float apply(isa::Float a, isa::Float b, isa::Float c) {
        return _mm512_dpbf16_ps(c, (__m512bh)a, (__m512bh)b);
    }
};

// NOTE: Intel cores issue one vdpbf16ps every two cycles (Sapphire Rapids: 88 GFLOP/s against 175
// with fp32 FMA); AMD Zen 4 and later issue one a cycle, twice the fp32 rate.
bool bf16_dot_pays() {
#ifdef ASC_EMU_FORCE_BF16_DOT
    return true;
#else
    return __builtin_cpu_is("amd");
#endif
}
#endif

FastUnit choose_unit() {
#ifdef ASC_EMU_HAS_AMX
    if (amx_permitted()) return FastUnit::amx;
#endif
#ifdef ASC_EMU_HAS_BF16_DOT
    if (bf16_dot_pays()) return FastUnit::bf16_dot;
#endif
    return FastUnit::none;
}

}  // namespace

FastUnit fast_unit() {
    static const FastUnit unit = choose_unit();
    return unit;
}

void multiply_fast([[maybe_unused]] std::span<const PairProduct> products,
                   [[maybe_unused]] const Columns& columns) {
#ifdef ASC_EMU_HAS_AMX
    multiply_amx(products, columns);
#endif
#ifdef ASC_EMU_HAS_BF16_DOT
    Columns rest = columns;
    for (const PairProduct& product : products) {
        rest.num_steps = product.num_steps;
        auto part = [&](uint32_t block, uint32_t, uint32_t step, uint32_t) {
            return product.b.at(block, step);
        };
        multiply_tiles<MultiplyPairs>(product.a, part, rest);
        rest.init = rest.c;
        rest.init_row = 16;
        rest.init_block = rest.c_block;
    }
#endif
}

}  // namespace asc_emu::numerics
