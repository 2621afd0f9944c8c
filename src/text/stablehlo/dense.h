#pragma once
/// Reads and writes MLIR's constants: dense<1.0>, dense<[[1, 2], [3, 4]]>, dense<"0x0000803F">, dense<(1.0, 2.0)>,
/// dense_resource<name>; single elements as decimals, hexadecimal bits, true and false.

#include <string>
#include <string_view>

#include "base/status.h"
#include "ir/literal.h"
#include "text/stablehlo/syntax.h"

namespace lowtide::engine {

struct Dense {
  Value value;         ///< all elements, or only one
  bool splat = false;  ///< `value` is one element, to which all are equal
};

/// Reads an attribute's value as elements of this shape; a type written in the attribute is ignored. Elided data is
/// Literal::unknown. Errors have their exact place.
Result<Dense> read_dense(const MlirAttribute& attribute, const Shape& shape, const Source& source,
                         const MlirModule& module);

/// Reads `0x7F800000`: the bits of a floating-point number. Null, or what was expected.
const char* read_float_bits(std::string_view token, float& out);
const char* read_float_bits(std::string_view token, double& out);

/// `dense<...>` without a type: short lists as numbers, longer ones as bytes. Reading it gives the same bits.
std::string dense_text(const Literal& value);

}  // namespace lowtide::engine
