#pragma once
/// Lazily evaluated arrays. An operation adds a node to a graph and returns at once; eval() (or item(), data(),
/// printing) plans everything the array needs as one program, in as little memory as possible, and runs it. Names and
/// semantics are MLX's where it has them; docs/arrays.md says where they differ.
///
///   array x = random::normal({1024, 1024}, bfloat16);
///   array y = sum(x * x, 0);        // x is never stored
///   std::cout << y << sqrt(y).item<float>();
///
/// Errors are exceptions: std::invalid_argument for invalid arguments and std::out_of_range for axes that don't exist,
/// thrown by the operation itself and not by eval(); std::runtime_error for what can't be run; limit_error when there
/// isn't enough memory.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/dtype.h"
#include "lowtide/stream.h"
#include "lowtide/visibility.h"

namespace lowtide {

using ShapeElem = int64_t;
using Shape = std::vector<int64_t>;
using Strides = std::vector<int64_t>;

/// A plan needs more than the limit, or an allocation failed. Arrays are as they were before and remain usable.
class LOWTIDE_PUBLIC limit_error : public std::runtime_error {
 public:
  limit_error(const std::string& message, int64_t needed, int64_t limit);
  int64_t needed() const {
    return needed_;
  }  ///< bytes needed by the lowest plan found, live arrays included; 0: unknown
  int64_t limit() const { return limit_; }

 private:
  int64_t needed_, limit_;
};

class LOWTIDE_PUBLIC array {
 public:
  struct State;
  /// A scalar of T's element type: `array(2)` is int32, `array(2.0f)` float32, `array(2.0)` float32 as well: in all
  /// constructors, doubles without a Dtype are float32.
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>)
  explicit array(T value) : array(value, default_dtype<T>()) {}
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>)
  explicit array(T value, Dtype dtype) : array(&value, TypeToDtype<T>(), {}, dtype) {}
  array(const complex64_t& value, Dtype dtype = complex64) : array(&value, complex64, {}, dtype) {}

  /// A vector with these elements.
  array(std::initializer_list<float> data) : array(data.begin(), {static_cast<int64_t>(data.size())}, float32) {}
  array(std::initializer_list<int> data, Dtype dtype)
      : array(data.begin(), {static_cast<int64_t>(data.size())}, dtype) {}
  template <class T>
  array(std::initializer_list<T> data, Dtype dtype = default_dtype<T>())
      : array(data.begin(), {static_cast<int64_t>(data.size())}, dtype) {}
  /// Reads as many elements as the shape has, row-major, from an iterator.
  template <std::input_iterator It>
  array(It data, Shape shape, Dtype dtype = default_dtype<typename std::iterator_traits<It>::value_type>()) {
    using T = typename std::iterator_traits<It>::value_type;
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    std::vector<std::conditional_t<std::is_same_v<T, bool>, char, T>> elements;
    for (int64_t i = 0; i < count; ++i, ++data) elements.push_back(*data);
    *this = array(elements.data(), TypeToDtype<T>(), std::move(shape), dtype);
  }
  template <class T>
  array(std::initializer_list<T> data, Shape shape, Dtype dtype = default_dtype<T>())
      : array(checked_begin(data, shape), shape, dtype) {}
  /// A copy of row-major elements of type `of`, converted to `dtype`.
  array(const void* elements, Dtype of, Shape shape, Dtype dtype);
  /// The caller's bytes, row-major, without a copy: they must not change until deleter(data) is called.
  array(void* data, Shape shape, Dtype dtype, const std::function<void(void*)>& deleter);

  size_t itemsize() const { return dtype().size(); }
  size_t size() const;  ///< elements
  size_t nbytes() const { return size() * itemsize(); }
  size_t ndim() const { return shape().size(); }
  const Shape& shape() const;
  int64_t shape(int dim) const;  ///< negative dim counts from the end; std::out_of_range if there is no such dimension
  Dtype dtype() const;

  /// Always row-major: where MLX would return a view with another layout, this returns a new array.
  Strides strides() const;
  int64_t strides(int dim) const;  ///< as shape(dim)
  struct Flags {
    bool contiguous : 1, row_contiguous : 1, col_contiguous : 1;
  };
  Flags flags() const;
  size_t data_size() const { return size(); }  ///< elements in the underlying buffer
  int64_t offset() const { return 0; }

  /// Iterates over the slices along the first dimension.
  class LOWTIDE_PUBLIC ArrayIterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = const array;
    using reference = const array;
    using pointer = void;
    explicit ArrayIterator(const array& arr, int idx = 0);
    const array operator*() const;  // NOLINT: nobody can assign to a slice
    ArrayIterator& operator+=(difference_type by) {
      index_ += static_cast<int>(by);
      return *this;
    }
    ArrayIterator& operator++() { return *this += 1; }
    friend ArrayIterator operator+(ArrayIterator from, difference_type by) { return from += by; }
    friend bool operator==(const ArrayIterator& a, const ArrayIterator& b) {
      return a.of_ == b.of_ && a.index_ == b.index_;
    }

   private:
    std::shared_ptr<State> of_;
    int index_;
  };
  ArrayIterator begin() const { return ArrayIterator(*this); }
  ArrayIterator end() const { return ArrayIterator(*this, static_cast<int>(shape(0))); }

  /// The operation and the operands from which this array is computed; none once it is evaluated.
  bool has_primitive() const;
  std::vector<array> inputs() const;
  /// Is it a value inside a function that a transformation (vjp, vmap, compile, ...) is tracing?
  bool is_tracer() const;
  enum Status { unscheduled, evaluated, available };
  Status status() const;
  void detach();  ///< evaluates it and drops its graph

  /// Evaluates it and waits.
  void eval();
  /// Evaluates an array with one element and converts that element to T.
  template <class T>
  T item() const;
  /// Evaluates, and returns the elements, row-major; T is the array's type. Valid as long as an array holds them.
  template <class T>
  T* data() {
    return const_cast<T*>(std::as_const(*this).template data<T>());
  }
  template <class T>
  const T* data() const {
    return static_cast<const T*>(bytes(TypeToDtype<std::remove_const_t<T>>()));
  }

  bool is_available() const;  ///< has its evaluation finished?
  void wait() const;          ///< waits for the async_eval() that computes it; rethrows its error
  /// Equal for all handles to the same array.
  std::uintptr_t id() const { return reinterpret_cast<std::uintptr_t>(state_.get()); }

  explicit array(std::shared_ptr<State> state) : state_(std::move(state)) {}
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  template <class T>
  static Dtype default_dtype() {
    return std::is_same_v<T, double> ? float32 : Dtype(TypeToDtype<T>());
  }
  template <class T>
  static const T* checked_begin(const std::initializer_list<T>& data, const Shape& shape) {
    check_count(data.size(), shape);
    return data.begin();
  }
  static void check_count(size_t elements, const Shape& shape);
  const void* bytes(Dtype as) const;
  void one_element(void* to, Dtype as) const;

  std::shared_ptr<State> state_;
};

template <class T>
T array::item() const {
  T value{};
  one_element(&value, TypeToDtype<T>());
  return value;
}

/// array([[1, 2],
///        [3, 4]], dtype=int32); long ones are abbreviated.
LOWTIDE_PUBLIC std::ostream& operator<<(std::ostream& out, const array& a);
LOWTIDE_PUBLIC std::ostream& operator<<(std::ostream& out, Dtype type);

}  // namespace lowtide
