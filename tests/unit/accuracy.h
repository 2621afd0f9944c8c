#pragma once
/// How far functions of nests are from the truth, in units in the last place of the true result.

#include <functional>
#include <string>
#include <vector>

#include "nest/nest.h"

namespace lowtide {

struct AccuracyCase {
  Opcode opcode = Opcode::kExponential;
  int arity = 1;
  std::function<long double(long double, long double)> truth;
  std::string name() const;
};
const std::vector<AccuracyCase>& accuracy_cases();

struct Accuracy {
  double most = 0, mean = 0;
  double worst_x = 0, worst_y = 0;
  int64_t samples = 0;
  std::string fault;  ///< a wrong special value: NaN, an infinity or the sign of a zero
};

/// Over every `stride`th of all floats of the type (f32 or f64), negative ones and NaN included; of functions of two
/// arguments over pairs. `change` may spoil the nest before it runs.
Accuracy measure(const AccuracyCase& accuracy, ElementType type, uint64_t stride,
                 const std::function<void(Nest&)>& change = nullptr);

/// operation(x[, y]) of every element, as a nest that is not legalised yet.
Nest elementwise_nest(const Node& operation, std::span<const ElementType> operands, int64_t elements);

}  // namespace lowtide
