// Rules for reads and writes at computed indices. Derivatives follow HLO's rules for indices out of bounds: reads are
// clamped, and updates are dropped.
#include <algorithm>

#include "arrays/program.h"
#include "arrays/support.h"
#include "lowtide/ops.h"

namespace lowtide::lazy {
namespace {

/// Indices with their vectors along the last dimension, and the batching dimensions renumbered accordingly.
struct IndexVectors {
  array indices;
  Dims batching;
};
IndexVectors last(const array& indices, int64_t vectors, Dims batching) {
  const auto rank = static_cast<int64_t>(indices.ndim());
  if (vectors == rank) {
    Shape shape = indices.shape();
    shape.push_back(1);
    return {reshape_to(indices, shape), std::move(batching)};
  }
  for (int64_t& d : batching) d -= d > vectors ? 1 : 0;
  return {moveaxis(indices, static_cast<int>(vectors), -1), std::move(batching)};
}

/// The indices in a signed type, so that they can be compared with bounds.
array as_places(const array& indices) {
  const bool wide = indices.dtype().size() > 4 || indices.dtype().val == Dtype::Val::uint32;
  return as_type(indices, wide ? int64 : int32, {});
}

/// The largest valid start of a slice, for each index of a vector.
array most_of(const Shape& of, const GatherDims& dims, Dtype dtype) {
  Leaves most;
  for (const int64_t d : dims.start_index_map)
    most.push_back(constant(static_cast<double>(of[at(d)] - dims.slice_sizes[at(d)]), dtype, {1}));
  return most.empty() ? constant(0, dtype, {0}) : join(most, 0);
}

array along_last(const array& a, const Shape& shape) {
  return broadcast_in(a, shape, {static_cast<int64_t>(shape.size()) - 1});
}

array inside(const array& given, const Shape& of, const GatherDims& dims) {
  array indices = given;
  if (indices.dtype().val == Dtype::Val::uint64)  // values above int64's range are out of bounds in any case
    indices = minimum(indices, constant(0x1p62, uint64, indices.shape()));
  const array places = as_places(indices);
  const array most = along_last(most_of(of, dims, places.dtype()), places.shape());
  return minimum(maximum(places, zeros_like(places)), most);
}

Leaves gather(const At& at) {
  const ProgramOperation& o = at.operation;
  GatherDims dims{.offset_dims = dims_of(o, "offset_dims"),
                  .collapsed = dims_of(o, "collapsed_slice_dims"),
                  .start_index_map = dims_of(o, "start_index_map"),
                  .batching = dims_of(o, "operand_batching_dims"),
                  .index_batching = dims_of(o, "start_indices_batching_dims"),
                  .slice_sizes = dims_of(o, "slice_sizes")};
  const Equal equal = [dims, shape = leaf_specs(o)[0].shape, vectors = integer_of(o, "index_vector_dim", 0)](
                          const Leaves& in, const Leaves&) -> Leaves {
    GatherDims own = dims;
    auto [indices, batching] = last(in[1], vectors, dims.index_batching);
    own.index_batching = std::move(batching);
    return {gather_slices(in[0], inside(indices, in[0].shape(), own), own, shape)};
  };
  return verbatim(at, as_of(equal), batched_as(equal));
}

Leaves scatter(const At& at) {
  const ProgramOperation& o = at.operation;
  const ProgramFunction& combiner = at.program->functions[o.functions.at(0)];
  std::optional<Scatter> kind;
  if (const auto op = binary_of(combiner)) {
    constexpr std::pair<Op, Scatter> kKinds[] = {{Op::kAdd, Scatter::kAdd},
                                                 {Op::kMultiply, Scatter::kMultiply},
                                                 {Op::kMaximum, Scatter::kMaximum},
                                                 {Op::kMinimum, Scatter::kMinimum}};
    for (const auto& [from, to] : kKinds) {
      if (*op == from) kind = to;
    }
  } else if (combiner.operations[source_of(combiner, combiner.result, 0).operation].parameter == 1) {
    kind = Scatter::kReplace;
  }
  if (!kind || at.in.size() != 3) return verbatim(at, nullptr);
  GatherDims dims{.offset_dims = dims_of(o, "update_window_dims"),
                  .collapsed = dims_of(o, "inserted_window_dims"),
                  .start_index_map = dims_of(o, "scatter_dims_to_operand_dims"),
                  .batching = dims_of(o, "input_batching_dims"),
                  .index_batching = dims_of(o, "scatter_indices_batching_dims")};
  size_t window = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(at[0].ndim()); ++d) {
    const auto one = [&](const Dims& among) { return std::ranges::find(among, d) != among.end(); };
    const bool gone = one(dims.collapsed) || one(dims.batching);
    dims.slice_sizes.push_back(gone ? 1 : at[2].shape()[lazy::at(dims.offset_dims[window++])]);
  }
  const Equal equal = [dims, kind = *kind, vectors = integer_of(o, "index_vector_dim", 0)](const Leaves& in,
                                                                                           const Leaves&) -> Leaves {
    GatherDims own = dims;
    auto [indices, batching] = last(in[1], vectors, dims.index_batching);
    own.index_batching = std::move(batching);
    const array places = as_places(indices);
    const array most = along_last(most_of(in[0].shape(), own, places.dtype()), places.shape());
    const array valid = logical_and(greater_equal(places, zeros_like(places)), less_equal(places, most));
    const array lies = lazy::reduce(valid, Reducer::kAnd, {static_cast<int64_t>(places.ndim()) - 1});
    Dims outside;
    for (int64_t d = 0; d < static_cast<int64_t>(in[2].ndim()); ++d) {
      if (std::ranges::find(own.offset_dims, d) == own.offset_dims.end()) outside.push_back(d);
    }
    const array there = broadcast_in(lies, in[2].shape(), outside);
    const array updates = where(there, in[2], stop_gradient(in[2]));
    return {scatter_slices(in[0], places, updates, kind, own)};
  };
  return verbatim(at, as_of(equal), batched_as(equal));
}

// ---- single slices with computed starts

array read_slice(const array& a, const Leaves& starts, const Shape& sizes);
array write_slice(const array& a, const array& update, const Leaves& starts);

GatherDims whole_slices(const Shape& sizes) {
  return {.offset_dims = all_axes(sizes.size()), .start_index_map = all_axes(sizes.size()), .slice_sizes = sizes};
}

array vector_of(const Leaves& starts) {
  Leaves each;
  for (const array& start : starts) each.push_back(reshape_to(as_places(start), {1}));
  for (const array& start : each) {
    if (start.dtype().size() < each[0].dtype().size() || start.dtype().size() > each[0].dtype().size()) {
      for (array& other : each) other = as_type(other, int64, {});
      break;
    }
  }
  return each.empty() ? constant(0, int32, {0}) : join(each, 0);
}

bool starts_batched(const Batch& batch, size_t from) {
  return std::find(batch.batched.begin() + static_cast<int64_t>(from), batch.batched.end(), true) !=
         batch.batched.end();
}

/// The starts, preceded by a 0 for the batch dimension.
Leaves starts_behind_batch(const std::vector<array>& inputs, size_t from) {
  Leaves starts(inputs.begin() + static_cast<int64_t>(from), inputs.end());
  starts.insert(starts.begin(), constant(0, starts.empty() ? int32 : starts[0].dtype()));
  return starts;
}

/// Inputs: a, then a start per dimension.
class ReadSlice final : public Primitive {
 public:
  explicit ReadSlice(Shape sizes) : sizes_(std::move(sizes)) {}
  std::string_view name() const override { return "read_slice"; }
  void describe(Key& key) const override { key.numbers(sizes_); }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    return {to.add("dynamic-slice", in, {{"dynamic_slice_sizes", list_text(sizes_)}}, out[0].shape, out[0].dtype)};
  }
  Gradients vjp(const Backward& b) const override {
    Gradients gradients(b.inputs.size());
    if (b.wanted[0])
      gradients[0] =
          write_slice(zeros_like(b.inputs[0]), b.cotangents[0], Leaves(b.inputs.begin() + 1, b.inputs.end()));
    return gradients;
  }
  std::vector<array> vmap(const Batch& batch) const override {
    if (!starts_batched(batch, 1)) {
      Shape sizes = sizes_;
      sizes.insert(sizes.begin(), batch.count);
      return {read_slice(batch.inputs[0], starts_behind_batch(batch.inputs, 1), sizes)};
    }
    return batched_as([sizes = sizes_](const Leaves& in, const Leaves&) -> Leaves {
      const GatherDims dims = whole_slices(sizes);
      const array starts = inside(vector_of(Leaves(in.begin() + 1, in.end())), in[0].shape(), dims);
      return {gather_slices(in[0], starts, dims, sizes)};
    })(batch);
  }

