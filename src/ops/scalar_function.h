#pragma once
/// A computation of scalars applied to elements of arrays: comparators, maps, selections. Compiled to a ScalarProgram
/// if possible, interpreted otherwise.

#include <optional>
#include <vector>

#include "ops/op_rule.h"
#include "ops/scalar_program.h"

namespace lowtide::engine {

class ScalarFunction {
 public:
  ScalarFunction(const Computation& computation, EvalContext& context);

  /// Sets argument k to element `at` of an array of its type.
  void set(size_t k, const Literal& array, int64_t at);
  Status run();
  /// The result, a scalar, as a stored element; valid until the next run.
  const std::byte* result() const;
  bool holds() const { return *result() != std::byte{0}; }  ///< for a predicate

 private:
  const Computation& computation_;
  EvalContext& context_;
  std::optional<ScalarProgram> program_;
  std::vector<Value> arguments_;  ///< unused if `program_` is set
  Value result_;
};

}  // namespace lowtide::engine
