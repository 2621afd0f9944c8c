#pragma once
/// Loops and branches inside programs. Functions are traced once, over arrays that stand for what they will be given,
/// so that they can't look at elements (item()); what they use beside that they may hold. std::invalid_argument where
/// shapes or types change from trip to trip, or differ between branches.

#include <functional>
#include <utility>
#include <vector>

#include "lowtide/array.h"
#include "lowtide/transforms.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// init, then body(...) as long as cond(...), a boolean scalar. It has batches, and no derivative: how often it runs
/// isn't known before (std::runtime_error). Under vmap it runs until all are done; those that are done stay as they
/// are.
LOWTIDE_PUBLIC std::vector<array> while_loop(const ManyToOne& cond, const ManyToMany& body,
                                             const std::vector<array>& init);

/// f(carry, x) = (carry, y), for each x along the first dimension of xs (backwards with reverse): the last carry, and
/// the ys beside each other. length: trips, where there are no xs. Its derivative keeps the carries of all trips, and
/// computes the rest of each trip again.
using ScanBody = std::function<std::pair<std::vector<array>, std::vector<array>>(const std::vector<array>& carry,
                                                                                 const std::vector<array>& x)>;
LOWTIDE_PUBLIC std::pair<std::vector<array>, std::vector<array>> scan(const ScanBody& f, const std::vector<array>& init,
                                                                      const std::vector<array>& xs, int64_t length = -1,
                                                                      bool reverse = false);

/// on_true(operands) or on_false(operands), whichever the boolean scalar says; only that is computed.
LOWTIDE_PUBLIC std::vector<array> cond(const array& pred, const ManyToMany& on_true, const ManyToMany& on_false,
                                       const std::vector<array>& operands);

}  // namespace lowtide
