#pragma once
/// Converts the times of a program's steps to the public profile.

#include "backend/step_times.h"
#include "lowtide/profile.h"
#include "target/cost.h"

namespace lowtide::engine {

/// runs: of the program, which took `seconds` in total.
Profile profile_of(const Program& program, const StepTimes& times, const Cost& cost, int64_t runs, double seconds,
                   int64_t threads);

}  // namespace lowtide::engine
