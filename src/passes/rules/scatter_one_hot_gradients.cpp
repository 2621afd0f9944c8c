#include "passes/rules/scatter_one_hot_gradients.h"

#include "ops/dot_checks.h"
#include "passes/rules/one_hot.h"

namespace lowtide::engine {
namespace {

/// One of a dot's operands, with its dimension numbers.
struct Side {
  Instruction* value;
  const Dims& contracting;
  const Dims& batch;
  Dims free;
};

Side side_of(const Instruction& dot, bool left) {
  const auto& a = dot.as<DotAttributes>();
  const Dims& contracting = left ? a.lhs_contracting_dims : a.rhs_contracting_dims;
  const Dims& batch = left ? a.lhs_batch_dims : a.rhs_batch_dims;
  Instruction* value = dot.operands[left ? 0 : 1];
  return {value, contracting, batch, free_dims(value->shape.rank(), contracting, batch)};
}

class Scatterer {
 public:
  Scatterer(const Instruction& dot, bool hot_left, Maker& maker)
      : dot_(dot), hot_left_(hot_left), hot_(side_of(dot, hot_left)), rows_(side_of(dot, !hot_left)), maker_(maker) {}

  Instruction* make() {
    const int64_t classes = hot_.free[0];
    const OneHot one_hot = *one_hot_along(hot_.value, classes, &maker_);
    Instruction* places = places_of(one_hot, maker_);
    if (one_hot.valid) {
      Instruction* beyond = maker_.filled(places->shape.type, places->shape.dims, one_hot.classes);
      places = maker_.select(one_hot.valid, places, beyond);
    }
    // Places and updates: batch dimensions, then the contracted ones.
    places = maker_.transpose(places, kept(joined(hot_.batch, hot_.contracting), classes));
    const auto batches = static_cast<int64_t>(rows_.batch.size());
    const ElementType type = sum_type(dot_.shape.type);
    Dims order = joined(rows_.batch, rows_.contracting);
    order.insert(order.end(), rows_.free.begin(), rows_.free.end());
    Instruction* updates = maker_.convert(maker_.transpose(rows_.value, order), type);
    if (one_hot.scale) {
      Instruction* scale = maker_.convert(one_hot.scale, type);
      scale = maker_.transpose(scale, kept(joined(hot_.batch, hot_.contracting), classes));
      scale = maker_.broadcast(scale, updates->shape.dims, counting(scale->shape.rank()));
      updates = maker_.binary(Opcode::kMultiply, updates, scale);
    }

    Dims dims;
    for (const int64_t d : rows_.batch) dims.push_back(extent(rows_, d));
    dims.push_back(one_hot.classes);
    for (const int64_t d : rows_.free) dims.push_back(extent(rows_, d));
    ScatterAttributes scatter;
    scatter.index_vector_dim = places->shape.rank();
    scatter.scatter_dims_to_operand_dims = {batches};
    scatter.inserted_window_dims = {batches};
    scatter.input_batching_dims = scatter.scatter_indices_batching_dims = counting(batches);
    for (size_t k = 0; k < rows_.free.size(); ++k) {
      scatter.update_window_dims.push_back(places->shape.rank() + static_cast<int64_t>(k));
    }
    Instruction* zeros = maker_.filled(type, dims, 0);
    Instruction* sum = maker_.make(Opcode::kScatter, Shape::array(type, dims), {zeros, places, updates}, scatter);
    sum->called = {maker_.addition(type)};
    sum = maker_.convert(sum, dot_.shape.type);
    return hot_left_ ? sum : maker_.transpose(sum, classes_last(batches, dot_.shape.rank()));
  }

 private:
  static int64_t extent(const Side& side, int64_t d) { return side.value->shape.dims[d]; }

  static Dims joined(Dims a, const Dims& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  static Dims counting(int64_t n) {
    Dims dims;
    for (int64_t d = 0; d < n; ++d) dims.push_back(d);
    return dims;
  }
  /// Dimension numbers after dimension `gone` is removed.
  static Dims kept(Dims dims, int64_t gone) {
    for (int64_t& d : dims) d -= d > gone;
    return dims;
  }
  /// batch, classes, free -> batch, free, classes
  static Dims classes_last(int64_t batches, int64_t rank) {
    Dims dims = counting(rank);
    dims.erase(dims.begin() + batches);
    dims.push_back(batches);
    return dims;
  }

  const Instruction& dot_;
  bool hot_left_;
  Side hot_, rows_;
  Maker& maker_;
};

Instruction* as_scatter(Instruction& dot, Maker& maker) {
  if (dot.operands.size() != 2 || !dot.shape.dynamic.empty()) return nullptr;
  if (dot.as<DotAttributes>().lhs_contracting_dims.empty() || element_count(dot.shape) == 0) return nullptr;
  for (const bool hot_left : {true, false}) {
    const Side hot = side_of(dot, hot_left);
    if (hot.free.size() != 1 || element_count(hot.value->shape) == 0) continue;
    const auto found = one_hot_along(hot.value, hot.free[0], nullptr);
    if (found && found->classes >= kFewestScattered) return Scatterer(dot, hot_left, maker).make();
  }
  return nullptr;
}

}  // namespace

Result<PassResult> scatter_one_hot_gradients(Module& module) {
  return rewrite_each(module, {Opcode::kDot}, as_scatter, "products became scatters");
}

}  // namespace lowtide::engine
