// Packing of mmad operands, see pack.hpp.
#include "pack.hpp"

#include <type_traits>

#include "isa.hpp"

namespace asc_emu::numerics {
namespace {

constexpr int kLanes = isa::kLanes;
using Word = Lanes<kLanes>::Word;
using PairHalves = Lanes<2 * kLanes>::Half;
using Halves = Lanes<kLanes == 4 ? 8 : 16>::Half;  // of one 32-byte piece

// Some rows of A.
struct RowPart {
    uint32_t first, end;
};

// NOTE: rows far apart lie in few sets of the first-level cache and in pages of their own: all of K of a few of them
// is read before they leave it.
constexpr uint32_t kFarRows = 16;
uint32_t rows_at_once(const OperandView& view) {
    return view.row_pitch == kPieceBytes ? view.rows : kFarRows;
}

// Asks for the first lines of rows: the core would otherwise wait for few of them at a time.
void ask_for_rows(const OperandView& view, RowPart rows) {
    if (view.pitch != kPieceBytes) return;
    const uint32_t row_bytes = std::min(view.k * element_bits(view.type) / 8, 256u);
    for (uint32_t row = rows.first; row < rows.end; ++row) {
        const uint8_t* from = view.at(row, 0);
        for (uint32_t at = 0; at < row_bytes; at += 64) __builtin_prefetch(from + at);
    }
}

// Lanes of one load: within a 32-byte piece.
template <class Decoder>
constexpr int kGroup = Decoder::kBits == 32 && kLanes > 8 ? 8 : kLanes;

// bf16 needs no decoding to become bf16 pairs.
template <class Decoder, bool kPairs>
constexpr bool kCopied = kPairs && std::is_same_v<Decoder, DecodeBf16>;

// The exact kernels of an ISA with fused instructions only ask for Inf and NaN.
template <class Vector, bool kPairs>
using Gatherer = RangeGatherer<Vector, kPairs || !isa::kFused>;

// All ones in the first `count` lanes.
template <int N>
typename Lanes<N>::Word first_lanes(uint32_t count) {
    return bits_as<typename Lanes<N>::Word>(lane_index<N>() < int32_t(count));
}

// Eight 4-bit codes to eight bytes, in order.
inline uint64_t spread_nibbles(uint32_t codes) {
    uint64_t x = codes;
    x = (x | x << 16) & 0x0000ffff0000ffffu;
    x = (x | x << 8) & 0x00ff00ff00ff00ffu;
    return (x | x << 4) & 0x0f0f0f0f0f0f0f0fu;
}

// The codes of a group of consecutive elements of a row.
template <class Decoder>
auto load_codes(const uint8_t* from) {
    constexpr uint32_t kBits = Decoder::kBits;
    if constexpr (kBits == 32) {
        return load<typename Lanes<kGroup<Decoder>>::Word>(from);
    } else if constexpr (kBits == 16) {
        return isa::widen_halves(from);
    } else if constexpr (kBits == 8) {
        return isa::widen_bytes(from);
    } else if constexpr (kLanes == 4) {
        const uint64_t bytes = spread_nibbles(load<uint16_t>(from));
        return isa::widen_bytes(&bytes);
    } else {
        uint64_t bytes[kLanes / 8];
        for (int i = 0; i < kLanes / 8; ++i) {
            bytes[i] = spread_nibbles(load<uint32_t>(from + 4 * i));
        }
        return isa::widen_bytes(bytes);
    }
}

// N elements of some rows from k0 on, as floats or as halves of pairs, 64 bytes a row.
template <class Decoder, bool kPairs>
void pack_row_group(const OperandView& view, bool scaled, RowPart rows, uint32_t k0, uint8_t* to,
                    Gatherer<typename Lanes<kGroup<Decoder>>::Word, kPairs>& gatherer) {
    constexpr int N = kGroup<Decoder>;
    auto range = gatherer;  // a copy stays in registers
    const auto mask = first_lanes<N>(std::min(uint32_t(N), view.k - k0));
    const uint8_t* from = view.at(rows.first, k0);
    const size_t row_pitch = view.row_pitch;
    for (uint32_t row = rows.first; row < rows.end; ++row, from += row_pitch, to += 64) {
        auto value = Decoder::template decode<N>(load_codes<Decoder>(from));
        if (scaled) value *= splat<decltype(value)>(scale_value(view.scale_code(row, k0)));
        const auto bits = bits_as<typename Lanes<N>::Word>(value) & mask;
        range.add(bits);
        if constexpr (kPairs) {
            store(to, __builtin_convertvector(bits >> 16, typename Lanes<N>::Half));
        } else {
            store(to, bits);
        }
    }
    gatherer = range;
}

// Some bf16 elements of some rows from k0 on, as they are.
void copy_row_group(const OperandView& view, RowPart rows, uint32_t k0, uint8_t* to,
                    Gatherer<Halves, true>& gatherer) {
    auto range = gatherer;
    Halves mask{};
    for (uint32_t i = 0; i < sizeof(Halves) / 2; ++i) mask[i] = k0 + i < view.k ? 0xffff : 0;
    const uint8_t* from = view.at(rows.first, k0);
    const size_t row_pitch = view.row_pitch;
    for (uint32_t row = rows.first; row < rows.end; ++row, from += row_pitch, to += 64) {
        const Halves bits = load<Halves>(from) & mask;
        range.add(bits);
        store(to, bits);
    }
    gatherer = range;
}

template <class Decoder, bool kPairs>
OperandRange pack_rows_as(const OperandView& view, bool scaled, uint32_t* out) {
    constexpr bool kCopy = kCopied<Decoder, kPairs>;
    constexpr uint32_t kGroupSize = kCopy ? sizeof(Halves) / 2 : kGroup<Decoder>;
    constexpr uint32_t kChunk = kPairs ? 32 : 16;
    using Seen = std::conditional_t<kCopy, Halves, typename Lanes<kGroup<Decoder>>::Word>;
    Gatherer<Seen, kPairs> gatherer;
    const Form form = kPairs ? Form::pairs : Form::floats;
    const size_t stride = rows_layout(form, view.rows, view.k).stride;
    // Whole chunks of whole tiles are written in full.
    if (kPairs && (view.k % kChunk != 0 || view.rows % 16 != 0)) {
        std::fill_n(out, stride * ceil_div(view.k, kChunk), 0);
    }
    const uint32_t step = rows_at_once(view);
    for (uint32_t row = 0; row < view.rows; row += step) {
        const RowPart rows{row, std::min(row + step, view.rows)};
        if (rows.end < view.rows) ask_for_rows(view, {rows.end, std::min(rows.end + step, view.rows)});
        for (uint32_t k0 = 0; k0 < view.k; k0 += kGroupSize) {
            auto* to = reinterpret_cast<uint8_t*>(out + (k0 / kChunk) * stride + row * 16) +
                       (k0 % kChunk) * (kPairs ? 2 : 4);
            if constexpr (kCopy) {
                copy_row_group(view, rows, k0, to, gatherer);
            } else {
                pack_row_group<Decoder, kPairs>(view, scaled, rows, k0, to, gatherer);
            }
        }
    }
    return gatherer.range();
}

// 16 columns of B and the piece of k that is being unpacked.
struct ColumnBlock {
    const OperandView& view;
    uint32_t first, count;  // columns
    bool scaled;
    float scales[16] = {};
    alignas(64) uint32_t words[8][16];  // a transposed fractal: [word of the piece][column]

