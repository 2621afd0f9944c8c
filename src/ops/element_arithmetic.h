#pragma once
/// What an operation's arithmetic costs, and where it rounds. Nothing here has a default.

#include <cstdint>

#include "ir/module.h"
#include "ops/slicing.h"

namespace lowtide::engine {

enum class Rounds : uint8_t {
  kNever,      ///< it moves, compares or chooses, or is exact
  kFloats,     ///< where its result is of floats
  kOfLargest,  ///< likewise, by a rounding of the largest element: each sums numbers of that size, which may cancel
  kAsItsBody,  ///< where what it applies to two elements does
  kAlways,     ///< whatever its results are; it sums narrow floats in wider ones
};

struct ElementArithmetic {
  /// Of an element, in plain operations such as an addition; of a complex one, in such operations on its parts:
  /// functions of c64 are computed in f64, by the real functions of its parts and with the special cases of C.
  Stated<double> plain, complex;
  /// Machine code of an element, by measured compile times, in that of a plain operation.
  Stated<int32_t> code;
  Stated<Rounds> rounds;
  /// Terms that each element adds up; 0: it is no sum.
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
/// One whose terms may cancel: it is as far off as the largest element's rounding.
inline constexpr ElementArithmetic kRoundingOfLargest{
    .plain = 1, .complex = 1, .code = 1, .rounds = Rounds::kOfLargest, .terms = no_sum};
/// A function of floats and complex numbers.
constexpr ElementArithmetic rounding(double plain, double complex, int32_t code) {
  return {.plain = plain, .complex = complex, .code = code, .rounds = Rounds::kFloats, .terms = no_sum};
}

}  // namespace lowtide::engine
