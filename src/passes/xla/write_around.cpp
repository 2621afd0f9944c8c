#include "passes/xla/write_around.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "analysis/leaf_bytes.h"
#include "analysis/uses.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

/// A value that is a box of an array, once some pieces are written there.
struct Lying {
  Instruction* array = nullptr;  ///< null: it is no such box
  Dims starts;
  size_t piece = 0;  ///< of a concatenation: the one that lies there already
};

/// Concatenations that become updates, with the boxes that they are; for one computation.
class Boxes {
 public:
  explicit Boxes(const Computation& computation) : uses_(computation), computation_(computation) {
    for (const auto& i : computation.instructions()) {
      if (Lying box = lying(*i); box.array != nullptr) boxes_[i.get()] = std::move(box);
      if (i->opcode == Opcode::kConcatenate && is_whole(*i)) take(*i);
    }
  }

  const Lying* of(const Instruction& concatenation) const {
    return taken_.contains(&concatenation) ? box_of(concatenation) : nullptr;
  }

  /// Is it a slice that one of them leaves where it is?
  bool lies(const Instruction& i) const { return lie_.contains(&i); }

 private:
  const Lying* box_of(const Instruction& i) const {
    const auto found = boxes_.find(&i);
    return found == boxes_.end() ? nullptr : &found->second;
  }

  /// The box that a slice is, or a concatenation by the largest of its pieces; those of its operands are known.
  Lying lying(const Instruction& i) const {
    if (!is_plain_array(i)) return {};
    if (i.opcode == Opcode::kSlice) {
      const auto& a = i.as<SliceAttributes>();
      const bool dense = std::ranges::all_of(a.strides, [](int64_t stride) { return stride == 1; });
      return dense && is_plain_array(i.operand(0)) ? Lying{i.operands[0], a.starts, 0} : Lying{};
    }
    if (i.opcode != Opcode::kConcatenate) return {};
    const auto d = static_cast<size_t>(i.as<DimensionsAttributes>().dimensions[0]);
    int64_t offset = 0;
    Lying best;
    int64_t most = 0;
    for (size_t k = 0; k < i.operands.size(); ++k) {
      const int64_t own = i.operand(k).shape.dims[d];
      const Lying* inner = box_of(i.operand(k));
      if (inner != nullptr && own > most) {
        Dims starts = inner->starts;
        starts[d] -= offset;
        const bool fits = starts[d] >= 0 && starts[d] + i.shape.dims[d] <= inner->array->shape.dims[d];
        if (fits) best = {inner->array, std::move(starts), k}, most = own;
      }
      offset += own;
    }
    return best;
  }

  /// Is it all of an array that may be overwritten?
  bool is_whole(const Instruction& i) const {
    const Lying* all = box_of(i);
    if (all == nullptr || safe_logical_bytes(i.shape) < kSmallestWritten) return false;
    const bool same = all->array->shape.type == i.shape.type && all->array->shape.dims == i.shape.dims;
    return same && may_be_overwritten(*all->array) && is_read_in_slices(*all->array, i);
  }

  bool may_be_overwritten(const Instruction& array) const {
    if (array.opcode == Opcode::kConstant || array.opcode == Opcode::kIota) return false;
    if (array.opcode != Opcode::kParameter || &computation_ != computation_.module().entry) return true;
    const int64_t number = array.as<ParameterAttributes>().number;
    return std::ranges::any_of(computation_.module().input_output_alias,
                               [&](const AliasEntry& alias) { return alias.operand == number; });
  }

  /// The piece of a concatenation that lies there already.
  const Instruction& piece_of(const Instruction& concatenation) const {
    return concatenation.operand(box_of(concatenation)->piece);
  }

