#pragma once
/// Helpers for arrays: common types, broadcast shapes, axes, and printing.

#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include "lowtide/array.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// promote_types() over all; bool for none.
inline Dtype result_type(const array& a, const array& b) { return promote_types(a.dtype(), b.dtype()); }
inline Dtype result_type(const array& a, const array& b, const array& c) {
  return promote_types(result_type(a, b), c.dtype());
}
LOWTIDE_PUBLIC Dtype result_type(const std::vector<array>& arrays);
/// The shape to which both are broadcast.
LOWTIDE_PUBLIC Shape broadcast_shapes(const Shape& s1, const Shape& s2);
/// The axis counted from 0; std::invalid_argument, beginning with msg_prefix, if it is out of bounds for ndim
/// dimensions.
LOWTIDE_PUBLIC int normalize_axis_index(int axis, int ndim, const std::string& msg_prefix = "");

struct PrintOptions {
  int precision = -1;  ///< decimals; -1: six digits
};
/// How elements are printed.
struct LOWTIDE_PUBLIC PrintFormatter {
  bool capitalize_bool = true;
  PrintOptions format_options = {};
  void print(std::ostream& os, bool val) const;
  void print(std::ostream& os, int64_t val) const;
  void print(std::ostream& os, uint64_t val) const;
  void print(std::ostream& os, double val) const;
  void print(std::ostream& os, complex64_t val) const;
};
LOWTIDE_PUBLIC void set_printoptions(PrintOptions options);
LOWTIDE_PUBLIC PrintFormatter& get_global_formatter();

/// Limits of a floating-point type.
struct LOWTIDE_PUBLIC finfo {
  explicit finfo(Dtype dtype);
  Dtype dtype;
  int bits = 0;
  double min = 0, max = 0, eps = 0, smallest_normal = 0;
};
/// Limits of an integer type.
struct LOWTIDE_PUBLIC iinfo {
  explicit iinfo(Dtype dtype);
  Dtype dtype;
  int64_t min = 0;
  uint64_t max = 0;
};

LOWTIDE_PUBLIC std::ostream& operator<<(std::ostream& os, const Device& d);
LOWTIDE_PUBLIC std::ostream& operator<<(std::ostream& os, const Stream& s);
LOWTIDE_PUBLIC std::ostream& operator<<(std::ostream& os, const Dtype::Kind& k);
inline std::ostream& operator<<(std::ostream& os, const complex64_t& v) {
  return os << v.real() << (v.imag() >= 0 ? "+" : "") << v.imag() << "j";
}
inline std::ostream& operator<<(std::ostream& os, const float16_t& v) { return os << static_cast<float>(v); }
inline std::ostream& operator<<(std::ostream& os, const bfloat16_t& v) { return os << static_cast<float>(v); }
/// (1,2)
template <class T>
  requires(std::is_integral_v<T>)
std::ostream& operator<<(std::ostream& os, const std::vector<T>& v) {
  os << "(";
  for (size_t i = 0; i < v.size(); ++i) os << (i ? "," : "") << v[i];
  return os << ")";
}

}  // namespace lowtide
