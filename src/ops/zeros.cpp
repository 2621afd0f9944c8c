#include "ops/zeros.h"

namespace lowtide::engine {

Result<Value> zeros_of(const Shape& shape) {
  if (shape.is_array()) return Value(std::make_shared<Literal>(shape));
  if (shape.type == ElementType::kToken) return Value(std::make_shared<Literal>(Literal::token()));
  if (!shape.is_tuple()) return Status::unsupported("no value of " + to_string(shape) + " can be made");
  std::vector<Value> parts;
  for (const Shape& element : shape.elements) {
    LT_ASSIGN_OR_RETURN(Value part, zeros_of(element));
    parts.push_back(std::move(part));
  }
  return Value(std::make_shared<Literal>(std::move(parts)));
}

}  // namespace lowtide::engine
