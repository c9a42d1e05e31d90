// Moves the elements of a Fixpipe copy: piece by piece, 16 rows at a time, so that the source is read in
// order and the destination's lines are finished while they are in the cache.
#include "ops/fixpipe_move.hpp"

#include <cstring>

#include "asc_emu/number_formats.hpp"
#include "ops/atomic_store.hpp"
#include "ops/stream_copy.hpp"
#if defined(__F16C__) && defined(__AVX__)
#include <immintrin.h>
#endif

namespace asc_emu {
namespace {

constexpr uint32_t kRowsAtOnce = 16;

// Conversions of a whole piece that need no parameters.
struct CopyBits32 {
    static void piece(const std::byte* src, std::byte* out) { std::memcpy(out, src, kPieceBytes); }
};

typedef uint32_t Words __attribute__((vector_size(32)));
typedef uint16_t Halves __attribute__((vector_size(16)));

struct ToBf16 {
    static void piece(const std::byte* src, std::byte* out) {
        for (int h = 0; h < 2; ++h) {
            Words v;
            std::memcpy(&v, src + h * 32, 32);
            const Words rounded = (v + 0x7fff + ((v >> 16) & 1)) >> 16;
            const Words nan = reinterpret_cast<Words>((v & 0x7fffffff) > 0x7f800000);
            const Words result = (rounded & ~nan) | (nan & kBf16Nan);
            const Halves packed = __builtin_convertvector(result, Halves);
            std::memcpy(out + h * 16, &packed, 16);
        }
    }
};

struct ToHalf {
    static void piece(const std::byte* src, std::byte* out) {
        for (int h = 0; h < 2; ++h) half_piece(src + h * 32, out + h * 16);
    }
    static void half_piece(const std::byte* src, std::byte* out) {
#if defined(__F16C__) && defined(__AVX__)
        __m256 v;
        std::memcpy(&v, src, 32);
        if (_mm256_movemask_ps(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)) == 0) {
            const __m128i packed = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
            std::memcpy(out, &packed, 16);
            return;
        }
#endif
        for (int e = 0; e < 8; ++e) {
            float value;
            std::memcpy(&value, src + e * 4, 4);
            const uint16_t code = float_to_half(value);
            std::memcpy(out + e * 2, &code, 2);
        }
    }
};

// Walks all pieces; `put(src, block, row)` stores one.
template <class Put>
void for_pieces(const FixpipeLayout& layout, const FixpipePart& part, const std::byte* src, Put put) {
    for (uint32_t m0 = 0; m0 < part.m; m0 += kRowsAtOnce) {
        const uint32_t end = m0 + kRowsAtOnce < part.m ? m0 + kRowsAtOnce : part.m;
        for (uint32_t block = 0; block < layout.blocks(); ++block) {
            const std::byte* row = src + block * layout.src_block() + m0 * layout.src_row();
            for (uint32_t m = m0; m < end; ++m, row += layout.src_row()) put(row, block, m);
        }
    }
}

// Up to 16 rows of one block by Rule, rows of the result `pitch` bytes apart.
template <class Rule, uint32_t kElementBytes>
void convert_rows(const std::byte* src, std::byte* dst, uint64_t pitch, uint32_t rows, uint32_t columns) {
    if (columns == kPieceColumns) {
        for (uint32_t r = 0; r < rows; ++r) Rule::piece(src + r * kPieceBytes, dst + r * pitch);
        return;
    }
    for (uint32_t r = 0; r < rows; ++r) {
        std::byte piece[kPieceBytes];
        Rule::piece(src + r * kPieceBytes, piece);
        std::memcpy(dst + r * pitch, piece, columns * kElementBytes);
    }
}

// Pieces that land contiguously, converted by Rule.
template <class Rule, uint32_t kElementBytes>
void move_fast(const FixpipeLayout& layout, const FixpipePart& part, const std::byte* src, std::byte* dst) {
    for (uint32_t m0 = 0; m0 < part.m; m0 += kRowsAtOnce) {
        const uint32_t rows = part.m - m0 < kRowsAtOnce ? part.m - m0 : kRowsAtOnce;
        for (uint32_t block = 0; block < layout.blocks(); ++block) {
            const uint64_t pitch = layout.row_pitch(block) * kElementBytes;
            convert_rows<Rule, kElementBytes>(
                src + block * layout.src_block() + m0 * layout.src_row(),
                dst + layout.piece_start(block) * kElementBytes + m0 * pitch, pitch, rows,
                layout.columns(block));
        }
    }
}

// NZ2ND of a large tile to GM: 16 rows of some blocks are put together, then streamed row by row.
template <class Rule, uint32_t kElementBytes>
void move_streamed(const FixpipeLayout& layout, const FixpipePart& part, const std::byte* src,
                   std::byte* dst) {
    constexpr uint32_t kBlocksAtOnce = 16, kBlockBytes = kPieceColumns * kElementBytes;
    constexpr uint32_t kPitch = kBlocksAtOnce * kBlockBytes;
    alignas(64) std::byte tile[kRowsAtOnce * kPitch];
    const uint64_t ld = layout.row_pitch(0) * kElementBytes;
    for (uint32_t m0 = 0; m0 < part.m; m0 += kRowsAtOnce) {
        const uint32_t rows = part.m - m0 < kRowsAtOnce ? part.m - m0 : kRowsAtOnce;
        for (uint32_t b0 = 0; b0 < layout.blocks(); b0 += kBlocksAtOnce) {
            uint32_t bytes = 0;
            for (uint32_t b = b0; b < layout.blocks() && b < b0 + kBlocksAtOnce; ++b) {
                convert_rows<Rule, kElementBytes>(src + b * layout.src_block() + m0 * layout.src_row(),
                                                  tile + (b - b0) * kBlockBytes, kPitch, rows,
                                                  layout.columns(b));
                bytes += layout.columns(b) * kElementBytes;
            }
            for (uint32_t r = 0; r < rows; ++r)
                stream_copy(dst + (m0 + r) * ld + b0 * kBlockBytes, tile + r * kPitch, bytes);
        }
    }
    stream_fence();
}

template <class Rule, uint32_t kElementBytes>
void move_contiguous(bool streamed, const FixpipeLayout& layout, const FixpipePart& part,
                     const std::byte* src, std::byte* dst) {
    if (streamed) move_streamed<Rule, kElementBytes>(layout, part, src, dst);
    else move_fast<Rule, kElementBytes>(layout, part, src, dst);
}

void move_fast_rule(FastRule fast, bool streamed, const FixpipeLayout& layout, const FixpipePart& part,
                    const std::byte* src, std::byte* dst) {
    if (fast == FastRule::bits32) move_contiguous<CopyBits32, 4>(streamed, layout, part, src, dst);
    else if (fast == FastRule::bf16) move_contiguous<ToBf16, 2>(streamed, layout, part, src, dst);
    else move_contiguous<ToHalf, 2>(streamed, layout, part, src, dst);
}

template <class T>
void gather_column(const std::byte* tile, uint32_t column, uint32_t rows, std::byte* out) {
    for (uint32_t r = 0; r < rows; ++r)
        std::memcpy(out + r * sizeof(T), tile + r * kPieceBytes + column * sizeof(T), sizeof(T));
}

// Stores runs of converted elements, plainly or atomically.
class RunStore {
public:
    RunStore(const Fixpipe& insn, const FixpipeLayout& layout, std::byte* dst, FixpipeAtomic atomic)
        : i_(insn), layout_(layout), dst_(dst), atomic_(atomic) {}

