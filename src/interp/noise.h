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

/// Moves elements of floats, each by its own part of a relative error.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed) {}
  void add(Literal& array, double most);

 private:
  uint64_t state_;
};

/// Half the distance between 1 and the next number.
double roundoff_of(ElementType floating);

}  // namespace lowtide::engine
