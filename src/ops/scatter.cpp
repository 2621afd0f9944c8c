/// scatter: combines updates into operands at computed starts.
///   operands T_k[s] (N of them), scatter_indices I[b.., v], updates T_k[u] (N) -> T_k[s] (a tuple if N > 1)
///   The mirror of gather: update_window_dims are the updates' dimensions that walk a window of the operand without its
///   inserted_window_dims and input_batching_dims; the other ones walk the batch of index vectors. Entry k of a vector
///   is the start in operand dimension scatter_dims_to_operand_dims[k]. A window not completely inside is skipped.
///   to_apply (old_1..old_N, update_1..update_N) -> new_1..new_N, applied window after window.
///   (C1) N operands, an array of integers, N updates  (C2) 0 <= index_vector_dim <= rank of scatter_indices
///   (C3) scatter_dims_to_operand_dims has one entry per element of an index vector
///   (C4) scatter_dims_to_operand_dims and input_batching_dims are distinct dimensions of the operand
///   (C5) inserted_window_dims and input_batching_dims are distinct dimensions of the operand
///   (C6) scatter_indices_batching_dims pair with input_batching_dims, equal in extent
///   (C7) update_window_dims are ascending dimensions of the updates, one per operand dimension that stays
///   (C8) windows fit into the operand, the other extents of the updates are those of the batch
///   (C9) operands have equal extents, updates too, each with the element type of its operand
///   (C10) to_apply takes 2N scalars of the operands' element types, up to the precision of floats, and gives N

#include <fmt/format.h>

#include <algorithm>

#include "ops/combiner.h"
#include "ops/dimension_roles.h"
#include "ops/element_rules.h"
#include "ops/elementwise.h"
#include "ops/evaluations.h"
#include "ops/extents.h"
#include "ops/index_vectors.h"
#include "ops/strided.h"
#include "ops/updates_taken.h"

