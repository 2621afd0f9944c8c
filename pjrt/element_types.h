#pragma once
/// Element types by PJRT's numbers and by HLO's names, which the rest of Lowtide uses.

#include <cstddef>
#include <string_view>

#include "abi.h"

namespace lowtide::pjrt {

/// 0 for a name without a PJRT number.
PJRT_Buffer_Type type_of_name(std::string_view name);
/// Bytes of one element in memory (one byte for narrower types); 0 for an unknown number.
size_t bytes_of(PJRT_Buffer_Type type);
/// Is an element narrower than a byte?
bool is_below_a_byte(PJRT_Buffer_Type type);
/// Sets the unused bits of such elements to what Lowtide expects: the sign, or zeros. Hosts leave them undefined
/// (ml_dtypes gives -3 as 13, 253 or others).
void set_upper_bits(PJRT_Buffer_Type type, std::byte* data, size_t count);

}  // namespace lowtide::pjrt
