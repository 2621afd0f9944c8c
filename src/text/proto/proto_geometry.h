#pragma once
/// Windows, dimension labels, slices, paddings and aliases as HLO text.

#include <string>
#include <vector>

#include "text/proto/wire.h"

namespace lowtide::engine {

std::string window_text(const WireMessage& window);                  ///< `{size=3x3 pad=1_1x0_0}`
std::string dim_labels_text(const WireMessage& numbers);             ///< `b01f_01io->b01f`
std::string slice_text(const std::vector<WireMessage>& dims);        ///< `{[0:4:2], [1:3]}`
std::string padding_text(const std::vector<WireMessage>& dims);      ///< `0_0x1_2_1`
std::string aliasing_text(const std::vector<WireMessage>& entries);  ///< `{{0}: (1, {})}`

}  // namespace lowtide::engine
