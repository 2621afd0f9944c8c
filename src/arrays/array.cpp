#include "lowtide/array.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "arrays/evaluate.h"
#include "lowtide/ops.h"
#include "lowtide/transforms.h"

namespace lowtide {
namespace {

/// f(T{}) with the C++ type of the elements.
template <class F>
auto with_type(Dtype dtype, F&& f) {
  switch (dtype.val) {
    case Dtype::Val::bool_: return f(bool{});
    case Dtype::Val::uint8: return f(uint8_t{});
    case Dtype::Val::uint16: return f(uint16_t{});
    case Dtype::Val::uint32: return f(uint32_t{});
    case Dtype::Val::uint64: return f(uint64_t{});
    case Dtype::Val::int8: return f(int8_t{});
    case Dtype::Val::int16: return f(int16_t{});
    case Dtype::Val::int32: return f(int32_t{});
    case Dtype::Val::int64: return f(int64_t{});
    case Dtype::Val::float16: return f(float16_t{});
    case Dtype::Val::bfloat16: return f(bfloat16_t{});
    case Dtype::Val::float32: return f(float{});
    case Dtype::Val::float64: return f(double{});
    case Dtype::Val::complex64: break;
  }
  return f(complex64_t{});
}

template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<From, To>) {
    return value;
  } else if constexpr (std::is_same_v<From, complex64_t>) {
    return converted<To>(value.real());
  } else if constexpr (std::is_same_v<To, complex64_t>) {
    return {converted<float>(value), 0};
  } else if constexpr (std::is_same_v<From, float16_t> || std::is_same_v<From, bfloat16_t>) {
    return converted<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, float16_t> || std::is_same_v<To, bfloat16_t>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(value)) return 0;  // as programs convert: NaN to 0, other values to the nearest integer in range
    constexpr auto kMost = std::numeric_limits<To>::max();
    if (value >= static_cast<From>(kMost)) return kMost;
    if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

void convert(const void* from, Dtype of, void* to, Dtype as, int64_t count) {
  with_type(of, [&](auto from_type) {
    with_type(as, [&](auto to_type) {
      using From = decltype(from_type);
      using To = decltype(to_type);
      if constexpr (std::is_same_v<From, To>) {
        if (count > 0) std::memcpy(to, from, static_cast<size_t>(count) * sizeof(To));
      } else {
        for (int64_t i = 0; i < count; ++i) static_cast<To*>(to)[i] = converted<To>(static_cast<const From*>(from)[i]);
      }
    });
  });
}

void check_shape(const Shape& shape) {
  for (const int64_t extent : shape) {
    if (extent < 0)
      throw std::invalid_argument(
          fmt::format("array: found the shape {}, expected extents from 0 on", lazy::to_string(shape)));
  }
}

}  // namespace

float16_t::float16_t(float value) {
  uint32_t word = 0;
  std::memcpy(&word, &value, 4);
  const uint32_t sign = word >> 16 & 0x8000;
  const float size = std::fabs(value);
  if (std::isnan(value)) {
    bits = static_cast<uint16_t>(sign | 0x7e00);
  } else if (size >= 65520.0F) {
    bits = static_cast<uint16_t>(sign | 0x7c00);
  } else if (size < 0x1p-14F) {  // subnormal: in units of the smallest one
    bits = static_cast<uint16_t>(sign | static_cast<uint32_t>(std::nearbyint(size * 0x1p24F)));
  } else {
    const uint32_t rounded = (word & 0x7fffffff) + 0xfff + (word >> 13 & 1);
    bits = static_cast<uint16_t>(sign | ((rounded - (112U << 23)) >> 13));
  }
}
float16_t::operator float() const {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const float sign = bits & 0x8000 ? -1.0F : 1.0F;
  if (exponent == 31) return mantissa ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
}
bfloat16_t::bfloat16_t(float value) {
  uint32_t word = 0;
  std::memcpy(&word, &value, 4);
  bits = static_cast<uint16_t>(std::isnan(value) ? (word >> 16) | 0x40 : (word + 0x7fff + (word >> 16 & 1)) >> 16);
}
bfloat16_t::operator float() const {
  const uint32_t word = static_cast<uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &word, 4);
  return value;
}

