#pragma once
/// Converts an operation's MLIR attributes to the `key=text` of HLO text, which the operation's rule reads.

#include <string>
#include <vector>

#include "base/status.h"
#include "text/stablehlo/mlir_values.h"
#include "text/stablehlo/spellings.h"

namespace lowtide::engine {

struct HloAttribute {
  std::string key, text;
  Offset place = kNowhere;
};

/// `operands` are the shapes of the operands. Errors have the attribute's place.
Result<std::vector<HloAttribute>> hlo_attributes(const OperationSpelling& spelling, const MlirOperation& operation,
                                                 const std::vector<Shape>& operands, const MlirValues& values);

std::string braced_dims(const Dims& dims);  ///< {1,2}

}  // namespace lowtide::engine
