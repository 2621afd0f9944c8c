#pragma once
/// Operators between arrays, and between arrays and C++ scalars, which are converted by array(scalar).

#include "lowtide/ops.h"

namespace lowtide {

inline array operator-(const array& a) { return negative(a); }
inline array operator~(const array& a) { return bitwise_invert(a); }
inline array operator!(const array& a) { return logical_not(a); }
template <class T>
concept Scalar = std::is_arithmetic_v<T> || std::is_same_v<T, complex64_t> || std::is_same_v<T, float16_t> ||
                 std::is_same_v<T, bfloat16_t>;
inline array operator+(const array& a, const array& b) { return add(a, b); }
template <Scalar T>
array operator+(T a, const array& b) {
  return add(array(a), b);
}
template <Scalar T>
array operator+(const array& a, T b) {
  return add(a, array(b));
}
inline array operator-(const array& a, const array& b) { return subtract(a, b); }
template <Scalar T>
array operator-(T a, const array& b) {
  return subtract(array(a), b);
}
template <Scalar T>
array operator-(const array& a, T b) {
  return subtract(a, array(b));
}
inline array operator*(const array& a, const array& b) { return multiply(a, b); }
template <Scalar T>
array operator*(T a, const array& b) {
  return multiply(array(a), b);
}
template <Scalar T>
array operator*(const array& a, T b) {
  return multiply(a, array(b));
}
inline array operator/(const array& a, const array& b) { return divide(a, b); }
template <Scalar T>
array operator/(T a, const array& b) {
  return divide(array(a), b);
}
template <Scalar T>
array operator/(const array& a, T b) {
  return divide(a, array(b));
}
inline array operator%(const array& a, const array& b) { return remainder(a, b); }
template <Scalar T>
array operator%(T a, const array& b) {
  return remainder(array(a), b);
}
template <Scalar T>
array operator%(const array& a, T b) {
  return remainder(a, array(b));
}
inline array operator==(const array& a, const array& b) { return equal(a, b); }
template <Scalar T>
array operator==(T a, const array& b) {
  return equal(array(a), b);
}
template <Scalar T>
array operator==(const array& a, T b) {
  return equal(a, array(b));
}
inline array operator!=(const array& a, const array& b) { return not_equal(a, b); }
template <Scalar T>
array operator!=(T a, const array& b) {
  return not_equal(array(a), b);
}
template <Scalar T>
array operator!=(const array& a, T b) {
  return not_equal(a, array(b));
}
inline array operator<(const array& a, const array& b) { return less(a, b); }
template <Scalar T>
array operator<(T a, const array& b) {
  return less(array(a), b);
}
template <Scalar T>
array operator<(const array& a, T b) {
  return less(a, array(b));
}
inline array operator<=(const array& a, const array& b) { return less_equal(a, b); }
template <Scalar T>
array operator<=(T a, const array& b) {
  return less_equal(array(a), b);
}
template <Scalar T>
array operator<=(const array& a, T b) {
  return less_equal(a, array(b));
}
inline array operator>(const array& a, const array& b) { return greater(a, b); }
template <Scalar T>
array operator>(T a, const array& b) {
  return greater(array(a), b);
}
template <Scalar T>
array operator>(const array& a, T b) {
  return greater(a, array(b));
}
inline array operator>=(const array& a, const array& b) { return greater_equal(a, b); }
template <Scalar T>
array operator>=(T a, const array& b) {
  return greater_equal(array(a), b);
}
template <Scalar T>
array operator>=(const array& a, T b) {
  return greater_equal(a, array(b));
}
inline array operator&&(const array& a, const array& b) { return logical_and(a, b); }
template <Scalar T>
array operator&&(T a, const array& b) {
  return logical_and(array(a), b);
}
template <Scalar T>
array operator&&(const array& a, T b) {
  return logical_and(a, array(b));
}
inline array operator||(const array& a, const array& b) { return logical_or(a, b); }
template <Scalar T>
array operator||(T a, const array& b) {
  return logical_or(array(a), b);
}
template <Scalar T>
array operator||(const array& a, T b) {
  return logical_or(a, array(b));
}
inline array operator&(const array& a, const array& b) { return bitwise_and(a, b); }
template <Scalar T>
array operator&(T a, const array& b) {
  return bitwise_and(array(a), b);
}
template <Scalar T>
array operator&(const array& a, T b) {
  return bitwise_and(a, array(b));
}
inline array operator|(const array& a, const array& b) { return bitwise_or(a, b); }
template <Scalar T>
array operator|(T a, const array& b) {
  return bitwise_or(array(a), b);
}
template <Scalar T>
array operator|(const array& a, T b) {
  return bitwise_or(a, array(b));
}
inline array operator^(const array& a, const array& b) { return bitwise_xor(a, b); }
template <Scalar T>
array operator^(T a, const array& b) {
  return bitwise_xor(array(a), b);
}
template <Scalar T>
array operator^(const array& a, T b) {
  return bitwise_xor(a, array(b));
}
inline array operator<<(const array& a, const array& b) { return left_shift(a, b); }
template <Scalar T>
array operator<<(T a, const array& b) {
  return left_shift(array(a), b);
}
template <Scalar T>
array operator<<(const array& a, T b) {
  return left_shift(a, array(b));
}
inline array operator>>(const array& a, const array& b) { return right_shift(a, b); }
template <Scalar T>
array operator>>(T a, const array& b) {
  return right_shift(array(a), b);
}
template <Scalar T>
array operator>>(const array& a, T b) {
  return right_shift(a, array(b));
}

}  // namespace lowtide
