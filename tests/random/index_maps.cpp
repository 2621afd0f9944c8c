/// Operations whose result elements are operand elements at other indices.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "operations.h"

namespace lowtide::engine {
namespace {

Dims shuffled(Draws& choices, int64_t count) {
  Dims order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = count - 1; i > 0; --i) std::swap(order[i], order[choices.below(i + 1)]);
  return order;
}

/// `count` of 0..n-1 in increasing order.
Dims subset(Draws& choices, int64_t n, int64_t count) {
  Dims chosen = shuffled(choices, n);
  chosen.resize(static_cast<size_t>(count));
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

bool contains(const Dims& list, int64_t item) { return std::find(list.begin(), list.end(), item) != list.end(); }

}  // namespace

Instruction* index_value(Scope& scope, Draws& choices, ElementType type, int64_t extent) {
  Instruction* found = choices.one_in(2) ? scope.choose(choices, has_shape(Shape::scalar(type))) : nullptr;
  const bool is_signed = type_kind(type) == TypeKind::kSigned;
  // XLA:CPU takes the largest numbers of unsigned types for negative ones.
  if (!found && choices.one_in(6) && (is_signed || !scope.for_xla())) {
    const double highest = std::ldexp(1.0, is_signed ? 31 : type_bits(type));
    Instruction* far = scope.constant(type, type_bits(type) <= 8 ? 255 : std::min(highest, 0x1p63) - 1024);
    if (!is_signed || choices.one_in(2)) return far;
    return scope.constant(type, -highest);
  }
  return found ? found : scope.constant(type, static_cast<double>(choices.between(is_signed ? -2 : 0, extent + 2)));
}

bool make_broadcast(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, [](const auto& e) { return e.instruction->shape.rank() < 4; });
  if (!operand) return false;
  const int64_t rank = operand->shape.rank() + choices.between(0, 2);
  const Dims dimensions = subset(choices, rank, operand->shape.rank());
  Dims dims;
  for (int64_t d = 0; d < rank; ++d) dims.push_back(choices.between(1, 4));
  for (size_t k = 0; k < dimensions.size(); ++k) dims[dimensions[k]] = operand->shape.dims[k];
  if (element_count(with_dims(operand->shape, dims)) > kLargestResult) return false;
  return scope.broadcast(operand, dims, dimensions) != nullptr;
}

bool make_reshape(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, is_not_empty);
  if (!operand) return false;
  int64_t left = element_count(operand->shape);
  Dims dims;
  while (dims.size() < 4 && (left > 1 || choices.one_in(3))) {
    Dims divisors;
    for (int64_t d = 1; d <= left; ++d) {
      if (left % d == 0) divisors.push_back(d);
    }
    const int64_t extent = dims.size() == 3 ? left : choices.of(divisors);
    dims.push_back(extent);
    left /= extent;
  }
  if (left != 1) return false;
  return scope.append(Opcode::kReshape, with_dims(operand->shape, dims), {operand}) != nullptr;
}

bool make_transpose(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, [](const auto& e) { return e.instruction->shape.rank() >= 2; });
  if (!operand) return false;
  const Dims order = shuffled(choices, operand->shape.rank());
  Dims dims;
  for (const int64_t d : order) dims.push_back(operand->shape.dims[d]);
  return scope.append(Opcode::kTranspose, with_dims(operand->shape, dims), {operand}, DimensionsAttributes{order}) !=
         nullptr;
}

bool make_slice(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, has_rank(1));
  if (!operand) return false;
  SliceAttributes a;
  Dims dims;
  for (const int64_t extent : operand->shape.dims) {
    const int64_t start = choices.one_in(2) ? 0 : choices.below(extent);
    const int64_t limit = choices.one_in(30) ? start : choices.between(start + 1, extent);
    const int64_t stride = choices.one_in(2) ? 1 : choices.between(1, 3);
    a.starts.push_back(start);
    a.limits.push_back(limit);
    a.strides.push_back(stride);
    dims.push_back((limit - start + stride - 1) / stride);
  }
  return scope.append(Opcode::kSlice, with_dims(operand->shape, dims), {operand}, a) != nullptr;
}

bool make_pad(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, [](const auto& e) { return e.instruction->shape.rank() >= 1; });
  if (!operand) return false;
  Instruction* value = scope.choose(choices, has_shape(Shape::scalar(operand->shape.type)));
  if (!value || choices.one_in(2))
    value = scope.constant(operand->shape.type, static_cast<double>(choices.between(0, 3)));
  PadAttributes a;
  Dims dims;
  for (const int64_t extent : operand->shape.dims) {
    const int64_t interior = choices.one_in(3) ? choices.between(1, 2) : 0;
    const int64_t grown = extent + std::max<int64_t>(extent - 1, 0) * interior;
    const int64_t low = choices.between(-1, 2), high = choices.between(-1, 2);
    a.low.push_back(low);
    a.high.push_back(high);
    a.interior.push_back(interior);
    dims.push_back(low + grown + high);
    if (dims.back() < 0) return false;
  }
  if (element_count(with_dims(operand->shape, dims)) > kLargestResult) return false;
  return scope.append(Opcode::kPad, with_dims(operand->shape, dims), {operand, value}, a) != nullptr;
}

