#include "schedule/check/equation.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

/// A limit below which products and their sums don't overflow.
constexpr Int128 kLargest = Int128{1} << 100;
constexpr int kMostVisits = 400;

Int128 greatest_divisor(Int128 a, Int128 b) {
  while (b != 0) {
    const Int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

}  // namespace

void Equation::add(Int128 coefficient, Int128 least, Int128 greatest) {
  if (least > greatest) {
    impossible_ = true;
    return;
  }
  if (coefficient == 0) return;
  const Int128 most = greatest - least, size = coefficient < 0 ? -coefficient : coefficient;
  constexpr Int128 kLargestOfTerm = Int128{1} << 92;
  if (most > kLargestOfTerm / size || (least < 0 ? -least : least) > kLargestOfTerm / size) {
    unbounded_ = true;
    return;
  }
  // Each unknown is counted from the bound at which its term is least.
  constant_ += coefficient * (coefficient > 0 ? least : greatest);
  if (most > 0) terms_.push_back({size, most});
}

bool Equation::may_hold() const {
  if (impossible_) return false;
  if (unbounded_ || constant_ > kLargest || constant_ < -kLargest) return true;
  std::vector<Term> terms = terms_;
  std::ranges::sort(terms, std::greater(), &Term::coefficient);
  // Merge unknowns whose sums are all multiples of the smaller coefficient up to their greatest: rows, counted in one
  // unknown or in two.
  std::vector<Term> kept;
  for (Term term : terms) {
    while (!kept.empty() && kept.back().coefficient % term.coefficient == 0 &&
           term.most >= kept.back().coefficient / term.coefficient - 1) {
      term.most += kept.back().coefficient / term.coefficient * kept.back().most;
      kept.pop_back();
    }
    kept.push_back(term);
  }
  int visits = kMostVisits;
  return may_hold(kept, 0, -constant_, visits);
}

/// Can the terms from `first` on sum up to `wanted`? Tries each value of the first unknown for which the others can
/// supply the rest: few, if coefficients are strides of rows and of their elements.
bool Equation::may_hold(const std::vector<Term>& terms, size_t first, Int128 wanted, int& visits) {
  if (--visits < 0) return true;
  if (wanted == 0) return true;
  if (wanted < 0 || first == terms.size()) return false;
  Int128 others = 0, divisor = 0;
  for (size_t k = first + 1; k < terms.size(); ++k) others += terms[k].coefficient * terms[k].most;
  for (size_t k = first; k < terms.size(); ++k) divisor = greatest_divisor(terms[k].coefficient, divisor);
  if (wanted % divisor != 0) return false;
  const auto [coefficient, most] = terms[first];
  const Int128 least_needed = wanted > others ? (wanted - others + coefficient - 1) / coefficient : 0;
  const Int128 most_needed = std::min(most, wanted / coefficient);
  for (Int128 x = most_needed; x >= least_needed; --x) {
    if (may_hold(terms, first + 1, wanted - x * coefficient, visits)) return true;
  }
  return false;
}

}  // namespace lowtide::engine