    ColumnBlock(const OperandView& operand, uint32_t column, bool use_scales)
        : view(operand),
          first(column),
          count(std::min(16u, operand.rows - column)),
          scaled(use_scales) {}

    // Code zero is the number zero in every format, so columns past the last one become zeros.
    void load_piece(uint32_t k0) {
        isa::transpose_fractal(view.at(first, k0), view.row_pitch, words);
        if (count == 16) return;
        for (auto& row : words) std::fill(row + count, row + 16, 0u);
    }

    void load_scales(uint32_t k_idx) {
        for (uint32_t i = 0; i < count; ++i) {
            scales[i] = scale_value(view.scale_code(first + i, k_idx));
        }
    }

    // fp32 bits of kLanes columns at element k_in of the piece.
    template <class Decoder>
    Word decode(uint32_t k_in, int lane) const {
        constexpr uint32_t kPerWord = 32 / Decoder::kBits;
        const Word codes = load<Word>(words[k_in / kPerWord] + lane);
        auto value = Decoder::template decode<kLanes>(codes >> (k_in % kPerWord * Decoder::kBits));
        if (scaled) value *= load<Lanes<kLanes>::Float>(scales + lane);
        return bits_as<Word>(value);
    }
};

// Elements k_in .. k_in + num_k of a piece as floats or pairs.
template <class Decoder, bool kPairs>
void unpack_columns(const ColumnBlock& block, uint32_t k_in, uint32_t num_k, uint32_t* out,
                    Gatherer<Word, kPairs>& gatherer) {
    auto range = gatherer;
    auto decode = [&](uint32_t k_idx, int lane) {
        const Word bits = block.decode<Decoder>(k_idx, lane);
        range.add(bits);
        return bits;
    };
    auto unpack = [&](uint32_t k_idx, bool has_odd) {
        for (int lane = 0; lane < 16; lane += kLanes) {
            Word bits = decode(k_idx, lane);
            if constexpr (kPairs) {
                bits >>= 16;
                if (has_odd) bits |= decode(k_idx + 1, lane);
            }
            store(out + lane, bits);
        }
        out += 16;
    };
    constexpr uint32_t kUnroll = 8, kStep = 1 + kPairs;
    uint32_t i = 0;
    for (; i + kUnroll <= num_k; i += kUnroll) {
#pragma GCC unroll 8
        for (uint32_t j = 0; j < kUnroll; j += kStep) unpack(k_in + i + j, true);
    }
    for (; i < num_k; i += kStep) unpack(k_in + i, i + 1 < num_k);
    gatherer = range;
}

// A piece of bf16. NOTE: with a constant num_k the transposed words stay in registers.
template <bool kPairs>
[[gnu::always_inline]] inline void unpack_bf16(const uint32_t (&words)[8][16], uint32_t num_k,
                                               uint32_t* out, Gatherer<PairHalves, kPairs>& range) {
#pragma GCC unroll 8
    for (uint32_t i = 0; i < num_k; i += 2) {
#pragma GCC unroll 4
        for (int lane = 0; lane < 16; lane += kLanes) {
            Word pair = load<Word>(words[i / 2] + lane);
            if (i + 1 == num_k) pair &= 0xffffu;
            range.add(bits_as<PairHalves>(pair));
            if constexpr (kPairs) {
                store(out + i / 2 * 16 + lane, pair);
            } else {
                store(out + i * 16 + lane, pair << 16);
                if (i + 1 < num_k) store(out + (i + 1) * 16 + lane, pair & 0xffff0000u);
            }
        }
    }
}

// All of a part of B in bf16.
template <bool kPairs>
OperandRange pack_bf16_columns(const OperandView& view, const ColumnPart& part, uint32_t* out) {
    const auto layout = columns_layout(kPairs ? Form::pairs : Form::floats, 16, part.num_k);
    Gatherer<PairHalves, kPairs> range;
    for (uint32_t i = 0; i < part.num_blocks; ++i, out += layout.stride) {
        const uint32_t column = (part.first_block + i) * 16;
        const uint32_t count = std::min(16u, view.rows - column);
        const uint8_t* from = view.at(column, part.first_k);
        const size_t piece_stride = view.piece_stride(), row_pitch = view.row_pitch;
        uint32_t* to = out;
        auto unpack = [&](uint32_t num_columns, uint32_t num_k) __attribute__((always_inline)) {
            alignas(64) uint32_t words[8][16];
            isa::transpose_fractal(from, row_pitch, words);
            if (num_columns < 16) {
                for (auto& row : words) std::fill(row + num_columns, row + 16, 0u);
            }
            unpack_bf16<kPairs>(words, num_k, to, range);
            from += piece_stride;
            to += 256 / (1 + kPairs);
        };
        // NOTE: a loop of its own, in which the words never leave the registers.
        uint32_t k = 0;
        if (count == 16) {
            for (; k + 16 <= part.num_k; k += 16) unpack(16, 16);
        }
        for (; k < part.num_k; k += 16) unpack(count, std::min(16u, part.num_k - k));
    }
    return range.range();
}

template <class Decoder, bool kPairs>
OperandRange pack_columns_as(const OperandView& view, bool scaled, const ColumnPart& part,
                             uint32_t* out) {
    constexpr uint32_t kPiece = 256 / Decoder::kBits, kGroupK = std::min(kPiece, 32u);
    const Form form = kPairs ? Form::pairs : Form::floats;
    const auto layout = columns_layout(form, part.num_blocks * 16, part.num_k);
    if (kPairs && part.num_k % 32 != 0) std::fill_n(out, layout.words, 0);
    if constexpr (std::is_same_v<Decoder, DecodeBf16>) {
        return pack_bf16_columns<kPairs>(view, part, out);
    }
    Gatherer<Word, kPairs> gatherer;
    for (uint32_t i = 0; i < part.num_blocks; ++i, out += layout.stride) {
        ColumnBlock block(view, (part.first_block + i) * 16, scaled);
        for (uint32_t offset = 0; offset < part.num_k; offset += kGroupK) {
            const uint32_t k0 = part.first_k + offset;
            if (k0 % kPiece == 0) block.load_piece(k0);
            if (scaled) block.load_scales(k0);
            unpack_columns<Decoder, kPairs>(block, k0 % kPiece,
                                            std::min(kGroupK, part.num_k - offset),
                                            out + offset / (1 + kPairs) * 16, gatherer);
        }
    }
    return gatherer.range();
}

// Calls use(decoder, pairs) with std::true_type where the form is pairs.
template <class Use>
OperandRange with_form(const OperandView& view, Form form, Use&& use) {
    return with_decoder(view.type, view.hf32, [&](auto decoder) {
        using Decoder = decltype(decoder);
        if constexpr (Decoder::kExactInBf16) {
            if (form == Form::pairs) return use(decoder, std::true_type{});
        }
        return use(decoder, std::false_type{});
    });
}

}  // namespace

OperandRange pack_rows(const OperandView& view, Form form, uint32_t* out) {
    const bool scaled = view.scales != nullptr && form != Form::unscaled;
    return with_form(view, form, [&](auto decoder, auto pairs) {
        return pack_rows_as<decltype(decoder), pairs.value>(view, scaled, out);
    });
}

OperandRange pack_columns(const OperandView& view, Form form, const ColumnPart& part,
                          uint32_t* out) {
    const bool scaled = view.scales != nullptr && form != Form::unscaled;
    return with_form(view, form, [&](auto decoder, auto pairs) {
        return pack_columns_as<decltype(decoder), pairs.value>(view, scaled, part, out);
    });
}

OperandRange pack_columns(const OperandView& view, Form form, uint32_t* out) {
    return pack_columns(view, form, {0, ceil_div(view.rows, 16), 0, view.k}, out);
}

}  // namespace asc_emu::numerics
