#pragma once
/// Values of arrays and tuples, in logical row-major order for any layout.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/shape.h"

namespace lowtide::engine {

class Literal;
using Value = std::shared_ptr<const Literal>;  ///< shared, immutable: tuples bundle them without copies

class Literal {
 public:
  /// An array of zeros (false) of this shape.
  explicit Literal(Shape array);
  /// A bundle of values.
  explicit Literal(std::vector<Value> parts);
  /// A constant whose elements the text abbreviated as `{...}`: it has a size, but can't be read.
  static Literal unknown(Shape array);
  static Literal token();

  const Shape& shape() const { return shape_; }
  bool known() const { return known_; }
  int64_t size() const { return count_; }  ///< elements of an array
  const std::vector<Value>& parts() const { return parts_; }

  /// The elements; T must be the storage type of the element type (ir/types.def).
  template <class T>
  std::span<T> data() {
    check_access(sizeof(T));
    return {reinterpret_cast<T*>(bytes_.data()), static_cast<size_t>(count_)};
  }
  template <class T>
  std::span<const T> data() const {
    check_access(sizeof(T));
    return {reinterpret_cast<const T*>(bytes_.data()), static_cast<size_t>(count_)};
  }
  std::span<std::byte> bytes() { return bytes_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  Literal() = default;
  void check_access(size_t element_bytes) const;

  Shape shape_;
  int64_t count_ = 0;
  bool known_ = true;
  std::vector<std::byte> bytes_;
  std::vector<Value> parts_;
};

int64_t integer_at(const Literal& array, int64_t element);  ///< integers and predicates; u64 wraps
/// As integer_at, but a u64 beyond the signed range, and thus larger than any extent, gives INT64_MAX.
int64_t index_at(const Literal& array, int64_t element);
double number_at(const Literal& array, int64_t element);  ///< real types, predicates as 0 and 1

/// The values in (nested) tuples, in order, tokens included; for any other value itself.
std::vector<Value> leaves_in(const Value& value);
/// The leaves that are arrays.
std::vector<Value> arrays_in(const Value& value);

}  // namespace lowtide::engine