    // A row of one block, for all layouts but NZ2DN.
    void piece(const std::byte* values, uint32_t block, uint32_t row) const {
        const uint32_t columns = layout_.columns(block);
        const uint64_t first = layout_.piece_start(block) + row * layout_.row_pitch(block);
        if (!i_.channel_split) return run(values, first, columns);
        const uint32_t half = kPieceColumns / 2;
        run(values, first, columns < half ? columns : half);
        if (columns > half) run(values + half * 4, first + i_.dst_stride, columns - half);
    }
    // NZ2DN: the columns of `rows` rows from row m0 on; rows of the tile are 64 bytes apart.
    void columns(const std::byte* tile, uint32_t block, uint32_t m0, uint32_t rows) const {
        for (uint32_t c = 0; c < layout_.columns(block); ++c) {
            std::byte line[kRowsAtOnce * 4];
            if (layout_.bits() == 8) gather_column<uint8_t>(tile, c, rows, line);
            else if (layout_.bits() == 16) gather_column<uint16_t>(tile, c, rows, line);
            else gather_column<uint32_t>(tile, c, rows, line);
            run(line, layout_.piece_start(block) + static_cast<uint64_t>(c) * i_.dst_stride + m0, rows);
        }
    }

private:
    void run(const std::byte* values, uint64_t first, uint32_t count) const {
        std::byte* to = dst_ + first * layout_.bits() / 8;
        const uint64_t bytes = count * layout_.bits() / 8;
        if (atomic_.op == AtomicOp::none) std::memcpy(to, values, bytes);
        else atomic_store(atomic_.op, atomic_.type, values, to, bytes);
    }

