#pragma once
/// The custom calls check.expect_eq, check.expect_close and check.expect_almost_eq: programs that test themselves.
///   expect_eq         equal by IEEE 754: NaN differs from everything, -0 equals +0
///   expect_close      at most 3 units in the last place apart; NaN agrees with NaN, finite never with infinite
///   expect_almost_eq  at most 1e-4 apart; NaN agrees with NaN
/// Integers and predicates must be equal. A call's backend_config may set other limits: "tolerance=0.1",
/// "min_ulp_difference=1 max_ulp_difference=4".

#include <string_view>

#include "base/status.h"
#include "ir/literal.h"

namespace lowtide::engine {

bool is_check_call(std::string_view target);

/// Fault::kWrongValues if the values differ, with the first such element and both its values.
Status check_values(std::string_view target, std::string_view config, const Literal& got, const Literal& want);

}  // namespace lowtide::engine
