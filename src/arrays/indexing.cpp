// Gather and scatter, which read and write slices at computed indices. Each is the other's derivative.
#include <algorithm>

#include "arrays/primitives.h"
#include "lowtide/ops.h"

namespace lowtide::lazy {
namespace {

void describe_dims(Key& key, const GatherDims& dims) {
  for (const Dims* list : {&dims.offset_dims, &dims.collapsed, &dims.start_index_map, &dims.batching,
                           &dims.index_batching, &dims.slice_sizes})
    key.numbers(*list);
}

/// The dimension numbers if operand and indices have a leading batch dimension.
GatherDims batched_dims(const GatherDims& dims) {
  return {shifted(dims.offset_dims),
          shifted(dims.collapsed),
          shifted(dims.start_index_map),
          in_front(0, shifted(dims.batching)),
          in_front(0, shifted(dims.index_batching)),
          in_front(1, dims.slice_sizes)};
}

class Gather final : public Primitive {
 public:
  explicit Gather(GatherDims dims) : dims_(std::move(dims)) {}
  std::string_view name() const override { return "gather"; }
  void describe(Key& key) const override { describe_dims(key, dims_); }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    Attributes attributes = {{"offset_dims", list_text(dims_.offset_dims)},
                             {"collapsed_slice_dims", list_text(dims_.collapsed)},
                             {"start_index_map", list_text(dims_.start_index_map)}};
    if (!dims_.batching.empty()) {
      attributes.push_back({"operand_batching_dims", list_text(dims_.batching)});
      attributes.push_back({"start_indices_batching_dims", list_text(dims_.index_batching)});
    }
    attributes.push_back({"index_vector_dim", std::to_string(in[1].shape.size() - 1)});
    attributes.push_back({"slice_sizes", list_text(dims_.slice_sizes)});
    return {to.add("gather", in, std::move(attributes), out[0].shape, out[0].dtype)};
  }
  Gradients vjp(const Backward& b) const override {
    Gradients gradients(2);
    if (b.wanted[0])
      gradients[0] = scatter_slices(zeros_like(b.inputs[0]), b.inputs[1], b.cotangents[0], Scatter::kAdd, dims_);
    return gradients;
  }
  std::vector<array> vmap(const Batch& batch) const override {
    const array &a = batch.inputs[0], &indices = batch.inputs[1];
    const Shape shape = in_front(batch.count, batch.outputs[0].shape);
    if (batch.batched[0] && batch.batched[1]) return {gather_slices(a, indices, batched_dims(dims_), shape)};
    GatherDims dims = dims_;
    dims.offset_dims = shifted(dims.offset_dims);
    if (batch.batched[0]) {  // each slice includes the whole batch dimension
      dims.offset_dims = in_front(0, dims.offset_dims);
      dims.collapsed = shifted(dims.collapsed);
      dims.start_index_map = shifted(dims.start_index_map);
      dims.batching = shifted(dims.batching);
      dims.slice_sizes = in_front(batch.count, dims.slice_sizes);
    } else {
      dims.index_batching = shifted(dims.index_batching);
    }
    return {gather_slices(a, indices, dims, shape)};
  }

 private:
  GatherDims dims_;
};

class ScatterSlices final : public Primitive {
 public:
  ScatterSlices(Scatter kind, GatherDims dims) : kind_(kind), dims_(std::move(dims)) {}
  std::string_view name() const override { return "scatter"; }
  void describe(Key& key) const override {
    key.number(static_cast<int64_t>(kind_));
    describe_dims(key, dims_);
  }
  std::vector<Term> lower(Lowering& to, const std::vector<Term>& in, const std::vector<Spec>& out) const override {
    Attributes attributes = {{"update_window_dims", list_text(dims_.offset_dims)},
                             {"inserted_window_dims", list_text(dims_.collapsed)},
                             {"scatter_dims_to_operand_dims", list_text(dims_.start_index_map)}};
    if (!dims_.batching.empty()) {
      attributes.push_back({"input_batching_dims", list_text(dims_.batching)});
      attributes.push_back({"scatter_indices_batching_dims", list_text(dims_.index_batching)});
    }
    attributes.push_back({"index_vector_dim", std::to_string(in[1].shape.size() - 1)});
    const Dtype dtype = out[0].dtype;
    std::string combiner;
    switch (kind_) {
      case Scatter::kReplace: {
        auto function = to.nested("second");
        (void)function.lowering->parameter({}, dtype);
        function.lowering->finish({function.lowering->parameter({}, dtype)});
        combiner = function.name;
        break;
      }
      case Scatter::kAdd: combiner = to.reducer(Reducer::kSum, dtype); break;
      case Scatter::kMultiply: combiner = to.reducer(Reducer::kProduct, dtype); break;
      case Scatter::kMaximum: combiner = to.reducer(Reducer::kMaximum, dtype); break;
      case Scatter::kMinimum: combiner = to.reducer(Reducer::kMinimum, dtype); break;
    }
    attributes.push_back({"to_apply", combiner});
    return {to.add("scatter", in, std::move(attributes), out[0].shape, dtype)};
  }
  Gradients vjp(const Backward& b) const override {
    const array &a = b.inputs[0], &indices = b.inputs[1], &updates = b.inputs[2], &c = b.cotangents[0];
    const auto read = [&](const array& from) { return gather_slices(from, indices, dims_, updates.shape()); };
    Gradients gradients(3);
    switch (kind_) {
      case Scatter::kAdd:
        gradients[0] = c;
        if (b.wanted[2]) gradients[2] = read(c);
        break;
      case Scatter::kReplace:
        if (b.wanted[0]) gradients[0] = scatter_slices(c, indices, zeros_like(updates), Scatter::kReplace, dims_);
        if (b.wanted[2]) gradients[2] = read(c);
        break;
      case Scatter::kMultiply:
        if (b.wanted[0]) gradients[0] = scatter_slices(c, indices, updates, Scatter::kMultiply, dims_);
        if (b.wanted[2]) gradients[2] = read(c * a);
        break;
      case Scatter::kMaximum:
      case Scatter::kMinimum: {
        const array& y = b.outputs[0];
        if (b.wanted[0]) gradients[0] = where(equal(y, a), c, zeros_like(c));
        if (b.wanted[2]) gradients[2] = where(equal(read(y), updates), read(c), zeros_like(updates));
        break;
      }
    }
    return gradients;
  }
  std::vector<array> vmap(const Batch& batch) const override {
    const auto whole = [&](size_t i) { return with_batch(batch.inputs[i], batch.batched[i], batch.count); };
    return {scatter_slices(whole(0), whole(1), whole(2), kind_, batched_dims(dims_))};
  }

 private:
  Scatter kind_;
  GatherDims dims_;
};

}  // namespace

array gather_slices(const array& a, const array& indices, const GatherDims& dims, const Shape& shape,
                    StreamOrDevice s) {
  return apply(std::make_shared<Gather>(dims), {a, indices}, shape, a.dtype(), s);
}

array scatter_slices(const array& a, const array& indices, const array& updates, Scatter kind, const GatherDims& dims,
                     StreamOrDevice s) {
  return apply(std::make_shared<ScatterSlices>(kind, dims), {a, indices, updates}, a.shape(), a.dtype(), s);
}

}  // namespace lowtide::lazy