namespace lowtide::engine {
namespace {

Status read_scatter(AttributeReader& reader, Instruction& instruction) {
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

void print_scatter(const Instruction& instruction, AttributeWriter& writer) {
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

/// Checks (C2) to (C6).
Status check_places(const Instruction& instruction, const Shape& operand, const Shape& indices) {
  const auto& scatter = instruction.as<ScatterAttributes>();
  if (scatter.index_vector_dim < 0 || scatter.index_vector_dim > indices.rank()) {
    return broken(instruction, "C2",
                  fmt::format("index_vector_dim {} must lie in [0, {}], the rank of {}", scatter.index_vector_dim,
                              indices.rank(), to_string_without_layout(indices)));
  }
  const bool scalar_indices = scatter.index_vector_dim == indices.rank();
  const int64_t vector = scalar_indices ? 1 : indices.dims[scatter.index_vector_dim];
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
    paired = agree(indices.dims[batch[i]], operand.dims[batching[i]]);
  }
  if (!paired) {
    return broken(instruction, "C6",
                  fmt::format("scatter_indices_batching_dims {} of {} must pair with input_batching_dims {} of {}",
                              to_string(batch), to_string_without_layout(indices), to_string(batching),
                              to_string_without_layout(operand)));
  }
  return {};
}

/// Checks (C7) and (C8).
Status check_updates(const Instruction& instruction, const Shape& operand, const Shape& indices, const Shape& updates) {
  const auto& scatter = instruction.as<ScatterAttributes>();
  Dims window, batch;  // operand extents that windows walk; extents of the batch of index vectors
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (!contains(scatter.inserted_window_dims, d) && !contains(scatter.input_batching_dims, d)) {
      window.push_back(operand.dims[d]);
    }
  }
  for (int64_t d = 0; d < indices.rank(); ++d) {
    if (d != scatter.index_vector_dim) batch.push_back(indices.dims[d]);
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
    const int64_t extent = updates.dims[d];
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

/// Checks (C10).
Status check_combiner(const Instruction& instruction, size_t count) {
  const auto fault = [&] {
    return broken(instruction, "C10",
                  fmt::format("to_apply must take {} scalars of the operands' types and give {}", 2 * count, count));
  };
  const auto fits = [&](const Shape& shape, size_t k) {
    return shape.is_array() && shape.rank() == 0 &&
           same_or_mixed_precision(shape.type, instruction.operand(k).shape.type);
  };
  if (instruction.called.size() != 1 || !instruction.called[0]->root) return fault();
  const std::vector<Instruction*> parameters = instruction.called[0]->parameters();
  if (parameters.size() != 2 * count) return fault();
  for (size_t k = 0; k < parameters.size(); ++k) {
    if (!parameters[k] || !fits(parameters[k]->shape, k % count)) return fault();
  }
  const Shape& root = instruction.called[0]->root->shape;
  if (count == 1 && !root.is_tuple()) return fits(root, 0) ? Status() : fault();
  if (!root.is_tuple() || root.elements.size() != count) return fault();
  for (size_t k = 0; k < count; ++k) {
    if (!fits(root.elements[k], k)) return fault();
  }
  return {};
}

Result<Shape> infer_scatter(const Instruction& instruction) {
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

/// Combines one window of updates into the operands.
class WindowCombiner {
 public:
  WindowCombiner(const Computation& computation, std::vector<std::shared_ptr<Literal>> olds, std::vector<Value> updates,
                 EvalContext& context)
      : computation_(computation),
        parameters_(computation.parameters()),
        olds_(std::move(olds)),
        updates_(std::move(updates)),
        context_(context) {
    if (olds_.size() == 1) fast_ = recognise_combiner(computation, olds_[0]->shape().type);
  }

  Status combine(const StridedCopy& window) {
    const int64_t to_step = window.extents.empty() ? 1 : window.to_steps.back();
    const int64_t from_step = window.extents.empty() ? 1 : window.from_steps.back();
    Status status;
    walk_rows(window, [&](int64_t to, int64_t from, int64_t count) {
      for (int64_t i = 0; i < count && status.ok(); ++i) status = combine(to + i * to_step, from + i * from_step);
    });
    return status;
  }

  const std::vector<std::shared_ptr<Literal>>& results() const { return olds_; }

 private:
  Status combine(int64_t to, int64_t from) {
    if (fast_.combine) {
      const int bytes = stored_bytes(olds_[0]->shape().type);
      fast_.combine(olds_[0]->bytes().data() + to * bytes, updates_[0]->bytes().data() + from * bytes);
      return {};
    }
    const size_t count = olds_.size();
    std::vector<Value> arguments(2 * count);
    for (size_t k = 0; k < 2 * count; ++k) {
      const Value given = k < count ? element(*olds_[k], to) : element(*updates_[k - count], from);
      LT_ASSIGN_OR_RETURN(arguments[k], convert_elements(given, parameters_[k]->shape.type));
    }
    LT_ASSIGN_OR_RETURN(const Value result, context_.call(computation_, arguments));
    for (size_t k = 0; k < count; ++k) {
      const Value& part = result->shape().is_tuple() ? result->parts()[k] : result;
      LT_ASSIGN_OR_RETURN(const Value converted, convert_elements(part, olds_[k]->shape().type));
      copy_strided({.to_start = to}, *converted, *olds_[k]);
    }
    return {};
  }

  static Value element(const Literal& array, int64_t at) {
    const auto scalar = std::make_shared<Literal>(Shape::scalar(array.shape().type));
    copy_strided({.from_start = at}, array, *scalar);
    return scalar;
  }

  const Computation& computation_;
  std::vector<Instruction*> parameters_;
  std::vector<std::shared_ptr<Literal>> olds_;
  std::vector<Value> updates_;
  EvalContext& context_;
  Combiner fast_;
};

Result<Value> eval_scatter(const Instruction& instruction, Operands operands, EvalContext& context) {
  const auto& scatter = instruction.as<ScatterAttributes>();
  const size_t count = operands.size() / 2;
  const Dims& extents = operands[0]->shape().dims;
  const Dims& update_extents = operands[count + 1]->shape().dims;
  const Dims steps = row_major_strides(extents), update_steps = row_major_strides(update_extents);
  const IndexVectors indices(*operands[count], scatter.index_vector_dim);

  std::vector<std::shared_ptr<Literal>> olds;
  std::vector<Value> updates;
  for (size_t k = 0; k < count; ++k) {
    olds.push_back(std::make_shared<Literal>(*operands[k]));
    LT_ASSIGN_OR_RETURN(Value update, convert_elements(operands[count + 1 + k], olds[k]->shape().type));
    updates.push_back(std::move(update));
  }
  WindowCombiner combiner(*instruction.called[0], std::move(olds), std::move(updates), context);

  // The copy of one window; `sizes` are its extents in the operand.
  StridedCopy window;
  Dims sizes(extents.size(), 1);
  size_t next_window = 0;
  for (size_t d = 0; d < extents.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (contains(scatter.inserted_window_dims, dim) || contains(scatter.input_batching_dims, dim)) continue;
    const auto along = static_cast<size_t>(scatter.update_window_dims[next_window++]);
    sizes[d] = update_extents[along];
    if (sizes[d] == 1) continue;
    window.extents.push_back(sizes[d]);
    window.to_steps.push_back(steps[d]);
    window.from_steps.push_back(update_steps[along]);
  }
  Dims batch_steps;  // the updates' steps along the batch of index vectors
  for (size_t d = 0; d < update_extents.size(); ++d) {
    if (!contains(scatter.update_window_dims, static_cast<int64_t>(d))) batch_steps.push_back(update_steps[d]);
  }

  Dims batch(batch_steps.size(), 0);
  bool more = operands[count + 1]->size() > 0;
  for (; more; more = advance(batch, indices.batch())) {
    window.to_start = window.from_start = 0;
    for (size_t d = 0; d < batch.size(); ++d) window.from_start += batch[d] * batch_steps[d];
    bool fits = true;
    for (size_t d = 0; d < extents.size(); ++d) fits = fits && sizes[d] <= extents[d];
    for (size_t k = 0; k < scatter.scatter_dims_to_operand_dims.size(); ++k) {
      const auto d = static_cast<size_t>(scatter.scatter_dims_to_operand_dims[k]);
      const int64_t start = indices.at(batch, k);
      if (start < 0 || start > extents[d] - sizes[d]) {
        fits = false;
        break;
      }
      window.to_start += start * steps[d];
    }
    if (!fits) continue;
    for (size_t k = 0; k < scatter.input_batching_dims.size(); ++k) {
      const int64_t place = batch[indices.batch_dimension(scatter.scatter_indices_batching_dims[k])];
      window.to_start += place * steps[scatter.input_batching_dims[k]];
    }
    LT_RETURN_IF_ERROR(combiner.combine(window));
  }
  std::vector<Value> results(combiner.results().begin(), combiner.results().end());
  if (count == 1) return results[0];
  return Value(std::make_shared<const Literal>(std::move(results)));
}

/// The operand's dimensions that windows walk, in the order of update_window_dims.
Dims walked_dims(const Instruction& instruction) {
  const auto& scatter = instruction.as<ScatterAttributes>();
  Dims walked;
  for (int64_t d = 0; d < instruction.operand(0).shape.rank(); ++d) {
    if (!contains(scatter.inserted_window_dims, d) && !contains(scatter.input_batching_dims, d)) walked.push_back(d);
  }
  return walked;
}

std::vector<OperandDimension> roles_of_scatter(const Instruction& instruction, size_t operand) {
  const auto& scatter = instruction.as<ScatterAttributes>();
  const size_t count = instruction.operands.size() / 2;
  const Shape& base = instruction.operand(0).shape;
  const Shape& shape = instruction.operand(operand).shape;
  std::vector<OperandDimension> roles(shape.dims.size());
  if (operand < count) {
    for (int64_t d = 0; d < base.rank(); ++d) roles[d] = pointwise(d);
    return roles;
  }
  const auto batched = [&](int64_t d) -> int64_t {  // dimension of the result for dimension d of the indices
    const Dims& dims = scatter.scatter_indices_batching_dims;
    const auto at = std::find(dims.begin(), dims.end(), d);
    return at == dims.end() ? -1 : scatter.input_batching_dims[at - dims.begin()];
  };
  if (operand == count) {
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (d == scatter.index_vector_dim) continue;
      roles[d] = batched(d) >= 0 ? pointwise(batched(d)) : reduced(d);
    }
    return roles;
  }
  int64_t next_batch = 0;
  const Dims walked = walked_dims(instruction);
  size_t next_window = 0;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    OperandDimension& role = roles[d];
    if (contains(scatter.update_window_dims, d)) {
      const int64_t along = walked[next_window++];
      const bool whole = shape.dims[d] == base.dims[along];
      if (whole) role = pointwise(along);
      continue;
    }
    const int64_t of_indices = next_batch < scatter.index_vector_dim ? next_batch : next_batch + 1;
    ++next_batch;
    role = batched(of_indices) >= 0 ? pointwise(batched(of_indices)) : reduced(of_indices);
  }
  return roles;
}

bool folds_of_scatter(const Instruction& scatter, size_t, int64_t) { return scatter.operands.size() == 3; }

/// Along a dimension in which updates have one element at an index, each slice takes the updates that lie in it and
/// skips all others: an index that wraps around when the slice's start is subtracted still lies outside.
std::optional<Positions> positions_of_scatter(const Instruction& instruction, int64_t d) {
  const auto& scatter = instruction.as<ScatterAttributes>();
  const size_t count = instruction.operands.size() / 2;
  const Dims& placed = scatter.scatter_dims_to_operand_dims;
  const auto entry = std::ranges::find(placed, d);
  if (entry == placed.end()) return std::nullopt;
  const Dims walked = walked_dims(instruction);
  const auto window = std::ranges::find(walked, d);
  if (window != walked.end()) {
    const int64_t of_updates = scatter.update_window_dims[window - walked.begin()];
    if (instruction.operand(count + 1).shape.dims[of_updates] != 1) return std::nullopt;
  }
  const Shape& indices = instruction.operand(count).shape;
  const int64_t extent = instruction.operand(0).shape.dims[d];
  if (!holds_position(indices.type, extent - 1)) return std::nullopt;
  const bool vectors = scatter.index_vector_dim < indices.rank();
  return Positions{.operand = static_cast<int64_t>(count),
                   .vectors = vectors ? scatter.index_vector_dim : -1,
                   .entry = entry - placed.begin()};
}

/// Slices along the dimension of an index get but a part of the updates, and in another order of indices.
void part_of_scatter(const Instruction& original, int64_t d, int64_t, Attributes& attributes) {
  if (positions_of_scatter(original, d)) std::get<ScatterAttributes>(attributes).indices_are_sorted = false;
}

constexpr Slicing kScatterSlicing{.roles = roles_of_scatter,
                                  .sliceable = Sliceable::kInStep,
                                  .whole = ReadWhole::kSecond,
                                  .adapt = part_of_scatter,
                                  .folds = folds_of_scatter,
                                  .positions = positions_of_scatter,
                                  .rows = kRowsInStep};

void extents_of_scatter(ExtentRelater& r) {
  const Instruction& i = r.instruction();
  extents_by_roles(r);
  const auto& a = i.as<ScatterAttributes>();
  const size_t count = i.operands.size() / 2;
  for (size_t k = 0; k < count; ++k) {
    r.same(i, static_cast<int64_t>(k), i.operand(k), 0);
    r.same(i.operand(0), 0, i.operand(k), 0);
    r.same(i.operand(count + 1), 0, i.operand(count + 1 + k), 0);
  }
  size_t next = 0;
  for (size_t d = 0; d < i.operand(0).shape.dims.size(); ++d) {
    const auto place = static_cast<int64_t>(d);
    if (contains(a.inserted_window_dims, place) || contains(a.input_batching_dims, place)) continue;
    r.at_most(r.of_operand(count + 1, static_cast<size_t>(a.update_window_dims[next++])), r.of_operand(0, d));
  }
  if (a.index_vector_dim < i.operand(count).shape.rank()) {
    r.freeze(r.of_operand(count, static_cast<size_t>(a.index_vector_dim)), "numbers of an index");
  }
}

/// Updates that lie outside are skipped without being read.
void reads_of_scatter(OperandReads& reads) {
  const bool updates = static_cast<size_t>(reads.operand()) > reads.user().operands.size() / 2;
  const double taken = updates ? updates_taken(reads.user()) : 1;
  if (taken == 1) return reads_anywhere(reads);
  reads.in_own_loop(reads.elements() * taken);
}

/// How many updates an element sums: they are assumed to go to few different windows.
double terms_of_scatter(const Instruction& scatter) {
  constexpr double kPlaces = 8;  // the number of windows that seeded indices name
  const Shape& updates = scatter.operands.back()->shape;
  double terms = static_cast<double>(element_count(updates));
  for (const int64_t d : scatter.as<ScatterAttributes>().update_window_dims) {
    terms /= static_cast<double>(std::max<int64_t>(1, updates.dims[d]));
  }
  return terms / kPlaces;
}

bool split_scatter(SplitOperation& split, Attributes& attributes) {
  auto& scatter = std::get<ScatterAttributes>(attributes);
  if (split.operands.size() != 3) return false;
  const SplitDims &array = split.operands[0], &indices = split.operands[1], &updates = split.operands[2];
  if (array.splits_any(scatter.scatter_dims_to_operand_dims)) return false;
  scatter.update_window_dims = updates.numbers(scatter.update_window_dims);
  scatter.inserted_window_dims = array.numbers(scatter.inserted_window_dims);
  scatter.scatter_dims_to_operand_dims = array.numbers(scatter.scatter_dims_to_operand_dims);
  scatter.input_batching_dims = array.numbers(scatter.input_batching_dims);
  scatter.scatter_indices_batching_dims = indices.numbers(scatter.scatter_indices_batching_dims);
  scatter.index_vector_dim = indices.number(scatter.index_vector_dim);
  return true;
}

}  // namespace

const OpRule kScatterRule{
    .read = read_scatter,
    .print = print_scatter,
    .infer = infer_scatter,
    .eval = eval_scatter,
    .update = update_scatter,
    .has_update = has_update_scatter,
    .updated_operand = updated_operand_of_scatter,
    .split = split_scatter,
    .slicing = kScatterSlicing,
    .extents = extents_of_scatter,
    .reads = reads_of_scatter,
    .arithmetic = {.plain = 1, .complex = 1, .code = 1, .rounds = Rounds::kAsItsBody, .terms = terms_of_scatter}};

}  // namespace lowtide::engine
