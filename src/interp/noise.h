#pragma once
/// Makes rounding errors visible: perturbs results of arithmetic by as much as another correct executor may round them
/// differently. Two runs, one with noise, show how much of each result depends on rounding.

#include <cstdint>

#include "ir/module.h"

namespace lowtide::engine {

/// Does the operation round? Arithmetic on floats and sums do; operations that only move, compare or select don't.
bool rounds(const Instruction& instruction);

/// The relative difference that another executor may have in each element of the results of this type: it may round
/// elsewhere, and add terms in another order.
double rounding_error_of(const Instruction& instruction, ElementType type);

/// Is that error relative to the result's largest element, because each element is a sum of numbers of that size?
bool errs_like_largest(const Instruction& instruction);

/// Perturbs elements of floats and complex numbers, each by a random fraction of `most`.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed) {}
  /// most: relative to each element.
  void add(Literal& array, double most);
  /// most: relative to the largest finite element.
  void add_like_largest(Literal& array, double most);

 private:
  double part();  ///< in [-1, 1], at least a half in size

  uint64_t state_;
};

/// Half the distance between 1 and the next larger number.
double roundoff_of(ElementType floating);

}  // namespace lowtide::engine
