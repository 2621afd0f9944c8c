// batch-norm-training, -inference, -grad: normalisation over all dimensions but the feature dimension f.
//   training(x[s], scale[f], offset[f]) -> (y[s], mean[f], variance[f]); variance is E[x^2] - E[x]^2 over the batch
//   inference(x[s], scale[f], offset[f], mean[f], variance[f]) -> y[s] = (x - mean) / sqrt(variance + eps) * scale +
//   offset grad(x[s], scale[f], mean[f], variance[f], dy[s]) -> (dx[s], dscale[f], doffset[f]) (C1) x is a floating
//   array and feature_index one of its dimensions (C2) the statistics and parameters are vectors of the feature extent
//   (C3) dy has the shape of x
#include <fmt/format.h>

#include "ops/checks.h"
#include "ops/op_rule.h"

namespace lowtide {
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

/// Checks operands 1 .. vectors as vectors; gives the feature extent.
Result<int64_t> check_batch_norm(const Instruction& norm, size_t vectors) {
  const Shape& x = norm.operand(0).shape;
  const int64_t feature = norm.as<BatchNormAttributes>().feature_index;
  if (!is_floating(x.type) || feature < 0 || feature >= x.rank()) {  // (C1)
    return broken(norm, 1, fmt::format("no feature dimension {} in {}", feature, to_string_without_layout(x)));
  }
  const int64_t extent = x.dims[static_cast<size_t>(feature)];
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

}  // namespace

const OpRule kBatchNormTrainingRule{read_batch_norm, print_batch_norm, infer_training, nullptr};
const OpRule kBatchNormInferenceRule{read_batch_norm, print_batch_norm, infer_inference, nullptr};
const OpRule kBatchNormGradRule{read_batch_norm, print_batch_norm, infer_grad, nullptr};

}  // namespace lowtide
