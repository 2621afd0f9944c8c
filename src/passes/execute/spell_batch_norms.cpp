#include "passes/execute/spell_batch_norms.h"

#include "ops/infer.h"
#include "passes/rules/maker.h"

namespace lowtide::engine {
namespace {

class NormSpeller {
 public:
  NormSpeller(Instruction& norm, Maker& maker)
      : norm_(norm),
        maker_(maker),
        type_(norm.operand(0).shape.type == ElementType::kF64 ? ElementType::kF64 : ElementType::kF32),
        feature_(norm.as<BatchNormAttributes>().feature_index),
        dims_(norm.operand(0).shape.dims) {}

  Instruction* training() {
    Instruction* x = read(0);
    Instruction* mean = mean_of(x);
    Instruction* centred = minus(x, spread(mean));
    Instruction* variance = mean_of(times(centred, centred));
    return tuple({scaled(centred, variance), mean, variance});
  }

  Instruction* inference() {
    Instruction* x = read(0);
    Instruction* centred = minus(x, spread(read(3)));
    return maker_.convert(scaled(centred, read(4)), norm_.shape.type);
  }

  Instruction* grad() {
    Instruction *x = read(0), *scale = read(1), *mean = read(2), *variance = read(3), *dy = read(4);
    Instruction* centred = minus(x, spread(mean));
    Instruction* offset_gradient = sum_of(dy);
    Instruction* along = sum_of(times(dy, centred));
    Instruction* square = plus(variance, epsilon());
    Instruction* deviation = root(square);
    Instruction* share = over(over(along, count()), square);
    Instruction* rest = minus(dy, spread(over(offset_gradient, count())));
    rest = minus(rest, times(centred, spread(share)));
    Instruction* scale_gradient = over(along, deviation);
    return tuple({times(rest, spread(over(scale, deviation))), scale_gradient, offset_gradient});
  }

 private:
  Instruction* read(size_t k) { return maker_.convert(norm_.operands[k], type_); }

  /// Operands 1 and 2 are scale and offset.
  Instruction* scaled(Instruction* centred, Instruction* variance) {
    Instruction* deviation = root(plus(variance, epsilon()));
    Instruction* y = times(centred, spread(over(read(1), deviation)));
    return plus(y, spread(read(2)));
  }

  /// The result, with the types and layouts that the operation declares.
  Instruction* tuple(std::vector<Instruction*> leaves) {
    for (size_t k = 0; k < leaves.size(); ++k) {
      leaves[k] = maker_.convert(leaves[k], norm_.shape.elements[k].type);
    }
    return maker_.make(Opcode::kTuple, norm_.shape, std::move(leaves));
  }

  Instruction* plus(Instruction* a, Instruction* b) { return maker_.binary(Opcode::kAdd, a, b); }
  Instruction* minus(Instruction* a, Instruction* b) { return maker_.binary(Opcode::kSubtract, a, b); }
  Instruction* times(Instruction* a, Instruction* b) { return maker_.binary(Opcode::kMultiply, a, b); }
  Instruction* over(Instruction* a, Instruction* b) { return maker_.binary(Opcode::kDivide, a, b); }
  Instruction* spread(Instruction* vector) { return maker_.broadcast(vector, dims_, {feature_}); }

  /// A vector of equal numbers.
  Instruction* vector(double number) { return maker_.broadcast(maker_.number(type_, number), {dims_[feature_]}, {}); }
  Instruction* epsilon() { return vector(norm_.as<BatchNormAttributes>().epsilon); }
  /// The number of elements of each feature.
  Instruction* count() {
    double n = 1;
    for (const int64_t d : others()) n *= static_cast<double>(dims_[d]);
    return vector(n);
  }

  Instruction* root(Instruction* x) { return maker_.make(Opcode::kSqrt, Shape::array(type_, x->shape.dims), {x}); }

  /// Sums over all dimensions but the feature's, the most major one last: a single sum over a batch would be too
  /// inaccurate for a variance, and the partial sums of examples run on all threads.
  Instruction* sum_of(Instruction* x) {
    Dims inner = others();
    if (inner.size() < 2) return fold(x, inner);
    const int64_t examples = inner.front();
    inner.erase(inner.begin());
    return fold(fold(x, inner), {examples < feature_ ? 0 : 1});
  }
  Instruction* fold(Instruction* x, const Dims& dimensions) {
    Shape shape = Shape::array(type_, {});
    for (int64_t d = 0; d < x->shape.rank(); ++d) {
      if (!contains(dimensions, d)) shape.dims.push_back(x->shape.dims[d]);
    }
    Instruction* zero = maker_.constant(type_, 0);
    Instruction* sum = maker_.make(Opcode::kReduce, shape, {x, zero}, DimensionsAttributes{dimensions});
    sum->called = {maker_.addition(type_)};
    return sum;
  }
  Instruction* mean_of(Instruction* x) {
    Instruction* sum = sum_of(x);
    return over(sum, count());
  }

  Dims others() const {
    Dims others;
    for (int64_t d = 0; d < static_cast<int64_t>(dims_.size()); ++d) {
      if (d != feature_) others.push_back(d);
    }
    return others;
  }

  Instruction& norm_;
  Maker& maker_;
  ElementType type_;  ///< of the computation
  int64_t feature_;
  Dims dims_;
};

}  // namespace

Result<PassResult> spell_batch_norms(Module& module) {
  return rewrite_each(
      module, {Opcode::kBatchNormTraining, Opcode::kBatchNormInference, Opcode::kBatchNormGrad},
      [](Instruction& norm, Maker& maker) -> Instruction* {
        switch (norm.opcode) {
          case Opcode::kBatchNormTraining: return NormSpeller(norm, maker).training();
          case Opcode::kBatchNormInference: return NormSpeller(norm, maker).inference();
          default: return NormSpeller(norm, maker).grad();
        }
      },
      "batch norms spelt out");
}

}  // namespace lowtide::engine
