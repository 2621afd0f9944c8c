#include "passes/rules/slice_operands.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/rules/maker.h"
#include "passes/stream/walk.h"

namespace lowtide {
namespace {

/// How many instructions read each one, by id; a root has one reader more.
std::vector<int32_t> count_readers(const Module& module) {
  std::vector<int32_t> readers(static_cast<size_t>(module.id_limit()), 0);
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      for (size_t k = 0; k < i->operands.size(); ++k) {
        const auto first = std::find(i->operands.begin(), i->operands.end(), i->operands[k]);
        if (first - i->operands.begin() == static_cast<std::ptrdiff_t>(k)) {
          ++readers[static_cast<size_t>(i->operands[k]->id)];
        }
      }
    }
    ++readers[static_cast<size_t>(computation->root->id)];
  }
  return readers;
}

/// Where a slice begins, and how large it is; null: with the array, and as large.
struct Box {
  std::vector<Instruction*> starts;
  Dims sizes;
};

class Slicer {
 public:
  Slicer(const std::vector<int32_t>& readers, const std::vector<bool>& ordered, Maker& maker)
      : readers_(readers), ordered_(ordered), maker_(maker) {}

  Instruction* rewrite(const Instruction& slice) {
    Box box;
    const Dims& extents = slice.operand(0).shape.dims;
    for (size_t d = 0; d < extents.size(); ++d) {
      const bool whole = slice.shape.dims[d] == extents[d];
      box.starts.push_back(whole ? nullptr : slice.operands[1 + d]);
      box.sizes.push_back(slice.shape.dims[d]);
    }
    start_type_ = slice.operand(1).shape.type;
    return can_be_sliced_before(slice.operand(0), box) ? made_of_slices(slice.operand(0), box) : nullptr;
  }

 private:
  bool can_be_sliced_before(const Instruction& i, const Box& box) const {
    const auto id = static_cast<size_t>(i.id);
    const bool alone = id < readers_.size() && readers_[id] == 1 && !ordered_[id];
    if (!alone || !i.shape.is_array() || !i.shape.dynamic.empty() || i.sharding || !i.called.empty()) return false;
    const bool moves = i.opcode == Opcode::kBroadcast || i.opcode == Opcode::kTranspose || i.opcode == Opcode::kReshape;
    if (!moves && memory_class(i.opcode) != MemoryClass::kElementwise) return false;
    for (size_t k = 0; k < i.operands.size(); ++k) {
      if (!i.operand(k).shape.is_array() || !i.operand(k).shape.dynamic.empty()) return false;
      for (size_t d = 0; d < box.starts.size(); ++d) {
        int64_t j = 0;
        if (box.starts[d] == nullptr) continue;
        if (operand_in_step(i, k, static_cast<int64_t>(d), j) == InStep::kNo) return false;
      }
    }
    return true;
  }

  Instruction* made_of_slices(const Instruction& i, const Box& box) {
    std::vector<Instruction*> operands;
    for (size_t k = 0; k < i.operands.size(); ++k) {
      const auto before = std::find(i.operands.begin(), i.operands.end(), i.operands[k]) - i.operands.begin();
      const bool again = before < static_cast<std::ptrdiff_t>(k);
      operands.push_back(again ? operands[static_cast<size_t>(before)]
                               : sliced(i.operands[k], box_of_operand(i, k, box)));
    }
    return maker_.like(i, Shape::array(i.shape.type, box.sizes), operands);
  }

  static Box box_of_operand(const Instruction& i, size_t k, const Box& box) {
    Box of;
    of.sizes = i.operand(k).shape.dims;
    of.starts.resize(of.sizes.size(), nullptr);
    for (size_t d = 0; d < box.starts.size(); ++d) {
      int64_t j = 0;
      if (box.starts[d] == nullptr || operand_in_step(i, k, static_cast<int64_t>(d), j) != InStep::kYes) continue;
      of.starts[static_cast<size_t>(j)] = box.starts[d];
      of.sizes[static_cast<size_t>(j)] = box.sizes[d];
    }
    return of;
  }

  Instruction* sliced(Instruction* i, const Box& box) {
    if (box.sizes == i->shape.dims) return i;
    if (can_be_sliced_before(*i, box)) return made_of_slices(*i, box);
    std::vector<Instruction*> operands{i};
    for (Instruction* start : box.starts) operands.push_back(start ? start : zero());
    return maker_.make(Opcode::kDynamicSlice, Shape::array(i->shape.type, box.sizes), operands,
                       DynamicSliceAttributes{box.sizes});
  }

  Instruction* zero() {
    if (zero_ == nullptr) zero_ = maker_.constant(start_type_, 0);
    return zero_;
  }

  const std::vector<int32_t>& readers_;
  const std::vector<bool>& ordered_;
  Maker& maker_;
  ElementType start_type_ = ElementType::kS32;
  Instruction* zero_ = nullptr;
};

}  // namespace

Result<PassResult> slice_operands(Module& module) {
  const std::vector<int32_t> readers = count_readers(module);
  const std::vector<bool> ordered = ordered_instructions(module);
  auto result = rewrite_each(module, [&](Instruction& i, Maker& maker) -> Instruction* {
    if (i.opcode != Opcode::kDynamicSlice || !i.shape.dynamic.empty() || i.sharding || i.shape.rank() == 0)
      return nullptr;
    return Slicer(readers, ordered, maker).rewrite(i);
  });
  if (result.ok()) result->note = fmt::format("{} slices taken before the work", result->count);
  return result;
}

}  // namespace lowtide
