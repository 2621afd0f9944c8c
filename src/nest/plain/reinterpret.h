#pragma once
/// Operations on the bits of floats.

#include "nest/plain/expand.h"

namespace lowtide::engine {

/// bitcast-convert between types of equally many bits.
PlainValue reinterpreted(const PlainValue& value, ElementType type);
Plain with_fewer_bits(const PlainValue& value, ReducePrecisionAttributes how);
/// stochastic-convert.
Plain rounded_by_chance(const PlainValue& value, const PlainValue& random, ElementType type);

}  // namespace lowtide::engine
