// batch-norm-training, -inference, -grad: normalisation over all dimensions but the feature dimension f.
//   training(x[s], scale[f], offset[f]) -> (y[s], mean[f], variance[f]); mean and variance are those of the batch
//   inference(x[s], scale[f], offset[f], mean[f], variance[f]) -> y[s]
//       y = (x - mean) / sqrt(variance + epsilon) * scale + offset
//   grad(x[s], scale[f], mean[f], variance[f], dy[s]) -> (dx[s], dscale[f], doffset[f])
//   (C1) x is a floating array and feature_index one of its dimensions
//   (C2) the statistics and parameters are vectors of the feature extent
//   (C3) dy has the shape of x
#include <fmt/format.h>

#include <algorithm>

#include "ops/checks.h"
#include "ops/index_space.h"
#include "ops/matrices.h"
#include "ops/op_rule.h"

namespace lowtide::engine {
namespace {

Status read_batch_norm(AttributeReader& reader, Instruction& norm) {
  BatchNormAttributes attributes;
  LT_ASSIGN_OR_RETURN(attributes.epsilon, reader.take_number("epsilon"));
  LT_ASSIGN_OR_RETURN(attributes.feature_index, reader.take_integer("feature_index"));
  norm.attributes = attributes;
  return {};
}

void print_batch_norm(const Instruction& norm, AttributeWriter& writer) {
  const auto& attributes = norm.as<BatchNormAttributes>();
  writer.text("epsilon", fmt::format("{}", static_cast<float>(attributes.epsilon)));
  writer.integer("feature_index", attributes.feature_index);
}

/// Checks that operands 1 .. `vectors` are vectors; returns the feature extent.
Result<int64_t> check_batch_norm(const Instruction& norm, size_t vectors) {
  const Shape& x = norm.operand(0).shape;
  const int64_t feature = norm.as<BatchNormAttributes>().feature_index;
  if (!is_floating(x.type) || feature < 0 || feature >= x.rank()) {  // (C1)
    return broken(norm, 1, fmt::format("no feature dimension {} in {}", feature, to_string_without_layout(x)));
  }
  const int64_t extent = x.dims[feature];
  for (size_t k = 1; k <= vectors; ++k) {
    const Shape& vector = norm.operand(k).shape;
    if (!is_floating(vector.type) || vector.dims != Dims{extent}) {  // (C2)
      return broken(norm, 2,
                    fmt::format("operand {} is {}, not a vector of {}", k, to_string_without_layout(vector), extent));
    }
  }
  return extent;
}

Result<Shape> infer_training(const Instruction& norm) {
  LT_RETURN_IF_ERROR(check_batch_norm(norm, 2).status());
  return Shape::tuple({bare(norm.operand(0).shape), bare(norm.operand(1).shape), bare(norm.operand(1).shape)});
}

Result<Shape> infer_inference(const Instruction& norm) {
  LT_RETURN_IF_ERROR(check_batch_norm(norm, 4).status());
  return bare(norm.operand(0).shape);
}

Result<Shape> infer_grad(const Instruction& norm) {
  LT_RETURN_IF_ERROR(check_batch_norm(norm, 3).status());
  const Shape& x = norm.operand(0).shape;
  if (!same_shape(norm.operand(4).shape, x)) {  // (C3)
    return broken(norm, 3, "the gradient is " + to_string_without_layout(norm.operand(4).shape) + ", not like x");
  }
  return Shape::tuple({bare(x), bare(norm.operand(1).shape), bare(norm.operand(1).shape)});
}

/// The elements of x as numbers, and the feature to which each belongs.
struct Normalised {
  std::vector<double> x;
  int64_t features = 0, inner = 1;  ///< feature of element i: i / inner % features
  double count = 0;                 ///< elements per feature
  size_t feature_of(size_t i) const { return i / static_cast<size_t>(inner) % static_cast<size_t>(features); }
};

std::vector<double> numbers(const Literal& array) {
  std::vector<double> all(static_cast<size_t>(array.size()));
  for (size_t i = 0; i < all.size(); ++i) all[i] = number_at(array, static_cast<int64_t>(i));
  return all;
}

Normalised normalised(const Instruction& norm, const Literal& x) {
  const auto feature = static_cast<size_t>(norm.as<BatchNormAttributes>().feature_index);
  const Dims& extents = x.shape().dims;
  Normalised result{numbers(x), extents[feature], row_major_strides(extents)[feature], 0};
  if (result.features > 0) result.count = static_cast<double>(x.size()) / static_cast<double>(result.features);
  return result;
}

Value array_of(const Shape& shape, const std::vector<double>& numbers) {
  auto result = std::make_shared<Literal>(shape);
  dispatch_matrices(shape.type, [&]<class T, class S>() {
    if constexpr (std::is_same_v<S, double>) {
      const auto to = result->data<T>();
      for (size_t i = 0; i < to.size(); ++i) to[i] = narrow<T>(static_cast<computed_t<T>>(numbers[i]));
    }
  });
  return result;
}

/// The sum, or the mean, of f(i) over each feature's elements i.
template <class F>
std::vector<double> sum_by_feature(const Normalised& n, F&& f) {
  std::vector<double> sums(static_cast<size_t>(n.features), 0.0);
  for (size_t i = 0; i < n.x.size(); ++i) sums[n.feature_of(i)] += f(i);
  return sums;
}

template <class F>
std::vector<double> mean_by_feature(const Normalised& n, F&& f) {
  std::vector<double> means = sum_by_feature(n, f);
  for (double& mean : means) mean /= n.count;
  return means;
}

Result<Value> eval_training(const Instruction& norm, Operands operands, EvalContext&) {
  const Normalised n = normalised(norm, *operands[0]);
  const std::vector<double> scale = numbers(*operands[1]), offset = numbers(*operands[2]);
  const double epsilon = norm.as<BatchNormAttributes>().epsilon;
  const std::vector<double> mean = mean_by_feature(n, [&](size_t i) { return n.x[i]; });
  const std::vector<double> variance = mean_by_feature(n, [&](size_t i) {
    const double centred = n.x[i] - mean[n.feature_of(i)];
    return centred * centred;
  });
  std::vector<double> y(n.x.size());
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t f = n.feature_of(i);
    y[i] = (n.x[i] - mean[f]) / std::sqrt(variance[f] + epsilon) * scale[f] + offset[f];
  }
  const std::vector<Shape>& shapes = norm.shape.elements;
  return Value(std::make_shared<Literal>(
      std::vector<Value>{array_of(shapes[0], y), array_of(shapes[1], mean), array_of(shapes[2], variance)}));
}

Result<Value> eval_inference(const Instruction& norm, Operands operands, EvalContext&) {
  const Normalised n = normalised(norm, *operands[0]);
  const std::vector<double> scale = numbers(*operands[1]), offset = numbers(*operands[2]);
  const std::vector<double> mean = numbers(*operands[3]), variance = numbers(*operands[4]);
  const double epsilon = norm.as<BatchNormAttributes>().epsilon;
  std::vector<double> y(n.x.size());
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t f = n.feature_of(i);
    y[i] = (n.x[i] - mean[f]) / std::sqrt(variance[f] + epsilon) * scale[f] + offset[f];
  }
  return array_of(norm.shape, y);
}