  /// Are all its readers, and those of the concatenations within, slices or parts of the whole?
  bool is_read_in_slices(const Instruction& array, const Instruction& whole) const {
    const auto is_slice = [](const Instruction* user) { return user->opcode == Opcode::kSlice; };
    if (!std::ranges::all_of(uses_.of(array), is_slice)) return false;
    for (const Instruction* at = &whole; at->opcode == Opcode::kConcatenate; at = &piece_of(*at)) {
      const Instruction& inner = piece_of(*at);
      const auto fits = [&](const Instruction* user) { return user == at || is_slice(user); };
      if (inner.opcode == Opcode::kConcatenate && !std::ranges::all_of(uses_.of(inner), fits)) return false;
      if (std::ranges::count(at->operands, &inner) != 1) return false;
    }
    return true;
  }

  void take(const Instruction& whole) {
    const Instruction* at = &whole;
    for (; at->opcode == Opcode::kConcatenate; at = &piece_of(*at)) taken_.insert(at);
    lie_.insert(at);
  }

  const Uses uses_;
  const Computation& computation_;
  std::unordered_map<const Instruction*, Lying> boxes_;  ///< of all slices and concatenations
  std::unordered_set<const Instruction*> taken_, lie_;   ///< concatenations; the slices within
};

/// The pass on one computation after the other.
class Writer {
 public:
  Instruction* rewrite(Instruction& i, Maker& maker) {
    if (&maker.computation() != at_) at_ = &maker.computation(), boxes_.emplace(*at_), written_.clear();
    if (i.opcode == Opcode::kSlice) return slice_of_written(i, maker);
    const Lying* box = i.opcode == Opcode::kConcatenate ? boxes_->of(i) : nullptr;
    if (box == nullptr) return nullptr;
    const auto d = static_cast<size_t>(i.as<DimensionsAttributes>().dimensions[0]);
    Instruction* now = array_with(*i.operands[box->piece]);
    Dims starts = box->starts;
    for (size_t k = 0; k < i.operands.size(); ++k) {
      if (k != box->piece) now = updated(*now, *i.operands[k], starts, maker);
      starts[d] += i.operand(k).shape.dims[d];
    }
    written_[&i] = {now, box->starts};
    return now->shape.dims == i.shape.dims ? now : nullptr;
  }

 private:
  struct Written {
    Instruction* array = nullptr;
    Dims starts;
  };

  /// What the piece that lies there already is a part of: itself, if it was all of the array and is written.
  Instruction* array_with(Instruction& piece) const {
    if (const auto inner = written_.find(&piece); inner != written_.end()) return inner->second.array;
    return piece.opcode == Opcode::kSlice ? piece.operands[0] : &piece;
  }

  static Instruction* updated(Instruction& array, Instruction& piece, const Dims& starts, Maker& maker) {
    std::vector<Instruction*> operands{&array, &piece};
    for (const int64_t start : starts) operands.push_back(maker.constant(ElementType::kS32, start));
    return maker.make(Opcode::kDynamicUpdateSlice, array.shape, std::move(operands));
  }

  /// A slice of an inner concatenation, read where that was written, or of the piece that lies there, read from its
  /// array.
  Instruction* slice_of_written(Instruction& i, Maker& maker) const {
    Instruction& whole = *i.operands[0];
    Written from;
    if (const auto found = written_.find(&whole); found != written_.end()) from = found->second;
    if (boxes_->lies(whole)) from = {whole.operands[0], whole.as<SliceAttributes>().starts};
    if (from.array == nullptr) return nullptr;
    SliceAttributes a = i.as<SliceAttributes>();
    for (size_t d = 0; d < a.starts.size(); ++d) {
      a.starts[d] += from.starts[d];
      a.limits[d] += from.starts[d];
    }
    return maker.make(Opcode::kSlice, i.shape, {from.array}, a);
  }

  const Computation* at_ = nullptr;
  std::optional<Boxes> boxes_;
  std::unordered_map<const Instruction*, Written> written_;
};

}  // namespace

Result<PassResult> write_around(Module& module) {
  Writer writer;
  return rewrite_each(
      module, {Opcode::kSlice, Opcode::kConcatenate},
      [&](Instruction& i, Maker& maker) { return writer.rewrite(i, maker); },
      "concatenations, and slices of them, written around what lies there");
}

}  // namespace lowtide::engine
