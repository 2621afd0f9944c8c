#pragma once
/// Annotates loops with their trip counts, and drops attributes that only Lowtide reads, of loops and of scatters.
///
///     w = while(s), frontend_attributes={lowtide_tiles="true"}  ==>  w = while(s),
///         backend_config={"known_trip_count":{"n":"64"}}
///
/// Saves nothing by itself. Compilers and their cost models read the number if they can't derive it from the condition.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Tests: tests/text/passes/state-trip-counts/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> state_trip_counts(Module& module);

}  // namespace lowtide::engine
