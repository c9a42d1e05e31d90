// Per-thread packed operands. A call that names the same operand and version as a recent one finds
// the packed form here, so that one A serves several column tiles (and the reverse).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "operand.hpp"
#include "pack.hpp"
#include "panels.hpp"

namespace asc_emu::numerics {

// Memory aligned to cache lines that only grows; growing drops the content.
class AlignedBuffer {
  public:
    uint32_t* reserve(size_t words) {
        if (words > capacity_) {
            capacity_ = 0;
            const size_t bytes = (words * 4 + 4095) / 4096 * 4096;
            words_.reset(static_cast<uint32_t*>(std::aligned_alloc(4096, bytes)));
            if (words_ == nullptr) throw std::bad_alloc();
            capacity_ = bytes / 4;
        }
        return words_.get();
    }

    const uint32_t* data() const { return words_.get(); }
    uint32_t* words() { return words_.get(); }
    size_t capacity() const { return capacity_; }

  private:
    struct Free {
        void operator()(uint32_t* words) const { std::free(words); }
    };
    std::unique_ptr<uint32_t, Free> words_;
    size_t capacity_ = 0;
};

enum class Side : uint8_t { rows, columns };

class PackedOperand {
  public:
    // Packs the view unless this already holds it. Version 0 always packs.
    void update(const OperandView& view, Side side, Form form, uint64_t version) {
        begin(view, side, form, version);
        extend(view.k);
    }

    // Makes room for the view unless this already holds it, or a part of it.
    void begin(const OperandView& view, Side side, Form form, uint64_t version) {
        if (holds(view, form, version)) return;
        form = stored_form(view, form);
        version_ = 0;  // stays unknown when there is no memory
        const PackedLayout layout = side == Side::rows ? rows_layout(form, view.rows, view.k)
                                                       : columns_layout(form, view.rows, view.k);
        words_.reserve(layout.words);
        range_ = {};
        packed_k_ = 0;
        stride_ = layout.stride;
        num_words_ = layout.words;
        view_ = view;
        side_ = side;
        form_ = form;
        version_ = version;
    }

    // Packs on until `k` steps of K are there. In parts only for rows without scales, each but the last one of whole
    // chunks and pieces (pack.hpp, operand.hpp).
    void extend(uint32_t k) {
        if (k <= packed_k_) return;
        if (side_ == Side::columns) {
            range_ = pack_columns(view_, form_, words_.words());
        } else {
            OperandView part = view_;
            part.data = view_.at(0, packed_k_);
            part.k = k - packed_k_;
            range_.include(pack_rows(part, form_, words_.words() + packed_k_ / 16 * stride_));
        }
        packed_k_ = k;
    }

    bool holds(const OperandView& view, Form form, uint64_t version) const {
        return version != 0 && version == version_ && stored_form(view, form) == form_ &&
               same(view, view_);
    }

    RowPanel as_rows() const { return {words_.data(), stride_, view_.rows}; }
    ColumnPanel as_columns() const { return {words_.data(), stride_}; }
    const OperandView& view() const { return view_; }
    uint64_t version() const { return version_; }
    uint32_t packed_k() const { return packed_k_; }
    const OperandRange& range() const { return range_; }
    size_t num_words() const { return num_words_; }
    size_t capacity() const { return words_.capacity(); }

    bool held = false;  // an open sum still needs it (open_sums.hpp)

  private:
    static Form stored_form(const OperandView& view, Form form) {
        return view.scales == nullptr && form == Form::unscaled ? Form::floats : form;
    }
    static bool same(const OperandView& x, const OperandView& y) {
        return x.data == y.data && x.rows == y.rows && x.k == y.k && x.type == y.type &&
               x.hf32 == y.hf32 && x.scales == y.scales && x.contiguous == y.contiguous &&
               x.pitch == y.pitch && x.row_pitch == y.row_pitch;
    }

    AlignedBuffer words_;
    OperandRange range_;
    OperandView view_{};
    size_t stride_ = 0, num_words_ = 0;
    uint64_t version_ = 0;
    uint32_t packed_k_ = 0;
    Side side_ = Side::rows;
    Form form_ = Form::floats;
};

// Packed operands of one side; the oldest one makes room.
template <size_t kSlots>
struct PackedSlots {
    std::array<PackedOperand, kSlots> operands;
    size_t next = 0;

    PackedOperand* find(const OperandView& view, Form form, uint64_t version) {
        for (PackedOperand& operand : operands) {
            if (operand.holds(view, form, version)) return &operand;
        }
        return nullptr;
    }
    const PackedOperand& oldest() const { return operands[next]; }
    PackedOperand& take() {
        PackedOperand& slot = operands[next];
        next = (next + 1) % kSlots;
        return slot;
    }
    // For lasting operands, which have one version in common: what other launches have left makes room first, in
    // always the same order, so that a small problem uses little memory. Packed by the caller (PackedOperand::extend).
    PackedOperand& get_lasting(const OperandView& view, Side side, Form form, uint64_t version) {
        if (PackedOperand* known = find(view, form, version)) return *known;
        const auto other = std::find_if(operands.begin(), operands.end(),
                                        [&](const PackedOperand& operand) { return operand.version() != version; });
        PackedOperand& slot = other != operands.end() ? *other : take();
        slot.begin(view, side, form, version);
        return slot;
    }
    // Packed by the caller.
    PackedOperand& get(const OperandView& view, Side side, Form form, uint64_t version) {
        if (PackedOperand* known = find(view, form, version)) return *known;
        PackedOperand& slot = take();
        slot.begin(view, side, form, version);
        return slot;
    }
};

// Enough for the open sums of a GEMM with 64 k a product.
using PackedRing = PackedSlots<16>;

struct Workspace {
    // NOTE: two, since kernels double-buffer L0A and use each half for two tiles of C.
    PackedSlots<2> rows;
    // NOTE: of lasting operands, 512 KB each at most (open_products.hpp). A GEMM comes back to the same rows of A in
    // later tiles: 16 MB hold those of 4096 x 1024; reading them again is cheaper than packing them again.
    PackedSlots<32> lasting_rows;
    PackedOperand* a = nullptr;  // floats of A in use, in one of them
    PackedOperand b;             // floats of B, for kernels that need all of it
    AlignedBuffer b_part;        // floats of the part of B that is in use
    AlignedBuffer edge;          // C columns that are not stored as they are
};

inline Workspace& thread_workspace() {
    // NOTE: a pointer, since static TLS is scarce (thread_object.hpp).
    static thread_local std::unique_ptr<Workspace> workspace;
    if (!workspace) workspace = std::make_unique<Workspace>();
    return *workspace;
}

}  // namespace asc_emu::numerics
