#pragma once
/// Words that shape rules share: how a broken constraint is told, and the checks that many operations make.

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/module.h"
#include "ops/infer.h"

namespace lowtide::engine {

/// "dot: lhs and rhs name 1 and 2 batch dimensions (C1)".
Status broken(const Instruction& instruction, int constraint, const std::string& sentence);

/// Every entry of `dims` is in [0, rank), none twice. `what` names the list: "lhs_batch_dims".
Status check_dims(const Instruction& instruction, const Dims& dims, int64_t rank, std::string_view what,
                  int constraint);

/// A called computation's parameters and result.
struct Signature {
  std::vector<const Shape*> parameters;
  const Shape* result = nullptr;
};
/// Of called computation `which`; a fault where there is none, where it has no root or skips a parameter number.
Result<Signature> signature_of(const Instruction& instruction, size_t which, int constraint);

/// The called computation takes exactly these shapes.
Status check_parameters(const Instruction& instruction, const Signature& signature,
                        const std::vector<const Shape*>& expected, int constraint);

/// Every operand is an array.
Status check_arrays(const Instruction& instruction, int constraint);

/// A dimension of an operand or of the declared result is `?`: nothing can be computed from extents then.
bool has_unbounded(const Instruction& instruction);

/// The shape alone, or the tuple of several.
Shape one_or_tuple(std::vector<Shape> shapes);

/// Without layout and dynamic flags.
Shape bare(const Shape& array);

}  // namespace lowtide::engine
