#include "passes/rules/slice_operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/uses.h"
#include "passes/rules/maker.h"
#include "passes/stream/walk.h"

namespace lowtide::engine {
namespace {

/// Starts and sizes of a slice; a null start: the whole dimension.
struct Box {
  std::vector<Instruction*> starts;
  Dims sizes;
};

class Slicer {
 public:
  Slicer(const Uses& uses, const std::vector<bool>& ordered, Maker& maker)
      : uses_(uses), ordered_(ordered), maker_(maker) {}

  Instruction* rewrite(const Instruction& slice) {
    Box box;
    const Dims& extents = slice.operand(0).shape.dims;
    for (size_t d = 0; d < extents.size(); ++d) {
      const bool whole = slice.shape.dims[d] == extents[d];
      box.starts.push_back(whole ? nullptr : slice.operands[1 + d]);
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
    const bool moves = i.opcode == Opcode::kBroadcast || i.opcode == Opcode::kTranspose || i.opcode == Opcode::kReshape;
    if (!moves && memory_class(i.opcode) != MemoryClass::kElementwise) return {};
    std::vector<Box> boxes;
    for (size_t k = 0; k < i.operands.size(); ++k) {
      const Shape& shape = i.operand(k).shape;
      if (!shape.is_array() || !shape.dynamic.empty()) return {};
      Box& of = boxes.emplace_back(std::vector<Instruction*>(shape.dims.size(), nullptr), shape.dims);
      for (size_t d = 0; d < box.starts.size(); ++d) {
        int64_t j = 0;
        if (box.starts[d] == nullptr) continue;
        const InStep in_step = operand_in_step(i, k, static_cast<int64_t>(d), j);
        if (in_step == InStep::kNo) return {};
        if (in_step == InStep::kAbsent) continue;
        of.starts[static_cast<size_t>(j)] = box.starts[d];
        of.sizes[static_cast<size_t>(j)] = box.sizes[d];
      }
    }
    return boxes;
  }

  Instruction* made_of_slices(const Instruction& i, const Box& box, const std::vector<Box>& boxes) {
    std::vector<Instruction*> operands;
    for (size_t k = 0; k < i.operands.size(); ++k) {
      const auto before = std::find(i.operands.begin(), i.operands.end(), i.operands[k]) - i.operands.begin();
      const bool again = before < static_cast<std::ptrdiff_t>(k);
      operands.push_back(again ? operands[static_cast<size_t>(before)] : sliced(i.operands[k], boxes[k]));
    }
    return maker_.like(i, Shape::array(i.shape.type, box.sizes), operands);
  }

  Instruction* sliced(Instruction* i, const Box& box) {
    if (box.sizes == i->shape.dims) return i;
    if (const auto boxes = boxes_of_operands(*i, box)) return made_of_slices(*i, box, *boxes);
    std::vector<Instruction*> operands{i};
    for (Instruction* start : box.starts) operands.push_back(start ? start : zero());
    return maker_.make(Opcode::kDynamicSlice, Shape::array(i->shape.type, box.sizes), operands,
                       DynamicSliceAttributes{box.sizes});
  }

  Instruction* zero() {
    if (zero_ == nullptr) zero_ = maker_.constant(start_type_, 0);
    return zero_;
  }

  const Uses& uses_;
  const std::vector<bool>& ordered_;
  Maker& maker_;
  ElementType start_type_ = ElementType::kS32;
  Instruction* zero_ = nullptr;
};

}  // namespace

Result<PassResult> slice_operands(Module& module) {
  const Uses uses(module);
  const std::vector<bool> ordered = ordered_instructions(module);
  auto result = rewrite_each(module, [&](Instruction& i, Maker& maker) -> Instruction* {
    if (i.opcode != Opcode::kDynamicSlice || !i.shape.dynamic.empty() || i.sharding || i.shape.rank() == 0)
      return nullptr;
    return Slicer(uses, ordered, maker).rewrite(i);
  });
  if (result.ok()) result->note = fmt::format("{} slices taken before the work", result->count);
  return result;
}

}  // namespace lowtide::engine
