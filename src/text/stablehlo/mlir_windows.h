#pragma once
/// Converts HLO's slices, paddings, windows and convolution labels to MLIR's attributes, often several for one.

#include <string>
#include <string_view>
#include <vector>

#include "text/stablehlo/mlir_attributes.h"

namespace lowtide::engine {

void add_geometry(const Instruction& instruction, std::vector<MlirText>& attributes);
/// #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]> for b01f_01io->b01f
std::string conv_labels(std::string_view labels);

}  // namespace lowtide::engine