    const Fixpipe& i_;
    const FixpipeLayout& layout_;
    std::byte* dst_;
    FixpipeAtomic atomic_;
};

void move_transposed(const FixpipeLayout& layout, const FixpipePart& part, const ValueRule& rule,
                     const std::byte* src, const RunStore& store) {
    for (uint32_t block = 0; block < layout.blocks(); ++block) {
        for (uint32_t m0 = 0; m0 < part.m; m0 += kRowsAtOnce) {
            const uint32_t rows = part.m - m0 < kRowsAtOnce ? part.m - m0 : kRowsAtOnce;
            alignas(64) std::byte tile[kRowsAtOnce * kPieceBytes];
            for (uint32_t r = 0; r < rows; ++r)
                convert_values(rule, src + block * layout.src_block() + (m0 + r) * layout.src_row(),
                               tile + r * kPieceBytes, block * kPieceColumns, layout.columns(block));
            store.columns(tile, block, m0, rows);
        }
    }
}

}  // namespace

void move_part(const Fixpipe& i, const FixpipePart& part, const ValueRule& rule, const std::byte* l0c,
               std::byte* dst, FixpipeAtomic atomic) {
    const FixpipeLayout layout(i, part);
    const FastRule fast = fast_rule(rule);
    const bool contiguous = !i.nz2dn && !i.channel_split && atomic.op == AtomicOp::none;
    const uint64_t bytes = static_cast<uint64_t>(part.m) * part.n * layout.bits() / 8;
    const bool streamed =
        part.space == Space::gm && i.nz2nd &&
        may_stream(i.dst | static_cast<uint64_t>(i.dst_matrix_stride) * layout.bits() / 8,
                   static_cast<uint64_t>(i.dst_stride) * layout.bits() / 8, bytes);
    for (uint32_t q = 0; q < layout.matrices(); ++q) {
        const std::byte* src = l0c + part.src + q * layout.src_matrix();
        std::byte* to = dst + static_cast<uint64_t>(q) * i.dst_matrix_stride * layout.bits() / 8;
        const RunStore store(i, layout, to, atomic);
        if (contiguous && fast != FastRule::none) {
            move_fast_rule(fast, streamed, layout, part, src, to);
        } else if (i.nz2dn) {
            move_transposed(layout, part, rule, src, store);
        } else {
            for_pieces(layout, part, src, [&](const std::byte* row, uint32_t block, uint32_t m) {
                std::byte values[kPieceBytes];
                convert_values(rule, row, values, block * kPieceColumns, layout.columns(block));
                store.piece(values, block, m);
            });
        }
    }
}

}  // namespace asc_emu
