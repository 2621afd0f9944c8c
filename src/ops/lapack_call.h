#pragma once
/// The custom calls lapack_<letter><routine>_ffi, which JAX makes of linear algebra on CPUs: what they take and give.

#include <optional>
#include <vector>

#include "ir/module.h"
#include "lapack/lapack.h"
#include "ops/op_rule.h"

namespace lowtide::engine {

/// An operand or result of one problem; a batch of them lies one after another.
struct LapackArray {
  ElementType type = ElementType::kF32;
  Dims extents;      ///< {rows, columns}, {count} or {}
  int operand = -1;  ///< of a result: the operand that it overwrites
  bool is_matrix() const { return extents.size() == 2; }
  int64_t count() const;  ///< elements of one problem
};

struct LapackCall {
  LapackProblem problem;
  int64_t batch = 1;
  std::vector<LapackArray> operands, results;
  /// Operands that no result overwrites, in their order.
  std::vector<size_t> read() const;
};

/// Of a routine known here, with as many operands and results as JAX 0.10 gives it; other releases had others.
bool is_lapack_call(const Instruction& call);
/// Checks all constraints (C2 to C5 of custom_call.cpp).
Result<LapackCall> read_lapack_call(const Instruction& call);
Result<Value> eval_lapack_call(const Instruction& call, Operands operands);

/// Runs the routine's own definition where the result is unique, in double precision; false where there is none.
bool run_lapack_definition(const LapackProblem& problem, std::span<void* const> results, std::span<void* const> read);

}  // namespace lowtide::engine
