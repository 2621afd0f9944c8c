#pragma once
/// Constants in MLIR's spellings: dense<1.0>, dense<[[1, 2], [3, 4]]>, dense<"0x0000803F">, dense<(1.0, 2.0)>,
/// dense_resource<name>; single elements as decimals, hexadecimal bits, true and false.

#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/literal.h"
#include "text/stablehlo/syntax.h"

namespace lowtide::engine {

struct Dense {
  Value value;         ///< of the whole shape, or of one element
  bool splat = false;  ///< all elements are that one
};

/// Reads an attribute's value as elements of this shape; its own type, where it has one, isn't looked at. Elided data
/// is Literal::unknown. Faults have their exact place.
Result<Dense> read_dense(const MlirAttribute& attribute, const Shape& shape, const Source& source,
                         const MlirModule& module);

/// `dense<...>` without a type: short lists as numbers, longer ones as bytes. Reads back bit by bit.
std::string dense_text(const Literal& value);

}  // namespace lowtide::engine
