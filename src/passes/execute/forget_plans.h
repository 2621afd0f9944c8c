#pragma once
/// Drops another compiler's plans: copies, and annotations that refer to loop-carried elements by number.
///
///     c = f32[8]{0} copy(x)
///     y = f32[8]{0} negate(c)                          ==>     y = f32[8]{0} negate(x)
///     w = while(s), backend_config={"known_trip_count":       w = while(s), backend_config={"known_trip_count":
///         {"n":"4"},"known_induction_variable":..}                {"n":"4"}}
///
/// Saves bytes(x) where the copy would have been stored, and unread elements, which can't be removed while an
/// annotation counts them. canonicalise/remove_noop_copies.h keeps copies in scheduled modules, whose aliases depend on
/// them; here storage is shared by proof, and necessary copies are inserted again.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact.
/// Not dropped: copies to another layout or memory space; copies that control edges hold.
/// Tests: tests/text/passes/forget-plans/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> forget_plans(Module& module);

}  // namespace lowtide::engine
