#pragma once
/// Roundings made visible: results of arithmetic moved by as much as another correct executor may round them elsewhere.
/// Two runs, one of them noisy, tell how much of each result is its program's and how much is rounding.

#include <cstdint>

#include "ir/module.h"

namespace lowtide::engine {

/// Does the operation round: arithmetic on floats, sums; nothing that only moves, compares or chooses.
bool rounds(const Instruction& instruction);

/// Of each element of its results of a type, by how much another executor's may differ, relatively: it may round
/// elsewhere, and add terms in another order.
double rounding_error_of(const Instruction& instruction, ElementType type);

/// Is that error relative to the largest element of the result, because each element sums numbers of that size?
bool errs_like_largest(const Instruction& instruction);

/// Moves elements of floats and complex numbers, each by its own part of `most`.
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

/// Half the distance between 1 and the next number.
double roundoff_of(ElementType floating);

}  // namespace lowtide::engine
