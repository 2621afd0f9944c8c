#include "passes/execute/split_long_scatters.h"

#include <algorithm>

#include "ops/combiner.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

/// The dimension of the indices to split: the most major suitable one except the index vector's; -1: none.
int64_t cut_dimension(const Instruction& scatter, int64_t parts) {
  const Shape& indices = scatter.operand(1).shape;
  const int64_t vector = scatter.as<ScatterAttributes>().index_vector_dim;
  for (int64_t d = 0; d < indices.rank(); ++d) {
    if (d != vector && indices.dims[d] % parts == 0) return d;
  }
  return -1;
}

/// Into how many parts the scatter is split: as many as their copies are worth; 0: it isn't.
int64_t parts_of_scatter(const Instruction& i) {
  if (!i.shape.is_array() || i.operands.size() != 3) return 0;
  const ElementType type = i.shape.type;
  const int64_t places = element_count(i.shape), updates = element_count(i.operand(2).shape);
  if (!i.as<ScatterAttributes>().input_batching_dims.empty() || i.operand(2).shape.type != type) return 0;
  if (places == 0 || updates < kLongScatter) return 0;
  if (recognise_combiner(*i.called[0], type).kind != CombinerKind::kBinary) return 0;
  if (!neutral_element(i.called[0]->root->opcode, type)) return 0;
  if (i.parent->module().sums_in_order && !is_order_free(*i.called[0], type)) return 0;
  for (int64_t parts = kMostScatterParts; parts >= kLeastScatterParts; parts /= 2) {
    const bool pays = places <= updates / (parts * kWorthCopies) && parts * logical_bytes(i.shape) <= kMostCopies;
    if (pays && cut_dimension(i, parts) >= 0) return parts;
  }
  return 0;
}

/// The extents with the `at`-th split into (part, rest).
Dims cut(Dims dims, int64_t at, int64_t parts) {
  dims[at] /= parts;
  dims.insert(dims.begin() + at, parts);
  return dims;
}

/// Dimension numbers after a dimension is inserted at `at`.
Dims behind(Dims dimensions, int64_t at) {
  for (int64_t& d : dimensions) d += d >= at;
  return dimensions;
}

Instruction* split_scatter(const Instruction& scatter, int64_t count, Maker& maker) {
  const auto& given = scatter.as<ScatterAttributes>();
  const Shape& shape = scatter.shape;
  const Opcode opcode = scatter.called[0]->root->opcode;
  const int64_t d = cut_dimension(scatter, count);
  // The updates' dimensions that aren't window dimensions are those of the indices, in order.
  int64_t at = 0;
  for (int64_t left = d - (d > given.index_vector_dim ? 1 : 0);; ++at) {
    if (std::ranges::find(given.update_window_dims, at) != given.update_window_dims.end()) continue;
    if (left-- == 0) break;
  }
  Instruction* neutral = maker.make(Opcode::kConstant, Shape::scalar(shape.type), {},
                                    ConstantAttributes{neutral_element(opcode, shape.type)});
  Dims copies = shape.dims;
  copies.insert(copies.begin(), count);
  Instruction* places = maker.broadcast(neutral, copies, {});
  Instruction* indices = maker.reshape(scatter.operands[1], cut(scatter.operand(1).shape.dims, d, count));
  Instruction* updates = maker.reshape(scatter.operands[2], cut(scatter.operand(2).shape.dims, at, count));
  ScatterAttributes attributes = given;
  attributes.update_window_dims = behind(given.update_window_dims, at);
  attributes.inserted_window_dims = behind(given.inserted_window_dims, 0);
  attributes.scatter_dims_to_operand_dims = behind(given.scatter_dims_to_operand_dims, 0);
  attributes.input_batching_dims = {0};
  attributes.scatter_indices_batching_dims = {d};
  attributes.index_vector_dim += given.index_vector_dim >= d;
  Instruction* parts =
      maker.make(Opcode::kScatter, Shape::array(shape.type, copies), {places, indices, updates}, std::move(attributes));
  parts->called = scatter.called;
  Instruction* sum =
      maker.make(Opcode::kReduce, Shape::array(shape.type, shape.dims), {parts, neutral}, DimensionsAttributes{{0}});
  sum->called = scatter.called;
  return maker.binary(opcode, scatter.operands[0], sum);
}

}  // namespace

Result<PassResult> split_long_scatters(Module& module) {
  return rewrite_each(
      module, {Opcode::kScatter},
      [](Instruction& i, Maker& maker) {
        const int64_t parts = parts_of_scatter(i);
        return parts > 0 ? split_scatter(i, parts, maker) : nullptr;
      },
      "scatters split");
}

}  // namespace lowtide::engine
