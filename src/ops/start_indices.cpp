#include "ops/start_indices.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/literal.h"
#include "ops/infer.h"

namespace lowtide::engine {
namespace {

/// The number of the operand that holds all start indices; 0 if there is none.
size_t start_vector_of(const Instruction& i) {
  if (i.opcode != Opcode::kDynamicSlice && i.opcode != Opcode::kDynamicUpdateSlice) return 0;
  const size_t first = i.opcode == Opcode::kDynamicSlice ? 1 : 2;
  if (i.operands.size() != first + 1) return 0;
  const Shape& starts = i.operand(first).shape;
  const bool integers = (kind_of(starts.type) & kIntegers) != 0;
  return integers && starts.dims == Dims{i.operand(0).shape.rank()} ? first : 0;
}

/// Splits the start vectors of one computation; the new instructions come just before their user.
class Splitter {
 public:
  explicit Splitter(Computation& computation) : computation_(computation) {
    for (const auto& i : computation.instructions()) names_.insert(i->name);
  }

  void run() {
    std::vector<Instruction*> originals;
    for (const auto& i : computation_.instructions()) originals.push_back(i.get());
    for (Instruction* i : originals) {
      if (const size_t first = start_vector_of(*i)) split(*i, first);
      order_.push_back(i);
    }
    computation_.reorder(order_);
  }

 private:
  void split(Instruction& i, size_t first) {
    Instruction* starts = i.operands[first];
    const ElementType type = starts->shape.type;
    i.operands.pop_back();
    for (int64_t d = 0; d < i.operand(0).shape.rank(); ++d) {
      Instruction* element = starts;
      if (starts->shape.dims[0] != 1) {
        element = append(i, Opcode::kSlice, Shape::array(type, {1}), starts, SliceAttributes{{d}, {d + 1}, {1}});
      }
      i.operands.push_back(append(i, Opcode::kReshape, Shape::scalar(type), element, {}));
    }
  }

  Instruction* append(const Instruction& i, Opcode opcode, Shape shape, Instruction* operand, Attributes attributes) {
    auto added = std::make_unique<Instruction>();
    added->opcode = opcode;
    added->shape = std::move(shape);
    added->operands = {operand};
    added->attributes = std::move(attributes);
    added->metadata = i.metadata;
    added->place = i.place;
    do {
      added->name = fmt::format("{}.start.{}", i.name, next_++);
    } while (!names_.insert(added->name).second);
    order_.push_back(computation_.append(std::move(added)));
    return order_.back();
  }

  Computation& computation_;
  std::unordered_set<std::string> names_;
  std::vector<Instruction*> order_;
  int64_t next_ = 0;
};

}  // namespace

Status check_start_indices(const Instruction& instruction, std::string_view label, size_t first, int64_t rank) {
  const size_t count = instruction.operands.size() - first;
  bool scalars = count == static_cast<size_t>(rank);
  for (size_t i = first; i < instruction.operands.size(); ++i) {
    const Shape& index = instruction.operand(i).shape;
    scalars = scalars && (kind_of(index.type) & kIntegers) && index.rank() == 0;
  }
  if (scalars) return {};
  return broken(
      instruction, label,
      fmt::format("expects {} scalar integers as start indices, or one vector of them, got {} operands", rank, count));
}

Dims clamped_starts(Operands indices, const Dims& extents, const Dims& sizes) {
  Dims starts;
  for (size_t d = 0; d < extents.size(); ++d) {
    starts.push_back(std::clamp<int64_t>(index_at(*indices[d], 0), 0, extents[d] - sizes[d]));
  }
  return starts;
}

void split_start_vectors(Module& module) {
  for (const auto& computation : module.computations()) {
    const auto has_vector = [](const auto& i) { return start_vector_of(*i) != 0; };
    if (std::ranges::any_of(computation->instructions(), has_vector)) Splitter(*computation).run();
  }
}

}  // namespace lowtide::engine
