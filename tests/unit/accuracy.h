#pragma once
/// How far functions of nests are from the truth, in units in the last place of the true result.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nest/nest.h"
#include "plain_lanes.h"

namespace lowtide::engine {

struct AccuracyCase {
  Opcode opcode = Opcode::kExponential;
  int arity = 1;
  std::function<long double(long double, long double)> truth;
  std::optional<double> known;  ///< a second operand that is a constant
  std::string name() const;
};
const std::vector<AccuracyCase>& accuracy_cases();
/// Powers of known exponents.
const std::vector<AccuracyCase>& power_cases();

struct Accuracy {
  double most = 0, mean = 0;
  std::string at;  ///< the arguments of the worst result
  int64_t samples = 0;
  std::string fault;  ///< a wrong special value: NaN, an infinity, the largest number or the sign of a zero
};

/// The promise: no result of a real function is further from the truth.
double accuracy_bound(ElementType type);

struct MeasureOptions {
  uint64_t samples = 1 << 16;                   ///< of f32 and f64, and pairs of f16 and bf16: about so many
  std::function<void(Nest&)> change = nullptr;  ///< may spoil the nest before it runs
  std::function<void(const Nest&, const std::vector<void*>&)> run = run_in_lanes;  ///< executes the legalised nest
};

/// f32 and f64: over numbers at equal distances among all bit patterns, negative ones and NaN included, and special
/// ones; of functions of two arguments over pairs. Narrower floats: over all bit patterns; over all pairs where the
/// type has 8 bits or fewer.
Accuracy measure(const AccuracyCase& accuracy, ElementType type, const MeasureOptions& options);

/// operation(x[, y]) of every element, as a nest that is not legalised yet; `known`: y is this number.
Nest elementwise_nest(const Node& operation, std::span<const ElementType> operands, int64_t elements,
                      std::optional<double> known = {});

}  // namespace lowtide::engine
