#pragma once
/// Drops what another compiler planned: copies, and notes that number the elements of carries.
///
///     c = f32[8]{0} copy(x)
///     y = f32[8]{0} negate(c)                          ==>     y = f32[8]{0} negate(x)
///     w = while(s), backend_config={"known_trip_count":       w = while(s), backend_config={"known_trip_count":
///         {"n":"4"},"known_induction_variable":..}                {"n":"4"}}
///
/// Saves bytes(x) where the copy would have been stored, and elements that nothing reads, which can't go while a note
/// counts them. canonicalise/remove_noop_copies.h keeps copies of scheduled modules, whose aliases count on them; here
/// storages are shared by proof, and what must be copied is copied again.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not dropped: copies to another layout or memory space; those that control edges hold.
/// Tests: tests/text/passes/forget-plans/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> forget_plans(Module& module);

}  // namespace lowtide::engine
