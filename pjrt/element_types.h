#pragma once
/// Element types by PJRT's numbers and by HLO's names, which the rest of Lowtide has.

#include <cstddef>
#include <string_view>

#include "abi.h"

namespace lowtide::pjrt {

/// 0 for a name that PJRT has no number for.
PJRT_Buffer_Type type_of_name(std::string_view name);
/// Of one element in memory, where those below a byte take one; 0 for a number that isn't known.
size_t bytes_of(PJRT_Buffer_Type type);

}  // namespace lowtide::pjrt
