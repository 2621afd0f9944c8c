#include "passes/rules/slice_operands.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <map>
#include <optional>

#include "analysis/uses.h"
#include "passes/rules/index_forms.h"
#include "passes/rules/maker.h"
#include "passes/stream/walk.h"

namespace lowtide::engine {
namespace {

/// The start of a slice in one dimension: `times` the scalar `at`, clamped to 0 to `last`; a null scalar: the whole
/// dimension.
struct Start {
  Instruction* at = nullptr;
  int64_t last = 0;
  int64_t times = 1;

  auto operator<=>(const Start&) const = default;
};

struct Box {
  std::vector<Start> starts;
  Dims sizes;
};

/// A dimension that a reshape splits, and how many slices of it a slice of the result is.
struct Merged {
  size_t dimension;
  int64_t times;
};

/// The operand's dimension, if any, of which dimension d of the reshape's result is the outermost part, and of which
/// the box takes all other parts whole.
std::optional<Merged> split_along(const Instruction& reshape, size_t d, const Box& box) {
  for (const Regrouped& g : regrouped(reshape)) {
    if (!g.is_split() || g.to.front() != d) continue;
    const auto is_sliced = [&](size_t part) { return part != d && box.starts[part].at != nullptr; };
    if (std::ranges::any_of(g.to, is_sliced)) return std::nullopt;
    return Merged{g.from[0], reshape.operand(0).shape.dims[g.from[0]] / reshape.shape.dims[d]};
  }
  return std::nullopt;
}

class Slicer {
 public:
  Slicer(const Uses& uses, const std::vector<bool>& ordered, Maker& maker)
      : uses_(uses), ordered_(ordered), maker_(maker) {}

  Instruction* rewrite(const Instruction& slice) {
    Box box;
    const Dims& extents = slice.operand(0).shape.dims;
    for (size_t d = 0; d < extents.size(); ++d) {
      const bool whole = slice.shape.dims[d] == extents[d];
      box.starts.push_back(whole ? Start{} : Start{slice.operands[1 + d], extents[d] - slice.shape.dims[d]});
      box.sizes.push_back(slice.shape.dims[d]);
    }
    start_type_ = slice.operand(1).shape.type;
    const auto boxes = boxes_of_operands(slice.operand(0), box);
    return boxes ? made_of_slices(slice.operand(0), box, *boxes) : nullptr;
  }

 private:
  /// The part of each operand that a slice of the instruction reads. None: it shouldn't be computed from slices.
  std::optional<std::vector<Box>> boxes_of_operands(const Instruction& i, const Box& box) const {
    const auto id = static_cast<size_t>(i.id);
    const bool made_here = id >= ordered_.size();
    if (made_here || ordered_[id] || uses_.of(i).size() != 1 || &i == i.parent->root) return {};
    if (!i.shape.is_array() || !i.shape.dynamic.empty() || i.sharding || !i.called.empty()) return {};
    const bool moves = i.opcode == Opcode::kBroadcast || i.opcode == Opcode::kTranspose ||
                       i.opcode == Opcode::kReshape || i.opcode == Opcode::kGather;
    if (!moves && memory_class(i.opcode) != MemoryClass::kElementwise) return {};
    std::vector<Box> boxes;
    for (size_t k = 0; k < i.operands.size(); ++k) {
      const Shape& shape = i.operand(k).shape;
      if (!shape.is_array() || !shape.dynamic.empty()) return {};
      Box& of = boxes.emplace_back(std::vector<Start>(shape.dims.size()), shape.dims);
      for (size_t d = 0; d < box.starts.size(); ++d) {
        int64_t j = 0;
        if (box.starts[d].at == nullptr) continue;
        const InStep in_step = operand_in_step(i, k, static_cast<int64_t>(d), j);
        if (in_step == InStep::kNo) {
          const auto merged = i.opcode == Opcode::kReshape ? split_along(i, d, box) : std::nullopt;
          if (!merged || !counts(shape.dims[merged->dimension])) return {};
          of.starts[merged->dimension] = box.starts[d];
          of.starts[merged->dimension].times *= merged->times;
          of.sizes[merged->dimension] = box.sizes[d] * merged->times;
          continue;
        }
        if (in_step == InStep::kAbsent) continue;
        if (i.opcode == Opcode::kGather && k == 0) return {};  // a slice of a whole table, for a few of its rows
        of.starts[j] = box.starts[d];
        of.sizes[j] = box.sizes[d];
      }
    }
    return boxes;
  }

  Instruction* made_of_slices(const Instruction& i, const Box& box, const std::vector<Box>& boxes) {
    std::vector<Instruction*> operands;
    for (size_t k = 0; k < i.operands.size(); ++k) {
      const auto before = std::find(i.operands.begin(), i.operands.end(), i.operands[k]) - i.operands.begin();
      const bool again = before < static_cast<std::ptrdiff_t>(k);
      operands.push_back(again ? operands[before] : sliced(i.operands[k], boxes[k]));
    }
    return maker_.like(i, Shape::array(i.shape.type, box.sizes), operands);
  }

  Instruction* sliced(Instruction* i, const Box& box) {
    if (box.sizes == i->shape.dims) return i;
    if (const auto boxes = boxes_of_operands(*i, box)) return made_of_slices(*i, box, *boxes);
    std::vector<Instruction*> operands{i};
    for (const Start& start : box.starts) operands.push_back(scalar(start));
    return maker_.make(Opcode::kDynamicSlice, Shape::array(i->shape.type, box.sizes), operands,
                       DynamicSliceAttributes{box.sizes});
  }

  /// Can the type of the starts count so many elements?
  bool counts(int64_t elements) const {
    return stored_bytes(start_type_) >= 4 && elements <= std::numeric_limits<int32_t>::max();
  }

  /// A slice clamps its start, but a multiple of one that is out of bounds could overflow.
  Instruction* scalar(const Start& start) {
    if (start.at != nullptr && start.times == 1) return start.at;
    Instruction*& made = made_[start];
    if (made != nullptr) return made;
    if (start.at == nullptr) return made = maker_.constant(start_type_, 0);
    Instruction* at =
        maker_.make(Opcode::kClamp, start.at->shape, {scalar({}), start.at, maker_.constant(start_type_, start.last)});
    return made = maker_.binary(Opcode::kMultiply, at, maker_.constant(start_type_, start.times));
  }

  const Uses& uses_;
  const std::vector<bool>& ordered_;
  Maker& maker_;
  ElementType start_type_ = ElementType::kS32;
  std::map<Start, Instruction*> made_;  ///< starts, zero included
};

}  // namespace

Result<PassResult> slice_operands(Module& module) {
  if (!has_any(module, {Opcode::kDynamicSlice})) return PassResult{};
  const Uses uses(module);
  const std::vector<bool> ordered = ordered_instructions(module);
  return rewrite_each(
      module, {Opcode::kDynamicSlice},
      [&](Instruction& i, Maker& maker) -> Instruction* {
        if (!i.shape.dynamic.empty() || i.sharding || i.shape.rank() == 0) return nullptr;
        return Slicer(uses, ordered, maker).rewrite(i);
      },
      "slices taken before the work");
}

}  // namespace lowtide::engine