std::string dtype_to_string(Dtype type) {
  constexpr const char* kNames[] = {"bool",  "uint8", "uint16",  "uint32",   "uint64",  "int8",    "int16",
                                    "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64"};
  return kNames[static_cast<int>(type.val)];
}

bool issubdtype(Dtype type, Dtype::Category category) {
  const bool is_complex = type.val == Dtype::Val::complex64;
  const bool is_float = type.val >= Dtype::Val::float16 && type.val <= Dtype::Val::float64;
  const bool is_unsigned = type.val >= Dtype::Val::uint8 && type.val <= Dtype::Val::uint64;
  const bool is_signed = type.val >= Dtype::Val::int8 && type.val <= Dtype::Val::int64;
  switch (category) {
    case Dtype::Category::complexfloating: return is_complex;
    case Dtype::Category::floating: return is_float;
    case Dtype::Category::inexact: return is_float || is_complex;
    case Dtype::Category::signedinteger: return is_signed;
    case Dtype::Category::unsignedinteger: return is_unsigned;
    case Dtype::Category::integer: return is_signed || is_unsigned;
    case Dtype::Category::number: return type.val != Dtype::Val::bool_;
    case Dtype::Category::generic: return true;
  }
  return false;
}

bool issubdtype(Dtype::Category a, Dtype::Category b) {
  // Whether all types of category a belong to category b: one type that belongs to no narrower category represents a.
  switch (a) {
    case Dtype::Category::complexfloating: return issubdtype(complex64, b);
    case Dtype::Category::floating: return issubdtype(float32, b);
    case Dtype::Category::inexact: return issubdtype(complex64, b) && issubdtype(float32, b);
    case Dtype::Category::signedinteger: return issubdtype(int32, b);
    case Dtype::Category::unsignedinteger: return issubdtype(uint32, b);
    case Dtype::Category::integer: return issubdtype(int32, b) && issubdtype(uint32, b);
    case Dtype::Category::number: return b == Dtype::Category::number || b == Dtype::Category::generic;
    case Dtype::Category::generic: break;
  }
  return b == Dtype::Category::generic;
}

Dtype::Kind kindof(Dtype type) {
  if (type.val == Dtype::Val::bool_) return Dtype::Kind::b;
  if (type.val == Dtype::Val::bfloat16) return Dtype::Kind::V;
  if (issubdtype(type, unsignedinteger)) return Dtype::Kind::u;
  if (issubdtype(type, signedinteger)) return Dtype::Kind::i;
  return type.val == Dtype::Val::complex64 ? Dtype::Kind::c : Dtype::Kind::f;
}

Dtype promote_types(Dtype a, Dtype b) {
  if (a.val == b.val) return a;
  if (b.val < a.val) std::swap(a, b);  // b comes later in the enum
  if (a.val == Dtype::Val::bool_ || b.val == Dtype::Val::complex64) return b;
  if (issubdtype(b, floating)) {
    if (!issubdtype(a, floating)) return b;
    if (a.val == Dtype::Val::float16 && b.val == Dtype::Val::bfloat16) return float32;
    return b;
  }
  if (issubdtype(a, unsignedinteger) && issubdtype(b, signedinteger)) {
    if (b.size() > a.size()) return b;
    if (a.size() == 8) return float32;
    return Dtype(static_cast<Dtype::Val>(static_cast<int>(Dtype::Val::int16) + (a.size() == 1   ? 0
                                                                                : a.size() == 2 ? 1
                                                                                                : 2)));
  }
  return b;
}

array::array(const void* elements, Dtype of, Shape shape, Dtype dtype) : state_(std::make_shared<State>()) {
  check_shape(shape);
  state_->shape = std::move(shape);
  state_->dtype = dtype;
  state_->data = lazy::Runtime::get().memory.allocate(static_cast<int64_t>(nbytes()));
  convert(elements, of, state_->data->data, dtype, static_cast<int64_t>(size()));
}

