#pragma once
/// Where along an array the iterations of a loop read and write it, one slice each.

#include <optional>

#include "analysis/trip_count.h"

namespace lowtide::engine {

/// A scalar integer of the loop's body as a function of the iteration: start + step * iteration; none if it is unknown,
/// or overflows.
std::optional<Progression> in_each_trip(const Instruction& value, const Instruction& loop, int64_t trips);

/// Places of slices that are one element thick.
struct TripPlaces {
  size_t dimension = 0;
  Progression places;
  int64_t last(int64_t trips) const { return places.start + places.step * (trips - 1); }
};

/// For a dynamic-slice or dynamic-update-slice in the body, whose starts are its operands from `first_start` on: slices
/// `part` of an array `all`, along one dimension one element thick, within the array in every iteration, and whole
/// along the others.
std::optional<TripPlaces> trip_places(const Instruction& i, size_t first_start, const Shape& part, const Shape& all,
                                      const Instruction& loop, int64_t trips);

}  // namespace lowtide::engine