bool make_concatenate(Scope& scope, Draws& choices) {
  Instruction* first = scope.choose(choices, [](const auto& e) { return e.instruction->shape.rank() >= 1; });
  if (!first) return false;
  const auto dimension = static_cast<size_t>(choices.below(first->shape.rank()));
  std::vector<Instruction*> parts = {first};
  Dims dims = first->shape.dims;
  for (int64_t more = choices.between(0, 3); more > 0; --more) {
    parts.push_back(scope.choose(choices, [&](const auto& e) {
      if (e.instruction->shape.type != first->shape.type || e.instruction->shape.rank() != first->shape.rank())
        return false;
      Dims other = e.instruction->shape.dims;
      other[dimension] = first->shape.dims[dimension];
      return other == first->shape.dims;
    }));
    dims[dimension] += parts.back()->shape.dims[dimension];
  }
  if (element_count(with_dims(first->shape, dims)) > kLargestResult) return false;
  return scope.append(Opcode::kConcatenate, with_dims(first->shape, dims), parts,
                      DimensionsAttributes{{static_cast<int64_t>(dimension)}}) != nullptr;
}

bool make_reverse(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, [](const auto& e) { return e.instruction->shape.rank() >= 1; });
  if (!operand) return false;
  const Dims dimensions = subset(choices, operand->shape.rank(), choices.between(1, operand->shape.rank()));
  return scope.append(Opcode::kReverse, operand->shape, {operand}, DimensionsAttributes{dimensions}) != nullptr;
}

namespace {
constexpr ElementType kIndexTypes[] = {ElementType::kS32, ElementType::kS32, ElementType::kS64,
                                       ElementType::kU32, ElementType::kU8,  ElementType::kU64};

/// Start indices from operand `first` on as one vector, as older programs have them; XLA no longer reads those.
void join_starts(Scope& scope, Draws& choices, std::vector<Instruction*>& operands, size_t first) {
  if (scope.for_xla() || !choices.one_in(5)) return;
  const auto rank = static_cast<int64_t>(operands.size() - first);
  const Shape one = Shape::array(operands[first]->shape.type, {1});
  std::vector<Instruction*> parts;
  for (size_t k = first; k < operands.size(); ++k) {
    parts.push_back(scope.append(Opcode::kReshape, one, {operands[k]}, {}, {}, false));
  }
  operands.resize(first);
  operands.push_back(rank == 1 ? parts[0]
                               : scope.append(Opcode::kConcatenate, with_dims(one, {rank}), parts,
                                              DimensionsAttributes{{0}}, {}, false));
}
}  // namespace

bool make_dynamic_slice(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, has_rank(1));
  if (!operand) return false;
  const ElementType type = choices.of(kIndexTypes);
  DynamicSliceAttributes a;
  std::vector<Instruction*> operands = {operand};
  for (const int64_t extent : operand->shape.dims) {
    a.sizes.push_back(choices.between(1, extent));
    operands.push_back(index_value(scope, choices, type, extent));
  }
  join_starts(scope, choices, operands, 1);
  return scope.append(Opcode::kDynamicSlice, with_dims(operand->shape, a.sizes), operands, a) != nullptr;
}

bool make_dynamic_update_slice(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, has_rank(1));
  if (!operand) return false;
  Instruction* update = scope.choose(choices, [&](const auto& e) {
    const Shape& s = e.instruction->shape;
    return s.type == operand->shape.type && s.rank() == operand->shape.rank() && is_not_empty(e) &&
           std::equal(s.dims.begin(), s.dims.end(), operand->shape.dims.begin(), std::less_equal<>());
  });
  const ElementType type = choices.of(kIndexTypes);
  std::vector<Instruction*> operands = {operand, update};
  for (const int64_t extent : operand->shape.dims) operands.push_back(index_value(scope, choices, type, extent));
  join_starts(scope, choices, operands, 2);
  return scope.append(Opcode::kDynamicUpdateSlice, operand->shape, operands) != nullptr;
}