Result<Value> eval_grad(const Instruction& norm, Operands operands, EvalContext&) {
  const Normalised n = normalised(norm, *operands[0]);
  const std::vector<double> scale = numbers(*operands[1]), mean = numbers(*operands[2]);
  const std::vector<double> variance = numbers(*operands[3]), dy = numbers(*operands[4]);
  const double epsilon = norm.as<BatchNormAttributes>().epsilon;
  const auto centred = [&](size_t i) { return n.x[i] - mean[n.feature_of(i)]; };
  const std::vector<double> doffset = sum_by_feature(n, [&](size_t i) { return dy[i]; });
  const std::vector<double> along = sum_by_feature(n, [&](size_t i) { return dy[i] * centred(i); });
  std::vector<double> dx(n.x.size()), dscale(scale.size());
  for (size_t f = 0; f < scale.size(); ++f) dscale[f] = along[f] / std::sqrt(variance[f] + epsilon);
  for (size_t i = 0; i < dx.size(); ++i) {
    const size_t f = n.feature_of(i);
    const double spread = variance[f] + epsilon;
    dx[i] = scale[f] / std::sqrt(spread) * (dy[i] - doffset[f] / n.count - centred(i) * (along[f] / n.count) / spread);
  }
  const std::vector<Shape>& shapes = norm.shape.elements;
  return Value(std::make_shared<Literal>(
      std::vector<Value>{array_of(shapes[0], dx), array_of(shapes[1], dscale), array_of(shapes[2], doffset)}));
}

double terms_of_batch_norm(const Instruction& norm) {
  const Shape& x = norm.operand(0).shape;
  const int64_t features = x.dims[norm.as<BatchNormAttributes>().feature_index];
  return static_cast<double>(element_count(x)) / static_cast<double>(std::max<int64_t>(1, features));
}

}  // namespace

const OpRule kBatchNormTrainingRule{
    .read = read_batch_norm,
    .print = print_batch_norm,
    .infer = infer_training,
    .eval = eval_training,
    .slicing = kNotSliced,
    .extents = unknown_extents,
    .reads = reads_anywhere,
    .arithmetic = {.plain = 1, .complex = 1, .code = 1, .rounds = Rounds::kAlways, .terms = terms_of_batch_norm}};
const OpRule kBatchNormInferenceRule{
    .read = read_batch_norm,
    .print = print_batch_norm,
    .infer = infer_inference,
    .eval = eval_inference,
    .slicing = kNotSliced,
    .extents = unknown_extents,
    .reads = reads_anywhere,
    .arithmetic = {.plain = 1, .complex = 1, .code = 1, .rounds = Rounds::kAlways, .terms = no_sum}};
const OpRule kBatchNormGradRule{
    .read = read_batch_norm,
    .print = print_batch_norm,
    .infer = infer_grad,
    .eval = eval_grad,
    .slicing = kNotSliced,
    .extents = unknown_extents,
    .reads = reads_anywhere,
    .arithmetic = {.plain = 1, .complex = 1, .code = 1, .rounds = Rounds::kAlways, .terms = terms_of_batch_norm}};

}  // namespace lowtide::engine
