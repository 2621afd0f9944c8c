#pragma once
/// How a rewrite may change results.

#include <cstdint>

#include "lowtide/visibility.h"

namespace lowtide {

enum class Numerics : uint8_t {
  kExact,         ///< the same bits
  kValueExact,    ///< the same values for finite inputs: a zero may change its sign
  kReassociated,  ///< sums are computed in another order
  kOptIn,         ///< results change; only on request
};
LOWTIDE_PUBLIC const char* name_of(Numerics numerics);  ///< "value-exact"

}  // namespace lowtide
