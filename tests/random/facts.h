#pragma once
/// What is known of a value before it is computed: bounds, and how far two correct executors may be apart.
///
/// A comparison with another executor is only as sharp as what it may demand. Executors round differently (contraction,
/// reassociation, their own exponential), so each float carries a bound of its error, propagated as in interval
/// analysis. An operation that would turn a small error into a large one (compare, floor, a conversion to integers) is
/// allowed on exact values only. Integers are always exact.

#include <limits>
#include <optional>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

struct Fact {
  static constexpr int kNoGrid = std::numeric_limits<int>::min();
  double low = 0, high = 0;  ///< every element lies in [low, high]; of complex numbers: each part
  double error = 0;          ///< no executor is further than this from the mathematical value
  int grid = 0;              ///< all elements are multiples of 2^grid; kNoGrid: nothing known
  bool argument = false;     ///< elements of arguments as they are: no simplification turns them into constants
  bool special = false;      ///< floats may also be infinite, no numbers, denormal or near the end of their type
  std::vector<Fact> parts;   ///< of a tuple

  bool exact() const { return error == 0; }
  double magnitude() const { return std::max(std::abs(low), std::abs(high)); }
};

/// The fact of a result from the facts of the operands; nothing when the operation must not be made of them.
std::optional<Fact> fact_of(const Instruction& instruction, const std::vector<Fact>& operands);

/// The fact of a computation's root from those of its arguments.
std::optional<Fact> fact_of(const Computation& computation, const std::vector<Fact>& arguments);

/// A seeded argument.
Fact fact_of_argument(ElementType type);

/// Bounds that hold of any value of an integer type.
Fact any_integer(ElementType type);

/// Both facts hold of some element.
Fact either(const Fact& a, const Fact& b);

}  // namespace lowtide::engine
