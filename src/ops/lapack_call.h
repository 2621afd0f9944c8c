#pragma once
/// The custom calls lapack_<letter><routine>_ffi of JAX's linear algebra on CPUs: their operands and results.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/module.h"
#include "lapack/lapack.h"
#include "ops/op_rule.h"

namespace lowtide::engine {

/// An operand or result of one problem; those of a batch are stored one after another.
struct LapackArray {
  ElementType type = ElementType::kF32;
  Dims extents;      ///< {rows, columns}, {count} or {}
  int operand = -1;  ///< for a result: the operand that it overwrites
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

/// Is it a call of a known routine, with as many operands and results as in JAX 0.10? Other releases differ.
bool is_lapack_call(const Instruction& call);
/// A call of the routine, with operands as it wants them laid out; null if LAPACK has no such problem. The type is that
/// of the first operand. config: the dictionary, as written.
std::unique_ptr<Instruction> make_lapack_call(LapackRoutine routine, Shape shape, std::vector<Instruction*> operands,
                                              std::string config);
/// Reads a call and checks all constraints (C2 to C5 of custom_call.cpp).
Result<LapackCall> read_lapack_call(const Instruction& call);
Result<Value> eval_lapack_call(const Instruction& call, Operands operands);

/// Runs the routine by its definition, in double precision; false if there is none, as for ambiguous results.
bool run_lapack_definition(const LapackProblem& problem, std::span<void* const> results, std::span<void* const> read);

}  // namespace lowtide::engine
