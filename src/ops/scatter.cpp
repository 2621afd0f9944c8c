/// scatter: combines updates into operands at computed places.
///   operands T_k[s] (N of them), scatter_indices I[b.., v], updates T_k[u] (N) -> T_k[s] (a tuple where N > 1)
///   The mirror of gather: update_window_dims are the updates' dimensions that walk a window of the operand without its
///   inserted_window_dims and input_batching_dims; the other ones walk the batch of index vectors. Entry k of a vector
///   is the start in operand dimension scatter_dims_to_operand_dims[k]. A window that does not fit wholly is left out.
///   to_apply (old_1..old_N, update_1..update_N) -> new_1..new_N, applied in row-major order of the updates.
///   (C1) N operands, an array of integers, N updates  (C2) 0 <= index_vector_dim <= rank of scatter_indices
///   (C3) scatter_dims_to_operand_dims has one entry per element of an index vector
///   (C4) scatter_dims_to_operand_dims and input_batching_dims are distinct dimensions of the operand
///   (C5) inserted_window_dims and input_batching_dims are distinct dimensions of the operand
///   (C6) scatter_indices_batching_dims pair with input_batching_dims, equal in extent
///   (C7) update_window_dims are ascending dimensions of the updates, one per operand dimension that stays
///   (C8) windows fit into the operand, the other extents of the updates are those of the batch
///   (C9) operands have equal extents, updates too, each with the element type of its operand
///   (C10) to_apply takes 2N scalars and gives N

#include <fmt/format.h>

#include <algorithm>

#include "ops/elementwise.h"

