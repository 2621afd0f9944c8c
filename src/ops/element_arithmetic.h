#pragma once
/// The cost of an operation's arithmetic, and where it rounds. No member has a default.

#include <cstdint>

#include "ir/module.h"
#include "ops/slicing.h"

namespace lowtide::engine {

enum class Rounds : uint8_t {
  kNever,      ///< the operation moves, compares or selects elements, or is exact
  kFloats,     ///< if its result has floats
  kOfLargest,  ///< likewise, by up to a rounding of the largest element: sums of numbers of that size may cancel
  kAsItsBody,  ///< if the computation that it applies to two elements rounds
  kAlways,     ///< for any element type; it sums narrow floats in wider ones
};

struct ElementArithmetic {
  /// Time per element, in plain operations such as an addition; for complex elements, in plain operations on their
  /// parts: functions of c64 are computed in f64, by real functions of the parts and with the special cases of C.
  Stated<double> plain, complex;
  /// Machine code per element, relative to that of a plain operation, by measured compile times.
  Stated<int32_t> code;
  Stated<Rounds> rounds;
  /// The number of terms that each element sums; 0: it is no sum.
  Stated<double (*)(const Instruction&)> terms;
};

double no_sum(const Instruction& instruction);
/// The product of some of an array's extents.
double product_of(const Shape& array, const Dims& dimensions);

inline constexpr ElementArithmetic kQuarterOperation{
    .plain = 0.25, .complex = 0.25, .code = 1, .rounds = Rounds::kNever, .terms = no_sum};
inline constexpr ElementArithmetic kOneOperation{
    .plain = 1, .complex = 1, .code = 1, .rounds = Rounds::kNever, .terms = no_sum};
inline constexpr ElementArithmetic kOneRounding{
    .plain = 1, .complex = 1, .code = 1, .rounds = Rounds::kFloats, .terms = no_sum};
/// One operation whose terms may cancel: its error is up to a rounding of the largest element.
inline constexpr ElementArithmetic kRoundingOfLargest{
    .plain = 1, .complex = 1, .code = 1, .rounds = Rounds::kOfLargest, .terms = no_sum};
/// The arithmetic of a function of floats and complex numbers.
constexpr ElementArithmetic rounding(double plain, double complex, int32_t code) {
  return {.plain = plain, .complex = complex, .code = code, .rounds = Rounds::kFloats, .terms = no_sum};
}

}  // namespace lowtide::engine
