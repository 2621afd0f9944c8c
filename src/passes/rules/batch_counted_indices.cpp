#include "passes/rules/batch_counted_indices.h"

#include <algorithm>

#include "ops/infer.h"
#include "passes/rules/index_forms.h"

namespace lowtide::engine {
namespace {

/// Attributes of gather and scatter with the same meaning but different names.
struct IndexMap {
  Dims* single = nullptr;    ///< dimensions in which each window has one element: collapsed or inserted
  Dims* map = nullptr;       ///< index component -> dimension
  Dims* batching = nullptr;  ///< of the array, ascending
  Dims* batched = nullptr;   ///< of the indices, paired with those
  int64_t vector_dim = 0;
};

/// A component that counts along a dimension of the indices that is as long as the array's.
struct Counted {
  size_t component = 0;
  int64_t dimension = 0;  ///< of the array
  int64_t along = 0;      ///< of the indices
};

std::optional<Counted> find_counted(const Instruction& array, const Instruction& indices, const IndexMap& m) {
  if (indices.opcode != Opcode::kConcatenate || indices.operands.size() < 2) return std::nullopt;
  if (indices.as<DimensionsAttributes>().dimensions[0] != m.vector_dim) return std::nullopt;
  size_t component = 0;
  for (const Instruction* part : indices.operands) {
    const auto width = static_cast<size_t>(part->shape.dims[m.vector_dim]);
    const int64_t d = (*m.map)[component];
    for (int64_t b = 0; width == 1 && contains(*m.single, d) && b < indices.shape.rank(); ++b) {
      if (b == m.vector_dim || contains(*m.batched, b)) continue;
      if (indices.shape.dims[b] != array.shape.dims[d]) continue;
      if (counts_along(*part, b) == 0) return Counted{component, d, b};
    }
    component += width;
  }
  return std::nullopt;
}

/// The indices without a component that is a separate operand of the concatenation.
Instruction* without_component(const Instruction& indices, size_t component, int64_t vector_dim, Maker& maker) {
  std::vector<Instruction*> parts;
  Shape shape = indices.shape;
  size_t next = 0;
  for (Instruction* part : indices.operands) {
    if (next != component) parts.push_back(part);
    next += static_cast<size_t>(part->shape.dims[vector_dim]);
  }
  --shape.dims[vector_dim];
  return parts.size() == 1
             ? parts[0]
             : maker.make(Opcode::kConcatenate, Shape::array(shape.type, shape.dims), parts, indices.attributes);
}

void make_batching(const Counted& c, const IndexMap& m) {
  std::erase(*m.single, c.dimension);
  m.map->erase(m.map->begin() + static_cast<std::ptrdiff_t>(c.component));
  const auto at = std::ranges::upper_bound(*m.batching, c.dimension) - m.batching->begin();
  m.batching->insert(m.batching->begin() + at, c.dimension);
  m.batched->insert(m.batched->begin() + at, c.along);
}

/// Turns all components that only count into batch dimensions; returns the remaining indices, null: there were none.
Instruction* batched(const Instruction& array, Instruction* indices, const IndexMap& m, Maker& maker) {
  Instruction* left = nullptr;
  while (const std::optional<Counted> c = find_counted(array, *indices, m)) {
    left = indices = without_component(*indices, c->component, m.vector_dim, maker);
    make_batching(*c, m);
  }
  return left;
}

Instruction* as_batch(Instruction& i, Maker& maker) {
  if (!i.shape.is_array() || !i.shape.dynamic.empty()) return nullptr;
  Attributes attributes = i.attributes;
  std::vector<Instruction*> operands = i.operands;
  if (auto* g = std::get_if<GatherAttributes>(&attributes)) {
    operands[1] = batched(i.operand(0), i.operands[1],
                          {&g->collapsed_slice_dims, &g->start_index_map, &g->operand_batching_dims,
                           &g->start_indices_batching_dims, g->index_vector_dim},
                          maker);
    g->indices_are_sorted = false;
    if (operands[1] == nullptr) return nullptr;
  } else if (auto* s = std::get_if<ScatterAttributes>(&attributes); s != nullptr && i.operands.size() == 3) {
    operands[1] = batched(i.operand(0), i.operands[1],
                          {&s->inserted_window_dims, &s->scatter_dims_to_operand_dims, &s->input_batching_dims,
                           &s->scatter_indices_batching_dims, s->index_vector_dim},
                          maker);
    s->indices_are_sorted = false;
    if (operands[1] == nullptr) return nullptr;
  } else {
    return nullptr;
  }
  Instruction* made = maker.like(i, i.shape, operands);
  made->attributes = attributes;
  return made;
}

}  // namespace

Result<PassResult> batch_counted_indices(Module& module) {
  return rewrite_each(module, {Opcode::kGather, Opcode::kScatter}, as_batch,
                      "gathers and scatters walk a dimension in step");
}

}  // namespace lowtide::engine
