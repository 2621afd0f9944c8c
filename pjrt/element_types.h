#pragma once
/// Element types by PJRT's numbers and by HLO's names, which the rest of Lowtide has.

#include <cstddef>
#include <string_view>

#include "abi.h"

namespace lowtide::pjrt {

/// 0 for a name without a PJRT number.
PJRT_Buffer_Type type_of_name(std::string_view name);
/// Bytes of one element in memory (one byte for narrower types); 0 for an unknown number.
size_t bytes_of(PJRT_Buffer_Type type);

}  // namespace lowtide::pjrt
