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
/// Is an element less than its byte?
bool is_below_a_byte(PJRT_Buffer_Type type);
/// Of such elements the bits beyond theirs become what Lowtide reads there: the sign, or zeros. Hosts leave anything in
/// them (ml_dtypes gives -3 as 13, 253 or whatever arithmetic left).
void set_upper_bits(PJRT_Buffer_Type type, std::byte* data, size_t count);

}  // namespace lowtide::pjrt
