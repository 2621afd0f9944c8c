#include "ir/literal.h"

#include <fmt/format.h>

namespace lowtide::engine {

Literal::Literal(Shape array) : shape_(std::move(array)) {
  LT_ASSERT(shape_.is_array(), "a literal of elements needs an array shape, got " + to_string(shape_));
  count_ = element_count(shape_);
  bytes_.resize(static_cast<size_t>(count_) * static_cast<size_t>(stored_bytes(shape_.type)));
}

Literal::Literal(std::vector<Value> parts) : parts_(std::move(parts)) {
  std::vector<Shape> elements;
  for (const Value& part : parts_) {
    elements.push_back(part->shape());
    known_ = known_ && part->known();
  }
  shape_ = Shape::tuple(std::move(elements));
}

Literal Literal::unknown(Shape array) {
  Literal literal;
  literal.count_ = element_count(array);
  literal.shape_ = std::move(array);
  literal.known_ = false;
  return literal;
}

Literal Literal::token() {
  Literal literal;
  literal.shape_ = Shape::token();
  return literal;
}

void Literal::check_access(size_t element_bytes) const {
  LT_ASSERT(known_, "the elements of an abbreviated constant were read");
  LT_ASSERT(element_bytes == static_cast<size_t>(stored_bytes(shape_.type)),
            fmt::format("{} read as elements of {} bytes", to_string(shape_), element_bytes));
}

int64_t integer_at(const Literal& array, int64_t element) {
  return dispatch(array.shape().type, [&]<class T>() -> int64_t {
    if constexpr (std::is_integral_v<T> || requires(T t) { t.held; }) {
      return static_cast<int64_t>(array.data<T>()[element]);
    } else {
      LT_ASSERT(false, "integer_at on " + to_string(array.shape()));
      return 0;
    }
  });
}

int64_t index_at(const Literal& array, int64_t element) {
  const int64_t index = integer_at(array, element);
  return array.shape().type == ElementType::kU64 && index < 0 ? INT64_MAX : index;
}

double number_at(const Literal& array, int64_t element) {
  return dispatch(array.shape().type, [&]<class T>() -> double {
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      LT_ASSERT(false, "number_at on " + to_string(array.shape()));
      return 0;
    } else if constexpr (requires(T t) { t.held; }) {
      return static_cast<double>(static_cast<int64_t>(array.data<T>()[element]));
    } else {
      return static_cast<double>(array.data<T>()[element]);
    }
  });
}

std::vector<Value> leaves_in(const Value& value) {
  if (!value->shape().is_tuple()) return {value};
  std::vector<Value> leaves;
  for (const Value& part : value->parts()) {
    const std::vector<Value> inner = leaves_in(part);
    leaves.insert(leaves.end(), inner.begin(), inner.end());
  }
  return leaves;
}

std::vector<Value> arrays_in(const Value& value) {
  std::vector<Value> arrays = leaves_in(value);
  std::erase_if(arrays, [](const Value& leaf) { return !leaf->shape().is_array(); });
  return arrays;
}

}  // namespace lowtide::engine
