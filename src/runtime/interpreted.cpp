#include "runtime/interpreted.h"

#include <cstring>
#include <vector>

#include "interp/interpreter.h"

namespace lowtide::engine {
namespace {

/// The value of this shape whose leaves are, depth first, at `leaves`.
Value read_value(const Shape& shape, std::span<const void* const>& leaves) {
  if (shape.is_tuple()) {
    std::vector<Value> parts;
    for (const Shape& element : shape.elements) parts.push_back(read_value(element, leaves));
    return std::make_shared<Literal>(std::move(parts));
  }
  const void* const from = leaves.front();
  leaves = leaves.subspan(1);
  if (!shape.is_array()) return std::make_shared<Literal>(Literal::token());
  auto literal = std::make_shared<Literal>(shape);
  if (!literal->bytes().empty()) std::memcpy(literal->bytes().data(), from, literal->bytes().size());
  return literal;
}

void write_value(const Literal& value, std::span<void* const>& leaves) {
  if (value.shape().is_tuple()) {
    for (const Value& part : value.parts()) write_value(*part, leaves);
    return;
  }
  void* const to = leaves.front();
  leaves = leaves.subspan(1);
  if (value.shape().is_array() && !value.bytes().empty()) {
    std::memcpy(to, value.bytes().data(), value.bytes().size());
  }
}

class InterpretedRoutine final : public LibraryRoutine {
 public:
  explicit InterpretedRoutine(const Instruction& instruction) : instruction_(instruction) {}

  int64_t scratch_bytes() const override { return interpreted_scratch_bytes(instruction_); }

  Status run(std::span<const void* const> operands, std::span<void* const> results, void*, ThreadPool&) override {
    std::vector<Value> values;
    for (const Instruction* operand : instruction_.operands) values.push_back(read_value(operand->shape, operands));
    LT_ASSIGN_OR_RETURN(const Value result, interpret_instruction(instruction_, values));
    LT_ASSERT(same_shape(result->shape(), instruction_.shape), instruction_.name + " gave another shape");
    write_value(*result, results);
    return {};
  }

 private:
  const Instruction& instruction_;
};

}  // namespace

std::unique_ptr<LibraryRoutine> interpreted_routine(const Instruction& instruction) {
  if (!can_interpret(instruction)) return nullptr;
  return std::make_unique<InterpretedRoutine>(instruction);
}

}  // namespace lowtide::engine