 private:
  Shape sizes_;
};

/// Inputs: a, the update, then a start per dimension.
class WriteSlice final : public Primitive {
 public:
  std::string_view name() const override { return "write_slice"; }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    return {to.add("dynamic-update-slice", in, {}, out[0].shape, out[0].dtype)};
  }
  Gradients vjp(const Backward& b) const override {
    Gradients gradients(b.inputs.size());
    const Leaves starts(b.inputs.begin() + 2, b.inputs.end());
    if (b.wanted[0]) gradients[0] = write_slice(b.cotangents[0], zeros_like(b.inputs[1]), starts);
    if (b.wanted[1]) gradients[1] = read_slice(b.cotangents[0], starts, b.inputs[1].shape());
    return gradients;
  }
  std::vector<array> vmap(const Batch& batch) const override {
    if (!starts_batched(batch, 2)) {
      return {write_slice(with_batch(batch.inputs[0], batch.batched[0], batch.count),
                          with_batch(batch.inputs[1], batch.batched[1], batch.count),
                          starts_behind_batch(batch.inputs, 2))};
    }
    return batched_as([](const Leaves& in, const Leaves&) -> Leaves {
      const GatherDims dims = whole_slices(in[1].shape());
      const array starts = inside(vector_of(Leaves(in.begin() + 2, in.end())), in[0].shape(), dims);
      return {scatter_slices(in[0], starts, in[1], Scatter::kReplace, dims)};
    })(batch);
  }
};