array::array(void* data, Shape shape, Dtype dtype, const std::function<void(void*)>& deleter)
    : state_(std::make_shared<State>()) {
  check_shape(shape);
  state_->shape = std::move(shape);
  state_->dtype = dtype;
  state_->data =
      lazy::Runtime::get().memory.adopt(data, static_cast<int64_t>(nbytes()), deleter ? deleter : [](void*) {});
}

void array::check_count(size_t elements, const Shape& shape) {
  check_shape(shape);
  if (static_cast<int64_t>(elements) != lazy::element_count(shape))
    throw std::invalid_argument(fmt::format("array: found {} elements, expected {} for the shape {}", elements,
                                            lazy::element_count(shape), lazy::to_string(shape)));
}

size_t array::size() const { return static_cast<size_t>(lazy::element_count(shape())); }
const Shape& array::shape() const { return state_->shape; }
int64_t array::shape(int dim) const {
  const auto rank = static_cast<int>(ndim());
  if (dim < -rank || dim >= rank)
    throw std::out_of_range(
        fmt::format("shape: found dimension {} of an array of shape {}", dim, lazy::to_string(shape())));
  return shape()[dim < 0 ? dim + rank : dim];
}
Dtype array::dtype() const { return state_->dtype; }

Strides array::strides() const {
  Strides strides(ndim(), 1);
  for (size_t d = ndim(); d-- > 1;) strides[d - 1] = strides[d] * shape()[d];
  return strides;
}
int64_t array::strides(int dim) const {
  (void)shape(dim);
  return strides()[dim < 0 ? dim + static_cast<int>(ndim()) : dim];
}
array::Flags array::flags() const {
  const auto wide = std::ranges::count_if(shape(), [](int64_t extent) { return extent != 1; });
  return {.contiguous = true, .row_contiguous = true, .col_contiguous = wide < 2 || size() == 0};
}

bool array::has_primitive() const {
  const std::lock_guard lock(lazy::Runtime::get().graphs);
  return state_->step != nullptr;
}
std::vector<array> array::inputs() const {
  const std::lock_guard lock(lazy::Runtime::get().graphs);
  return state_->step ? state_->step->inputs : std::vector<array>();
}
bool array::is_tracer() const {
  const std::lock_guard lock(lazy::Runtime::get().graphs);
  return state_->trace && state_->trace->live;
}
array::Status array::status() const {
  if (is_available()) return Status::available;
  const std::lock_guard lock(lazy::Runtime::get().graphs);
  return state_->stands() ? Status::evaluated : Status::unscheduled;
}
void array::detach() {
  eval();
  const std::lock_guard lock(lazy::Runtime::get().graphs);
  state_->step.reset();
}

array::ArrayIterator::ArrayIterator(const array& arr, int idx) : of_(arr.state()), index_(idx) {
  if (arr.ndim() == 0)
    throw std::invalid_argument("begin: found an array without dimensions, expected one to go along");
}
const array array::ArrayIterator::operator*() const { return take(array(of_), index_, 0); }

void array::eval() { lazy::evaluate({*this}, true); }
bool array::is_available() const {
  const std::lock_guard lock(lazy::Runtime::get().graphs);
  return state_->stands() && (!state_->pending || state_->pending->is_done());
}
void array::wait() const {
  std::unique_lock lock(lazy::Runtime::get().graphs);
  const auto pending = state_->pending;
  if (!pending) return;
  lock.unlock();
  pending->wait();
  lock.lock();
  if (state_->pending == pending) state_->pending.reset();
}

const void* array::bytes(Dtype as) const {
  if (as.val != dtype().val && as.size() != dtype().size())
    throw std::invalid_argument(
        fmt::format("data: found elements of {}, expected {}", dtype_to_string(dtype()), dtype_to_string(as)));
  array(*this).eval();
  wait();
  return state_->data->data;
}

void array::one_element(void* to, Dtype as) const {
  if (size() != 1)
    throw std::invalid_argument(
        fmt::format("item: found an array of shape {}, expected one element", lazy::to_string(shape())));
  array(*this).eval();
  wait();
  convert(state_->data->data, dtype(), to, as, 1);
}

}  // namespace lowtide
