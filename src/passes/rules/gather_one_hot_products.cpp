#include "passes/rules/gather_one_hot_products.h"

#include <algorithm>
#include <numeric>

#include "ops/dot_checks.h"
#include "ops/infer.h"
#include "passes/rules/one_hot.h"

namespace lowtide::engine {
namespace {

/// The table's rows at `places`; the result's dimensions are those of the dot.
Instruction* gathered(const Instruction& dot, bool hot_left, Instruction* places, Maker& maker) {
  const auto& a = dot.as<DotAttributes>();
  Instruction* table = dot.operands[hot_left ? 1 : 0];
  const Instruction& hot = dot.operand(hot_left ? 0 : 1);
  const Dims& hot_batch = hot_left ? a.lhs_batch_dims : a.rhs_batch_dims;
  const Dims& table_batch = hot_left ? a.rhs_batch_dims : a.lhs_batch_dims;
  const int64_t hot_class = (hot_left ? a.lhs_contracting_dims : a.rhs_contracting_dims)[0];
  const int64_t table_class = (hot_left ? a.rhs_contracting_dims : a.lhs_contracting_dims)[0];

  // Puts the dimensions of the places in their order in the result.
  Dims order = hot_batch;
  const Dims rows = free_dims(hot.shape.rank(), {hot_class}, hot_batch);
  order.insert(order.end(), rows.begin(), rows.end());
  for (int64_t& d : order) d -= d > hot_class;
  places = maker.transpose(places, order);

  GatherAttributes gather;
  gather.index_vector_dim = places->shape.rank();
  gather.start_index_map = {table_class};
  gather.collapsed_slice_dims = {table_class};
  const auto batches = static_cast<int64_t>(table_batch.size());
  // HLO requires these to ascend; the corresponding dimensions of the places follow.
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t k = 0; k < batches; ++k) pairs.emplace_back(table_batch[k], k);
  std::ranges::sort(pairs);
  for (const auto& [in_table, in_places] : pairs) {
    gather.operand_batching_dims.push_back(in_table);
    gather.start_indices_batching_dims.push_back(in_places);
  }
  const int64_t first_free = batches + (hot_left ? static_cast<int64_t>(rows.size()) : 0);
  for (int64_t d = 0; d < table->shape.rank(); ++d) {
    const bool one = d == table_class || contains(table_batch, d);
    gather.slice_sizes.push_back(one ? 1 : table->shape.dims[d]);
    if (!one) gather.offset_dims.push_back(first_free + static_cast<int64_t>(gather.offset_dims.size()));
  }
  return maker.make(Opcode::kGather, Shape::array(table->shape.type, dot.shape.dims), {table, places}, gather);
}

/// Broadcasts a value with one element for each row to the result.
Instruction* spread(const Instruction& dot, bool hot_left, Instruction* rows, Maker& maker) {
  const auto& a = dot.as<DotAttributes>();
  const Instruction& hot = dot.operand(hot_left ? 0 : 1);
  const Dims& batch = hot_left ? a.lhs_batch_dims : a.rhs_batch_dims;
  const int64_t hot_class = (hot_left ? a.lhs_contracting_dims : a.rhs_contracting_dims)[0];
  const int64_t others = dot.shape.rank() - rows->shape.rank();
  Dims dimensions(static_cast<size_t>(rows->shape.rank()));
  auto free = static_cast<int64_t>(batch.size()) + (hot_left ? 0 : others);
  for (int64_t d = 0; d < hot.shape.rank(); ++d) {
    if (d == hot_class) continue;
    const auto at = std::ranges::find(batch, d);
    dimensions[d - (d > hot_class)] = at != batch.end() ? at - batch.begin() : free++;
  }
  // A broadcast's dimensions must ascend.
  Dims order(dimensions.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int64_t d) { return dimensions[d]; });
  rows = maker.transpose(rows, order);
  std::ranges::sort(dimensions);
  return maker.broadcast(rows, dot.shape.dims, dimensions);
}

Instruction* inside(const OneHot& one_hot, Instruction* places, Maker& maker) {
  const ElementType type = places->shape.type;
  Instruction* last = maker.filled(type, places->shape.dims, one_hot.classes - 1);
  Instruction* result = maker.compare(places, last, CompareDirection::kLe);
  if (type_kind(type) == TypeKind::kSigned) {
    Instruction* zero = maker.filled(type, places->shape.dims, 0);
    result = maker.binary(Opcode::kAnd, maker.compare(places, zero, CompareDirection::kGe), result);
  }
  return one_hot.valid ? maker.binary(Opcode::kAnd, result, one_hot.valid) : result;
}

Instruction* as_gather(Instruction& dot, Maker& maker) {
  if (dot.operands.size() != 2 || !dot.shape.dynamic.empty()) return nullptr;
  const auto& a = dot.as<DotAttributes>();
  if (a.lhs_contracting_dims.size() != 1) return nullptr;
  for (const bool hot_left : {true, false}) {
    Instruction* hot = dot.operands[hot_left ? 0 : 1];
    const int64_t hot_class = (hot_left ? a.lhs_contracting_dims : a.rhs_contracting_dims)[0];
    if (!one_hot_along(hot, hot_class, nullptr) || element_count(dot.shape) == 0) continue;
    const OneHot one_hot = *one_hot_along(hot, hot_class, &maker);
    Instruction* places = places_of(one_hot, maker);
    Instruction* mask = spread(dot, hot_left, inside(one_hot, places, maker), maker);
    Instruction* rows = gathered(dot, hot_left, places, maker);
    if (one_hot.scale) {
      const ElementType type = sum_type(dot.shape.type);
      Instruction* scale = spread(dot, hot_left, maker.convert(one_hot.scale, type), maker);
      rows = maker.binary(Opcode::kMultiply, maker.convert(rows, type), scale);
    }
    rows = maker.convert(rows, dot.shape.type);
    return maker.select(mask, rows, maker.filled(dot.shape.type, dot.shape.dims, 0));
  }
  return nullptr;
}

}  // namespace

Result<PassResult> gather_one_hot_products(Module& module) {
  return rewrite_each(module, {Opcode::kDot}, as_gather, "products became gathers");
}

}  // namespace lowtide::engine
