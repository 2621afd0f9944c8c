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
/// Is an element less than its byte?
bool is_below_a_byte(PJRT_Buffer_Type type);
/// Of such elements the bits beyond theirs become what Lowtide reads there: the sign, or zeros. Hosts leave anything in
/// them (ml_dtypes gives -3 as 13, 253 or whatever arithmetic left).
void set_upper_bits(PJRT_Buffer_Type type, std::byte* data, size_t count);

}  // namespace lowtide::pjrt