namespace {

/// How gather and scatter walk: which operand dimensions an index vector names, the window, and where things stand.
struct Walk {
  Instruction* indices = nullptr;
  Dims indexed;    ///< operand dimensions, in the order of the index vector
  Dims window;     ///< extent of the window in each operand dimension
  Dims collapsed;  ///< operand dimensions of extent 1 that the result lacks
  Dims batch;      ///< extents of the indices without the index vector
  Dims offsets;    ///< where the window's dimensions stand in the result
  Dims result;     ///< extents of gather's result, of scatter's updates
  int64_t index_vector_dim = 0;
};

std::optional<Walk> random_walk(Scope& scope, Draws& choices, const Shape& operand) {
  Walk walk;
  const int64_t named = choices.between(1, std::min<int64_t>(2, operand.rank()));
  walk.indices = scope.choose(choices, [&](const auto& e) {
    // XLA:CPU takes the largest numbers of u64 for negative ones.
    if (scope.for_xla() && e.fact.high >= 0x1p63) return false;
    return is_integer_value(e) && is_not_empty(e) && e.instruction->shape.rank() <= 3 &&
           (named == 1 || contains(e.instruction->shape.dims, named));
  });
  if (!walk.indices || choices.one_in(3)) {
    walk.indices = scope.constant_array(Shape::array(ElementType::kS32, {choices.between(1, 4), named}), choices);
  }
  const Dims& extents = walk.indices->shape.dims;
  walk.indexed = shuffled(choices, operand.rank());
  walk.indexed.resize(static_cast<size_t>(named));
  const auto vector = std::find(extents.begin(), extents.end(), named);
  walk.index_vector_dim = vector - extents.begin();  // the rank, when each element is an index of its own
  walk.batch = extents;
  if (vector != extents.end()) walk.batch.erase(walk.batch.begin() + walk.index_vector_dim);
  Dims kept;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const int64_t extent = operand.dims[d];
    walk.window.push_back(choices.one_in(2) ? 1 : choices.between(1, extent));
    if (walk.window.back() == 1 && !choices.one_in(3)) {
      walk.collapsed.push_back(d);
    } else {
      kept.push_back(walk.window.back());
    }
  }
  const auto rank = static_cast<int64_t>(kept.size() + walk.batch.size());
  walk.offsets = subset(choices, rank, static_cast<int64_t>(kept.size()));
  size_t next_kept = 0, next_batch = 0;
  for (int64_t d = 0; d < rank; ++d) {
    walk.result.push_back(contains(walk.offsets, d) ? kept[next_kept++] : walk.batch[next_batch++]);
  }
  if (element_count(with_dims(operand, walk.result)) > kLargestResult) return {};
  return walk;
}

}  // namespace

/// Are these elements of a gather, perhaps in another arrangement?
bool is_gathered(const Instruction* i) {
  while (i->opcode == Opcode::kTranspose || i->opcode == Opcode::kReshape || i->opcode == Opcode::kCopy ||
         i->opcode == Opcode::kSlice || i->opcode == Opcode::kReverse || i->opcode == Opcode::kBroadcast) {
    i = i->operands[0];
  }
  return i->opcode == Opcode::kGather;
}

bool make_gather(Scope& scope, Draws& choices) {
  // XLA:CPU merges a gather of a gather and then clamps the outer index to the extents of the inner operand.
  Instruction* operand =
      scope.choose(choices, [&](const auto& e) { return has_rank(1)(e) && !is_gathered(e.instruction); });
  if (!operand) return false;
  const auto walk = random_walk(scope, choices, operand->shape);
  if (!walk) return false;
  GatherAttributes a;
  a.offset_dims = walk->offsets;
  a.collapsed_slice_dims = walk->collapsed;
  a.start_index_map = walk->indexed;
  a.index_vector_dim = walk->index_vector_dim;
  a.slice_sizes = walk->window;
  return scope.append(Opcode::kGather, with_dims(operand->shape, walk->result), {operand, walk->indices}, a) != nullptr;
}

bool make_scatter(Scope& scope, Draws& choices) {
  Instruction* operand = scope.choose(choices, has_rank(1));
  if (!operand) return false;
  const auto walk = random_walk(scope, choices, operand->shape);
  if (!walk) return false;
  // XLA:CPU writes over the operand while it still reads indices from the same bytes.
  if (walk->indices == operand) return false;
  ScatterAttributes a;
  a.update_window_dims = walk->offsets;
  a.inserted_window_dims = walk->collapsed;
  a.scatter_dims_to_operand_dims = walk->indexed;
  a.index_vector_dim = walk->index_vector_dim;
  const ElementType type = operand->shape.type;
  // Which of several assignments to one element stays is not defined.
  const bool single = std::all_of(walk->batch.begin(), walk->batch.end(), [](int64_t extent) { return extent == 1; });
  const Opcode combine = single && choices.one_in(2) ? Opcode::kParameter : random_reduction(choices, type).operation;
  Instruction* updates = value_of_shape(scope, choices, with_dims(operand->shape, walk->result));
  return scope.append(Opcode::kScatter, operand->shape, {operand, walk->indices, updates}, a,
                      {reducer(scope, combine, type)}) != nullptr;
}

}  // namespace lowtide::engine
