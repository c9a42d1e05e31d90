// Moves the elements of a Fixpipe copy: piece by piece, 16 rows at a time, so that the source is
// read in order and the destination's lines are finished while they are in the cache.
#include "ops/fixpipe_move.hpp"

#include <cstring>

#include "asc_emu/number_formats.hpp"
#include "numerics/mmad.hpp"
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

#if defined(__AVX512F__)
constexpr uint32_t kVectorBytes = 64;
#else
constexpr uint32_t kVectorBytes = 32;
#endif
typedef uint32_t Words __attribute__((vector_size(kVectorBytes)));
typedef uint16_t Halves __attribute__((vector_size(kVectorBytes / 2)));

inline Halves low_halves(Words v) {
#if defined(__AVX512F__)
    // NOTE: g++ 12 splits the vector extension's conversion into two 256-bit halves.
    return reinterpret_cast<Halves>(_mm512_cvtepi32_epi16(reinterpret_cast<__m512i>(v)));
#else
    return __builtin_convertvector(v, Halves);
#endif
}

struct ToBf16 {
    static void piece(const std::byte* src, std::byte* out) {
        for (uint32_t at = 0; at < kPieceBytes; at += kVectorBytes) {
            Words v;
            std::memcpy(&v, src + at, kVectorBytes);
            const Words rounded = (v + 0x7fff + ((v >> 16) & 1)) >> 16;
            const Words nan = reinterpret_cast<Words>((v & 0x7fffffff) > 0x7f800000);
            const Words result = (rounded & ~nan) | (nan & kBf16Nan);
            const Halves packed = low_halves(result);
            std::memcpy(out + at / 2, &packed, kVectorBytes / 2);
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
            const __m128i packed =
                _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
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

// Up to 16 rows of one block by Rule, rows of the result `pitch` bytes apart.
template <class Rule, uint32_t kElementBytes>
void convert_rows(const std::byte* src, std::byte* dst, uint64_t pitch, uint32_t rows,
                  uint32_t columns) {
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
void move_fast(const FixpipeLayout& layout, const FixpipePart& part, const std::byte* src,
               std::byte* dst) {
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

void move_fast_rule(FastRule fast, const FixpipeLayout& layout, const FixpipePart& part,
                    const std::byte* src, std::byte* dst) {
    if (fast == FastRule::bits32)
        move_fast<CopyBits32, 4>(layout, part, src, dst);
    else if (fast == FastRule::bf16)
        move_fast<ToBf16, 2>(layout, part, src, dst);
    else
        move_fast<ToHalf, 2>(layout, part, src, dst);
}

// Converts pieces by any rule; `out` has room for 16 elements.
class PieceConverter {
  public:
    explicit PieceConverter(const ValueRule& rule) : rule_(rule), fast_(fast_rule(rule)) {}
    FastRule fast() const { return fast_; }
    void operator()(const std::byte* src, std::byte* out, uint32_t column, uint32_t count) const {
        switch (fast_) {
            case FastRule::bits32:
                return CopyBits32::piece(src, out);
            case FastRule::bf16:
                return ToBf16::piece(src, out);
            case FastRule::f16:
                return ToHalf::piece(src, out);
            case FastRule::none:
                return convert_values(rule_, src, out, column, count);
        }
    }

    // Pieces of `count` rows, one below the other; `out` has room for 16 elements a row.
    void rows(const std::byte* src, std::byte* out, uint64_t pitch, uint32_t count, uint32_t column,
              uint32_t columns) const {
        switch (fast_) {
            case FastRule::bits32:
                return rows_by<CopyBits32>(src, out, pitch, count);
            case FastRule::bf16:
                return rows_by<ToBf16>(src, out, pitch, count);
            case FastRule::f16:
                return rows_by<ToHalf>(src, out, pitch, count);
            case FastRule::none:
                for (uint32_t r = 0; r < count; ++r)
                    convert_values(rule_, src + r * kPieceBytes, out + r * pitch, column, columns);
        }
    }

  private:
    template <class Rule>
    static void rows_by(const std::byte* src, std::byte* out, uint64_t pitch, uint32_t count) {
        for (uint32_t r = 0; r < count; ++r) Rule::piece(src + r * kPieceBytes, out + r * pitch);
    }

    const ValueRule& rule_;
    FastRule fast_;
};

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

    // NZ2ND: columns of one row from column c0 on.
    void row(const std::byte* values, uint32_t m, uint32_t c0, uint32_t count) const {
        run(values, m * static_cast<uint64_t>(i_.dst_stride) + c0, count);
    }
    void stream_row(const std::byte* values, uint32_t m, uint32_t c0, uint32_t count) const {
        stream_copy(dst_ + (m * static_cast<uint64_t>(i_.dst_stride) + c0) * layout_.bits() / 8,
                    values, count * layout_.bits() / 8);
    }
    // Asks for the lines of a later row.
    void prefetch_row(uint32_t m, uint32_t c0, uint32_t count) const {
        const std::byte* to =
            dst_ + (m * static_cast<uint64_t>(i_.dst_stride) + c0) * layout_.bits() / 8;
        for (uint64_t at = 0; at < count * layout_.bits() / 8; at += kLineBytes)
            __builtin_prefetch(to + at, 1);
    }
    // A row of one block of NZ2NZ.
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
            if (layout_.bits() == 8)
                gather_column<uint8_t>(tile, c, rows, line);
            else if (layout_.bits() == 16)
                gather_column<uint16_t>(tile, c, rows, line);
            else
                gather_column<uint32_t>(tile, c, rows, line);
            run(line, layout_.piece_start(block) + static_cast<uint64_t>(c) * i_.dst_stride + m0,
                rows);
        }
    }

  private:
    void run(const std::byte* values, uint64_t first, uint32_t count) const {
        std::byte* to = dst_ + first * layout_.bits() / 8;
        const uint64_t bytes = count * layout_.bits() / 8;
        if (atomic_.op == AtomicOp::none)
            std::memcpy(to, values, bytes);
        else
            atomic_store(atomic_.op, atomic_.type, values, to, bytes);
    }

    const Fixpipe& i_;
    const FixpipeLayout& layout_;
    std::byte* dst_;
    FixpipeAtomic atomic_;
};

// NZ2ND to GM: 16 rows of some blocks are put together, then stored row by row in long runs.
void move_rows(const FixpipeLayout& layout, const FixpipePart& part, const PieceConverter& convert,
               const std::byte* src, const RunStore& store, bool streamed) {
    constexpr uint32_t kBlocksAtOnce = 16;
    alignas(64) std::byte tile[kRowsAtOnce * kBlocksAtOnce * kPieceBytes];
    const uint32_t block_bytes = kPieceColumns * layout.bits() / 8,
                   pitch = kBlocksAtOnce * block_bytes;
    for (uint32_t m0 = 0; m0 < part.m; m0 += kRowsAtOnce) {
        const uint32_t rows = part.m - m0 < kRowsAtOnce ? part.m - m0 : kRowsAtOnce;
        for (uint32_t b0 = 0; b0 < layout.blocks(); b0 += kBlocksAtOnce) {
            uint32_t columns = 0;
            for (uint32_t b = b0; b < layout.blocks() && b < b0 + kBlocksAtOnce; ++b) {
                const std::byte* from = src + b * layout.src_block() + m0 * layout.src_row();
                convert.rows(from, tile + (b - b0) * block_bytes, pitch, rows, b * kPieceColumns,
                             layout.columns(b));
                columns += layout.columns(b);
            }
            for (uint32_t r = 0; r < rows; ++r) {
                const uint32_t c0 = b0 * kPieceColumns;
                if (streamed) {
                    store.stream_row(tile + r * pitch, m0 + r, c0, columns);
                } else {
                    store.prefetch_row(m0 + r + kRowsAtOnce / 2, c0, columns);
                    store.row(tile + r * pitch, m0 + r, c0, columns);
                }
            }
        }
    }
    if (streamed) stream_fence();
}

void move_transposed(const FixpipeLayout& layout, const FixpipePart& part,
                     const PieceConverter& convert, const std::byte* src, const RunStore& store) {
    for (uint32_t block = 0; block < layout.blocks(); ++block) {
        for (uint32_t m0 = 0; m0 < part.m; m0 += kRowsAtOnce) {
            const uint32_t rows = part.m - m0 < kRowsAtOnce ? part.m - m0 : kRowsAtOnce;
            alignas(64) std::byte tile[kRowsAtOnce * kPieceBytes];
            for (uint32_t r = 0; r < rows; ++r)
                convert(src + block * layout.src_block() + (m0 + r) * layout.src_row(),
                        tile + r * kPieceBytes, block * kPieceColumns, layout.columns(block));
            store.columns(tile, block, m0, rows);
        }
    }
}

void move_fractals(const FixpipeLayout& layout, const FixpipePart& part,
                   const PieceConverter& convert, const std::byte* src, const RunStore& store) {
    for (uint32_t block = 0; block < layout.blocks(); ++block) {
        const std::byte* row = src + block * layout.src_block();
        for (uint32_t m = 0; m < part.m; ++m, row += kPieceBytes) {
            std::byte values[kPieceBytes];
            convert(row, values, block * kPieceColumns, layout.columns(block));
            store.piece(values, block, m);
        }
    }
}

}  // namespace

void move_part(const Fixpipe& i, const FixpipePart& part, const ValueRule& rule,
               const std::byte* l0c, std::byte* dst, FixpipeAtomic atomic) {
    const FixpipeLayout layout(i, part);
    numerics::settle(l0c + part.src, layout.src_bytes());
    const PieceConverter convert(rule);
    const bool atomically = atomic.op != AtomicOp::none, to_gm = part.space == Space::gm;
    const bool direct =
        convert.fast() != FastRule::none && !i.nz2dn && !i.channel_split && !atomically;
    const uint64_t matrix_bytes = static_cast<uint64_t>(i.dst_matrix_stride) * layout.bits() / 8;
    const bool streamed =
        !atomically && may_stream(i.dst | matrix_bytes, i.dst_stride * layout.bits() / 8,
                                  static_cast<uint64_t>(part.m) * part.n * layout.bits() / 8);
    for (uint32_t q = 0; q < layout.matrices(); ++q) {
        const std::byte* src = l0c + part.src + q * layout.src_matrix();
        std::byte* to = dst + q * matrix_bytes;
        const RunStore store(i, layout, to, atomic);
        if (i.nz2nd && to_gm)
            move_rows(layout, part, convert, src, store, streamed);
        else if (direct)
            move_fast_rule(convert.fast(), layout, part, src, to);
        else if (i.nz2dn)
            move_transposed(layout, part, convert, src, store);
        else if (i.nz2nd)
            move_rows(layout, part, convert, src, store, false);
        else
            move_fractals(layout, part, convert, src, store);
    }
}

}  // namespace asc_emu