array read_slice(const array& a, const Leaves& starts, const Shape& sizes) {
  Leaves inputs = {a};
  inputs.insert(inputs.end(), starts.begin(), starts.end());
  return apply(std::make_shared<ReadSlice>(sizes), std::move(inputs), sizes, a.dtype());
}

array write_slice(const array& a, const array& update, const Leaves& starts) {
  Leaves inputs = {a, update};
  inputs.insert(inputs.end(), starts.begin(), starts.end());
  return apply(std::make_shared<WriteSlice>(), std::move(inputs), a.shape(), a.dtype());
}

Leaves scalars_from(const At& at, size_t from) {
  Leaves starts;
  for (size_t k = from; k < at.in.size(); ++k) starts.push_back(at[k]);
  if (starts.size() != at[0].ndim()) refuse(at.operation, "has its starts in one vector");
  return starts;
}

Leaves dynamic_slice(const At& at) {
  return {read_slice(at[0], scalars_from(at, 1), dims_of(at.operation, "dynamic_slice_sizes"))};
}
Leaves dynamic_update(const At& at) { return {write_slice(at[0], at[1], scalars_from(at, 2))}; }

}  // namespace

void add_place_rules(std::unordered_map<std::string_view, Rule>& rules) {
  rules["dynamic-slice"] = dynamic_slice;
  rules["dynamic-update-slice"] = dynamic_update;
  rules["gather"] = gather;
  rules["scatter"] = scatter;
}

}  // namespace lowtide::lazy
