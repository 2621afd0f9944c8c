#include "ops/evaluate.h"

#include <cmath>
#include <cstring>

#include "ops/combiner.h"
#include "ops/no_calls.h"

namespace lowtide::engine {
namespace {

template <class T>
T as(const ElementBits& bits) {
  T value{};
  std::memcpy(static_cast<void*>(&value), bits.data(), sizeof(T));
  return value;
}

template <class T>
ElementBits bits_of(T value) {
  ElementBits bits{};
  std::memcpy(bits.data(), &value, sizeof(T));
  return bits;
}

}  // namespace

struct NodeEvaluator::Prepared {
  NodeKind kind = NodeKind::kOperation;
  Instruction instruction;
  std::vector<std::unique_ptr<Instruction>> operands;
  CombineElements combine = nullptr;  // set if ops/combiner.h has the operation
};

NodeEvaluator::NodeEvaluator(const Node& operation, std::span<const ElementType> types)
    : prepared_(std::make_unique<Prepared>()) {
  prepared_->kind = operation.kind;
  Instruction& made = prepared_->instruction;
  made.opcode = operation.opcode;
  made.shape = Shape::scalar(operation.type);
  if (operation.opcode == Opcode::kCompare) made.attributes = operation.compare;
  if (operation.opcode == Opcode::kReducePrecision) made.attributes = operation.reduce_precision;
  bool one_type = true;
  for (const ElementType type : types) {
    prepared_->operands.push_back(std::make_unique<Instruction>());
    prepared_->operands.back()->shape = Shape::scalar(type);
    made.operands.push_back(prepared_->operands.back().get());
    one_type = one_type && type == operation.type;
  }
  if (one_type && types.size() == 2) prepared_->combine = combine_by(operation.opcode, operation.type);
}

NodeEvaluator::NodeEvaluator(NodeEvaluator&&) noexcept = default;
NodeEvaluator& NodeEvaluator::operator=(NodeEvaluator&&) noexcept = default;
NodeEvaluator::~NodeEvaluator() = default;

std::optional<ElementBits> NodeEvaluator::run(std::span<const ElementBits> operands) const {
  const Instruction& instruction = prepared_->instruction;
  if (prepared_->kind == NodeKind::kFma) {
    if (instruction.shape.type == ElementType::kF64) {
      return bits_of(std::fma(as<double>(operands[0]), as<double>(operands[1]), as<double>(operands[2])));
    }
    return bits_of(std::fma(as<float>(operands[0]), as<float>(operands[1]), as<float>(operands[2])));
  }
  if (prepared_->combine) {
    ElementBits result = operands[0];
    prepared_->combine(reinterpret_cast<std::byte*>(result.data()),
                       reinterpret_cast<const std::byte*>(operands[1].data()));
    return result;
  }
  const auto eval = rule_of(instruction.opcode).eval;
  if (!eval) return {};
  std::vector<Value> values;
  for (size_t k = 0; k < operands.size(); ++k) {
    auto value = std::make_shared<Literal>(instruction.operand(k).shape);
    std::memcpy(value->bytes().data(), operands[k].data(), value->bytes().size());
    values.push_back(std::move(value));
  }
  NoCalls context;
  const Result<Value> result = eval(instruction, values, context);
  if (!result.ok()) return {};
  ElementBits bits{};
  std::memcpy(bits.data(), (*result)->bytes().data(), (*result)->bytes().size());
  return bits;
}

std::optional<ElementBits> evaluate(const Node& operation, std::span<const Node* const> operands) {
  std::vector<ElementType> types;
  std::vector<ElementBits> bits;
  for (const Node* operand : operands) {
    types.push_back(operand->type);
    bits.push_back(operand->bits);
  }
  return NodeEvaluator(operation, types).run(bits);
}

template <class T>
Value fma_of(std::span<const Value> operands) {
  auto result = std::make_shared<Literal>(operands[0]->shape());
  const std::span<T> to = result->data<T>();
  const std::span<const T> a = operands[0]->data<T>(), b = operands[1]->data<T>(), c = operands[2]->data<T>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = std::fma(a[i], b[i], c[i]);
  return result;
}

std::optional<Value> evaluate_all(const Node& operation, std::span<const Value> operands) {
  if (operation.kind == NodeKind::kFma) {
    return operation.type == ElementType::kF64 ? fma_of<double>(operands) : fma_of<float>(operands);
  }
  const auto eval = rule_of(operation.opcode).eval;
  if (!eval) return {};
  Instruction made;
  made.opcode = operation.opcode;
  made.shape = Shape::array(operation.type, operands[0]->shape().dims);
  if (operation.opcode == Opcode::kCompare) made.attributes = operation.compare;
  if (operation.opcode == Opcode::kReducePrecision) made.attributes = operation.reduce_precision;
  std::vector<std::unique_ptr<Instruction>> sources;
  for (const Value& operand : operands) {
    sources.push_back(std::make_unique<Instruction>());
    sources.back()->shape = operand->shape();
    made.operands.push_back(sources.back().get());
  }
  NoCalls context;
  Result<Value> result = eval(made, operands, context);
  if (!result.ok()) return {};
  return *result;
}

}  // namespace lowtide::engine
