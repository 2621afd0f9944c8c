#pragma once
/// The text of a convolution's dim_labels.

#include <string>

#include "ir/attributes.h"

namespace lowtide::engine {

/// The positions of the attributes' dimensions, as written: "b01f_01io->b01f".
std::string dim_labels_of(const ConvolutionAttributes& a);

}  // namespace lowtide::engine
