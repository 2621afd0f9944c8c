// rng: numbers from a generator that the program doesn't see; each run differs, so the interpreter refuses it.
//   operands a[], b[] -> T[s] as declared: uniform in [a, b), or normal with mean a and deviation b.
//   (C1) both operands are scalars of the result's type
// rng-get-and-update-state: the counter of that hidden generator, u64[k] as declared.
//   (C1) the result is an array of u64
#include "ops/checks.h"
#include "ops/op_rule.h"

namespace lowtide {
namespace {

Status read_rng(AttributeReader& reader, Instruction& rng) {
  LT_ASSIGN_OR_RETURN(const std::string word, reader.take_word("distribution"));
  if (word != "rng_uniform" && word != "rng_normal") {
    return reader.fault_at("distribution", "expected rng_uniform or rng_normal, got " + word);
  }
  rng.attributes = RngAttributes{word == "rng_normal" ? RngDistribution::kNormal : RngDistribution::kUniform};
  return {};
}

void print_rng(const Instruction& rng, AttributeWriter& writer) {
  const bool normal = rng.as<RngAttributes>().distribution == RngDistribution::kNormal;
  writer.text("distribution", normal ? "rng_normal" : "rng_uniform");
}

Result<Shape> infer_rng(const Instruction& rng) {
  const Shape scalar = Shape::scalar(rng.shape.type);
  for (const Instruction* operand : rng.operands) {
    if (rng.shape.is_array() && same_shape(operand->shape, scalar)) continue;  // (C1)
    return broken(
        rng, 1,
        "takes " + to_string_without_layout(operand->shape) + " to make " + to_string_without_layout(rng.shape));
  }
  return rng.shape;
}

Status read_state(AttributeReader& reader, Instruction& state) {
  DeltaAttributes attributes;
  LT_ASSIGN_OR_RETURN(attributes.delta, reader.take_integer("delta"));
  state.attributes = attributes;
  return {};
}

void print_state(const Instruction& state, AttributeWriter& writer) {
  writer.integer("delta", state.as<DeltaAttributes>().delta);
}

Result<Shape> infer_state(const Instruction& state) {
  if (state.shape.type != ElementType::kU64) {  // (C1)
    return broken(state, 1, "gives " + to_string_without_layout(state.shape) + ", not u64");
  }
  return state.shape;
}

}  // namespace

const OpRule kRngRule{read_rng, print_rng, infer_rng, nullptr};
const OpRule kRngGetAndUpdateStateRule{read_state, print_state, infer_state, nullptr};

}  // namespace lowtide