namespace lowtide {
namespace {

Status read(AttributeReader& reader, Instruction& instruction) {
  ScatterAttributes scatter;
  LT_ASSIGN_OR_RETURN(scatter.update_window_dims, reader.take_dims("update_window_dims"));
  LT_ASSIGN_OR_RETURN(scatter.inserted_window_dims, reader.take_dims("inserted_window_dims"));
  LT_ASSIGN_OR_RETURN(scatter.scatter_dims_to_operand_dims, reader.take_dims("scatter_dims_to_operand_dims"));
  LT_ASSIGN_OR_RETURN(scatter.input_batching_dims, reader.take_dims_or("input_batching_dims", {}));
  LT_ASSIGN_OR_RETURN(scatter.scatter_indices_batching_dims, reader.take_dims_or("scatter_indices_batching_dims", {}));
  LT_ASSIGN_OR_RETURN(scatter.index_vector_dim, reader.take_integer("index_vector_dim"));
  LT_ASSIGN_OR_RETURN(scatter.indices_are_sorted, reader.take_bool_or("indices_are_sorted", false));
  LT_ASSIGN_OR_RETURN(scatter.unique_indices, reader.take_bool_or("unique_indices", false));
  LT_ASSIGN_OR_RETURN(Computation * combiner, reader.take_computation("to_apply"));
  instruction.called = {combiner};
  instruction.attributes = std::move(scatter);
  return {};
}

void print(const Instruction& instruction, AttributeWriter& writer) {
  const auto& scatter = instruction.as<ScatterAttributes>();
  writer.dims("update_window_dims", scatter.update_window_dims);
  writer.dims("inserted_window_dims", scatter.inserted_window_dims);
  writer.dims("scatter_dims_to_operand_dims", scatter.scatter_dims_to_operand_dims);
  if (!scatter.input_batching_dims.empty()) writer.dims("input_batching_dims", scatter.input_batching_dims);
  if (!scatter.scatter_indices_batching_dims.empty()) {
    writer.dims("scatter_indices_batching_dims", scatter.scatter_indices_batching_dims);
  }
  writer.integer("index_vector_dim", scatter.index_vector_dim);
  if (scatter.indices_are_sorted) writer.boolean("indices_are_sorted", true);
  if (scatter.unique_indices) writer.boolean("unique_indices", true);
  writer.computation("to_apply", *instruction.called[0]);
}

/// (C2) to (C6).
Status check_places(const Instruction& instruction, const Shape& operand, const Shape& indices) {
  const auto& scatter = instruction.as<ScatterAttributes>();
  if (scatter.index_vector_dim < 0 || scatter.index_vector_dim > indices.rank()) {
    return broken(instruction, "C2",
                  fmt::format("index_vector_dim {} must lie in [0, {}], the rank of {}", scatter.index_vector_dim,
                              indices.rank(), to_string_without_layout(indices)));
  }
  const bool scalar_indices = scatter.index_vector_dim == indices.rank();
  const int64_t vector = scalar_indices ? 1 : indices.dims[static_cast<size_t>(scatter.index_vector_dim)];
  if (!agree(vector, static_cast<int64_t>(scatter.scatter_dims_to_operand_dims.size()))) {
    return broken(instruction, "C3",
                  fmt::format("scatter_dims_to_operand_dims has {} entries but index vectors have {}",
                              scatter.scatter_dims_to_operand_dims.size(), vector));
  }
  const Dims& batching = scatter.input_batching_dims;
  Dims placed = scatter.scatter_dims_to_operand_dims;
  placed.insert(placed.end(), batching.begin(), batching.end());
  if (!are_distinct_dims(placed, operand.rank())) {
    return broken(instruction, "C4",
                  fmt::format("scatter_dims_to_operand_dims {} and input_batching_dims {} must be distinct dimensions "
                              "of {}",
                              to_string(scatter.scatter_dims_to_operand_dims), to_string(batching),
                              to_string_without_layout(operand)));
  }
  Dims dropped = scatter.inserted_window_dims;
  dropped.insert(dropped.end(), batching.begin(), batching.end());
  if (!are_distinct_dims(dropped, operand.rank())) {
    return broken(
        instruction, "C5",
        fmt::format("inserted_window_dims {} and input_batching_dims {} must be distinct dimensions of {}",
                    to_string(scatter.inserted_window_dims), to_string(batching), to_string_without_layout(operand)));
  }
  const Dims& batch = scatter.scatter_indices_batching_dims;
  bool paired = batch.size() == batching.size() && are_distinct_dims(batch, indices.rank()) &&
                !contains(batch, scatter.index_vector_dim);
  for (size_t i = 0; paired && i < batch.size(); ++i) {
    paired = agree(indices.dims[static_cast<size_t>(batch[i])], operand.dims[static_cast<size_t>(batching[i])]);
  }
  if (!paired) {
    return broken(instruction, "C6",
                  fmt::format("scatter_indices_batching_dims {} of {} must pair with input_batching_dims {} of {}",
                              to_string(batch), to_string_without_layout(indices), to_string(batching),
                              to_string_without_layout(operand)));
  }
  return {};
}

/// (C7) and (C8).
Status check_updates(const Instruction& instruction, const Shape& operand, const Shape& indices, const Shape& updates) {
  const auto& scatter = instruction.as<ScatterAttributes>();
  Dims window, batch;  // operand extents that windows walk; extents of the batch of index vectors
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (!contains(scatter.inserted_window_dims, d) && !contains(scatter.input_batching_dims, d)) {
      window.push_back(operand.dims[static_cast<size_t>(d)]);
    }
  }
  for (int64_t d = 0; d < indices.rank(); ++d) {
    if (d != scatter.index_vector_dim) batch.push_back(indices.dims[static_cast<size_t>(d)]);
  }
  const Dims& dims = scatter.update_window_dims;
  if (dims.size() != window.size() || updates.dims.size() != window.size() + batch.size() ||
      !are_distinct_dims(dims, updates.rank()) || !std::is_sorted(dims.begin(), dims.end())) {
    return broken(
        instruction, "C7",
        fmt::format("update_window_dims {} must be {} ascending dimensions of updates of rank {}, got {}",
                    to_string(dims), window.size(), window.size() + batch.size(), to_string_without_layout(updates)));
  }
  size_t next_window = 0, next_batch = 0;
  for (int64_t d = 0; d < updates.rank(); ++d) {
    const int64_t extent = updates.dims[static_cast<size_t>(d)];
    const bool in_window = contains(dims, d);
    const int64_t bound = in_window ? window[next_window++] : batch[next_batch++];
    if (in_window ? extent > bound && bound != kUnboundedDim : !agree(extent, bound)) {
      return broken(instruction, "C8",
                    fmt::format("dimension {} of updates {} must be {} {}", d, to_string_without_layout(updates),
                                in_window ? "at most" : "equal to", bound));
    }
  }
  return {};
}

/// (C10)
Status check_combiner(const Instruction& instruction, size_t count) {
  const auto fault = [&] {
    return broken(instruction, "C10", fmt::format("to_apply must take {} scalars and give {}", 2 * count, count));
  };
  if (instruction.called.size() != 1 || !instruction.called[0]->root) return fault();
  const std::vector<Instruction*> parameters = instruction.called[0]->parameters();
  if (parameters.size() != 2 * count) return fault();
  for (const Instruction* parameter : parameters) {
    if (!parameter || !parameter->shape.is_array() || parameter->shape.rank() != 0) return fault();
  }
  const Shape& root = instruction.called[0]->root->shape;
  if (count == 1 && !root.is_tuple()) return root.is_array() && root.rank() == 0 ? Status() : fault();
  if (!root.is_tuple() || root.elements.size() != count) return fault();
  for (const Shape& element : root.elements) {
    if (!element.is_array() || element.rank() != 0) return fault();
  }
  return {};
}

Result<Shape> infer(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(check_operands(instruction, "C1", kAnyArity, kAnything));
  const size_t count = instruction.operands.size() / 2;
  if (instruction.operands.size() != 2 * count + 1 || count == 0 ||
      !(kind_of(instruction.operand(count).shape.type) & kIntegers)) {
    return broken(instruction, "C1",
                  fmt::format("expects operands, integer indices and as many updates, got {} operands",
                              instruction.operands.size()));
  }
  const Shape& operand = instruction.operand(0).shape;
  const Shape& indices = instruction.operand(count).shape;
  const Shape& updates = instruction.operand(count + 1).shape;
  LT_RETURN_IF_ERROR(check_places(instruction, operand, indices));
  LT_RETURN_IF_ERROR(check_updates(instruction, operand, indices, updates));
  std::vector<Shape> results;
  for (size_t k = 0; k < count; ++k) {
    const Shape& a = instruction.operand(k).shape;
    const Shape& u = instruction.operand(count + 1 + k).shape;
    if (!same_extents(a, operand) || !same_extents(u, updates) || !same_or_mixed_precision(a.type, u.type)) {
      return broken(instruction, "C9",
                    fmt::format("operand {} and update {} must match {} and {}, in element type too",
                                to_string_without_layout(a), to_string_without_layout(u),
                                to_string_without_layout(operand), to_string_without_layout(updates)));
    }
    results.push_back(with_type(a, a.type));
  }
  LT_RETURN_IF_ERROR(check_combiner(instruction, count));
  return count == 1 ? results[0] : Shape::tuple(std::move(results));
}

}  // namespace

const OpRule kScatterRule{.read = read, .print = print, .infer = infer};

}  // namespace lowtide
