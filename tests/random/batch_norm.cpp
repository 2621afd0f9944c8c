/// Batch norms: statistics over all dimensions but one, and what is made of them.

#include <cmath>

#include "families.h"
#include "numbers.h"
#include "operations.h"

namespace lowtide::engine {
namespace {

constexpr double kEpsilons[] = {0.125, 0.25, 0.5, 1};  ///< large enough that an error of the variance stays small

double elements_per_feature(const Instruction& norm) {
  const Shape& x = norm.operand(0).shape;
  const int64_t extent = x.dims[norm.as<BatchNormAttributes>().feature_index];
  return static_cast<double>(element_count(x)) / static_cast<double>(extent);
}

Maybe product_of(const Shape& shape, const Maybe& a, const Maybe& b, double roundings = 1) {
  if (!a || !b) return {};
  return rounded(shape, product(*a, *b), roundings);
}

Maybe mean_of(const Shape& shape, const Fact& a, double count) {
  const Maybe total = sum_of(shape, a, count);
  if (!total) return {};
  return rounded(shape, interval(a.low, a.high, total->error / count), 3);
}

/// a - b, where an executor may spread the difference over products of each.
Maybe difference_of(const Shape& shape, const Fact& a, const Fact& b) {
  Fact difference = sum(a, negated(b));
  difference.error += 3 * unit_roundoff(shape.type) * (a.magnitude() + b.magnitude());
  return rounded(shape, difference);
}

/// Executors take the mean of squared distances, or the mean of squares less the mean's square.
Maybe variance_of(const Shape& shape, const Fact& x, const Fact& mean, double count) {
  const Maybe centred = difference_of(shape, x, mean), square = product_of(shape, x, x);
  const Maybe distance = product_of(shape, centred, centred), square_of_mean = product_of(shape, mean, mean);
  if (!distance || !square || !square_of_mean) return {};
  const Maybe first = mean_of(shape, *distance, count), second = mean_of(shape, *square, count);
  if (!first || !second) return {};
  const double error = std::max(first->error, second->error + square_of_mean->error);
  return rounded(shape, interval(0, std::pow(x.high - x.low, 2) / 4, error), 2);
}

/// 1 / sqrt(variance + epsilon)
Maybe inverse_deviation(const Instruction& norm, const Shape& shape, const Fact& variance) {
  const double epsilon = norm.as<BatchNormAttributes>().epsilon;
  const double least = std::max(0.0, variance.low) + epsilon;
  const Maybe spread = rounded(shape, interval(least, std::max(0.0, variance.high) + epsilon, variance.error));
  if (variance.low < 0 || !spread || least - spread->error < 0.04) return {};
  return monotone(
      shape, *spread, [](double x) { return 1 / std::sqrt(x); }, 0.5 * std::pow(least - spread->error, -1.5));
}

Maybe normalised(const Instruction& norm, const Shape& shape, const Facts& operands, const Fact& mean,
                 const Fact& variance) {
  const Maybe centred = difference_of(shape, operands[0], mean), inverse = inverse_deviation(norm, shape, variance);
  const Maybe scaled = product_of(shape, product_of(shape, centred, inverse, 2), operands[1]);
  if (!scaled) return {};
  return difference_of(shape, *scaled, negated(operands[2]));
}

Maybe fact_of_training(const Instruction& norm, const Facts& operands) {
  const Shape &shape = norm.shape.elements[0], &vector = norm.shape.elements[1];
  const double count = elements_per_feature(norm);
  const Maybe mean = mean_of(vector, operands[0], count);
  if (!mean) return {};
  const Maybe variance = variance_of(vector, operands[0], *mean, count);
  if (!variance) return {};
  const Maybe y = normalised(norm, shape, operands, *mean, *variance);
  if (!y) return {};
  return of_parts({*y, *mean, *variance});
}

/// dx = scale / (n deviation) (n dy - sum dy - (x - mean) sum(dy (x - mean)) / (variance + epsilon))
Maybe fact_of_grad(const Instruction& norm, const Facts& operands) {
  const Shape &shape = norm.shape.elements[0], &vector = norm.shape.elements[1];
  const double count = elements_per_feature(norm);
  const Fact &scale = operands[1], &dy = operands[4];
  const Maybe centred = difference_of(shape, operands[0], operands[2]), total = sum_of(vector, dy, count);
  const Maybe inverse = inverse_deviation(norm, vector, operands[3]);
  const Maybe weighted = product_of(shape, dy, centred);
  if (!weighted || !total || !inverse) return {};
  const Maybe along = sum_of(vector, *weighted, count), dscale = product_of(vector, along, inverse);
  const Maybe share = product_of(shape, product_of(shape, product_of(shape, along, centred), inverse), inverse, 3);
  const Maybe grown = rounded(shape, product(dy, interval(count, count, 0)));
  if (!share || !dscale || !grown) return {};
  const Maybe rest = difference_of(shape, *grown, *total);
  const Maybe left = rest ? difference_of(shape, *rest, *share) : Maybe();
  const Maybe factor = rounded(shape, product(scale, interval(1 / count, 1 / count, 0)));
  const Maybe dx = product_of(shape, left, product_of(shape, factor, inverse), 3);
  if (!dx) return {};
  return of_parts({*dx, *dscale, *total});
}

/// x, then vectors of the feature's extent.
struct Start {
  std::vector<Instruction*> operands;
  BatchNormAttributes attributes;
  Shape vector;
};

std::optional<Start> start(Scope& scope, Draws& choices, int vectors) {
  Instruction* x =
      scope.choose(choices, [](const auto& e) { return has_rank(1)(e) && is_floating(e.instruction->shape.type); });
  if (!x) return {};
  Start norm;
  norm.attributes = {choices.of(kEpsilons), choices.below(x->shape.rank())};
  norm.vector = with_dims(x->shape, {x->shape.dims[norm.attributes.feature_index]});
  norm.operands = {x};
  for (int k = 0; k < vectors; ++k) norm.operands.push_back(value_of_shape(scope, choices, norm.vector));
  return norm;
}

/// Any value as a variance.
Instruction* not_negative(Scope& scope, Instruction* value) {
  return value ? scope.append(Opcode::kAbs, value->shape, {value}, {}, {}, false) : nullptr;
}

}  // namespace

Maybe fact_of_batch_norm(const Instruction& norm, const Facts& operands) {
  if (norm.opcode == Opcode::kBatchNormTraining) return fact_of_training(norm, operands);
  if (norm.opcode == Opcode::kBatchNormGrad) return fact_of_grad(norm, operands);
  return normalised(norm, norm.shape, operands, operands[3], operands[4]);
}

bool make_batch_norm_training(Scope& scope, Draws& choices) {
  const auto norm = start(scope, choices, 2);
  if (!norm) return false;
  const Shape result = Shape::tuple({norm->operands[0]->shape, norm->vector, norm->vector});
  return scope.append_parts(Opcode::kBatchNormTraining, result, norm->operands, norm->attributes);
}

bool make_batch_norm_inference(Scope& scope, Draws& choices) {
  auto norm = start(scope, choices, 4);
  if (!norm) return false;
  norm->operands[4] = not_negative(scope, norm->operands[4]);
  return scope.append(Opcode::kBatchNormInference, norm->operands[0]->shape, norm->operands, norm->attributes) !=
         nullptr;
}

bool make_batch_norm_grad(Scope& scope, Draws& choices) {
  auto norm = start(scope, choices, 3);
  if (!norm) return false;
  norm->operands[3] = not_negative(scope, norm->operands[3]);
  norm->operands.push_back(value_of_shape(scope, choices, norm->operands[0]->shape));
  const Shape result = Shape::tuple({norm->operands[0]->shape, norm->vector, norm->vector});
  return scope.append_parts(Opcode::kBatchNormGrad, result, norm->operands, norm->attributes);
}

}  // namespace lowtide::engine
