#pragma once
/// Converts several MLIR attributes to one of HLO text: slices, paddings, windows; and the labels of a convolution.

#include <string>
#include <vector>

#include "base/status.h"
#include "text/stablehlo/mlir_values.h"

namespace lowtide::engine {

Result<std::string> slice_text(const MlirOperation& operation, const MlirValues& values);    ///< {[0:4:2],[1:3]}
Result<std::string> padding_text(const MlirOperation& operation, const MlirValues& values);  ///< 0_0x1_2_1
/// {size=3x3 stride=2x2 pad=1_1x1_1 ...}; a convolution's size is its kernel's.
Result<std::string> window_text(const MlirOperation& operation, const std::vector<Shape>& operands,
                                const MlirValues& values);
/// b01f_01io->b01f of `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`
Result<std::string> dim_labels_text(const MlirAttribute& attribute, const MlirValues& values);

}  // namespace lowtide::engine
