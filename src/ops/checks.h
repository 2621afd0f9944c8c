#pragma once
/// Helpers that shape rules share: the error for a broken constraint, and checks that many operations make.

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/module.h"
#include "ops/infer.h"

namespace lowtide::engine {

/// "dot: lhs and rhs name 1 and 2 batch dimensions (C1)".
Status broken(const Instruction& instruction, int constraint, const std::string& sentence);

/// Checks that the entries of `dims` are distinct and in [0, rank). `what` names the list: "lhs_batch_dims".
Status check_dims(const Instruction& instruction, const Dims& dims, int64_t rank, std::string_view what,
                  int constraint);

/// A called computation's parameters and result.
struct Signature {
  std::vector<const Shape*> parameters;
  const Shape* result = nullptr;
};
/// The signature of called computation `which`; an error if it doesn't exist, has no root or skips a parameter number.
Result<Signature> signature_of(const Instruction& instruction, size_t which, int constraint);

/// Checks that the called computation has exactly these parameter shapes.
Status check_parameters(const Instruction& instruction, const Signature& signature,
                        const std::vector<const Shape*>& expected, int constraint);

/// Checks that every operand is an array.
Status check_arrays(const Instruction& instruction, int constraint);

/// Does an operand or the declared result have an unbounded dimension (`?`)? Then extents can't be computed.
bool has_unbounded(const Instruction& instruction);

/// The only shape by itself, or a tuple of several.
Shape one_or_tuple(std::vector<Shape> shapes);

/// The shape without its layout and dynamic flags.
Shape bare(const Shape& array);

}  // namespace lowtide::engine
