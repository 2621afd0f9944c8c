#pragma once
/// Arithmetic on facts: what the rules of the families are made of.

#include <optional>
#include <vector>

#include "facts.h"

namespace lowtide::engine {

using Facts = std::vector<Fact>;
using Maybe = std::optional<Fact>;

Fact interval(double a, double b, double error, int grid = Fact::kNoGrid);
Fact product(const Fact& a, const Fact& b);
Fact sum(const Fact& a, const Fact& b);
Fact negated(const Fact& a);
/// Both facts hold of some element of facts[first .. last).
Fact hull(const Facts& facts, size_t first, size_t last);

/// Is every partial result of these bounds a number of the type, so that no executor rounds at all?
bool is_unrounded(ElementType type, const Fact& fact);
/// Bounds and error of a result that took `roundings` roundings to its type.
Maybe rounded(const Shape& shape, Fact fact, double roundings = 1);
/// The sum of `count` numbers like `a`, in any order, rounded each time.
Maybe sum_of(const Shape& shape, const Fact& a, double count);
/// A monotone function on [low, high] with |f'| <= slope there, computed within a few units of the last place.
Maybe monotone(const Shape& shape, const Fact& a, double (*f)(double), double slope);

inline Fact of_parts(Facts parts) {
  Fact all;
  all.parts = std::move(parts);
  return all;
}

}  // namespace lowtide::engine
