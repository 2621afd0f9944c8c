#pragma once
/// Loops and branches inside programs. Functions are traced once, with placeholder arrays as arguments, so they can't
/// read elements (item()); they may capture other arrays. std::invalid_argument if shapes or types change from one
/// iteration to the next, or differ between branches.

#include <functional>
#include <utility>
#include <vector>

#include "lowtide/array.h"
#include "lowtide/transforms.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// Starts with init and applies body(...) while cond(...), a boolean scalar, is true. It can be batched (vmap) and
/// differentiated forwards (jvp), but not backwards (std::runtime_error), because its trip count isn't known
/// beforehand. Under vmap it runs until all elements of the batch are done; those that are done keep their values.
LOWTIDE_PUBLIC std::vector<array> while_loop(const ManyToOne& cond, const ManyToMany& body,
                                             const std::vector<array>& init);

/// Applies f(carry, x) = (carry, y) to each x along the first dimension of xs (backwards with reverse), and returns the
/// last carry and the stacked ys. length: the trip count if there are no xs. Its derivative stores the carries of all
/// iterations and recomputes everything else.
using ScanBody = std::function<std::pair<std::vector<array>, std::vector<array>>(const std::vector<array>& carry,
                                                                                 const std::vector<array>& x)>;
LOWTIDE_PUBLIC std::pair<std::vector<array>, std::vector<array>> scan(const ScanBody& f, const std::vector<array>& init,
                                                                      const std::vector<array>& xs, int64_t length = -1,
                                                                      bool reverse = false);

/// on_true(operands) or on_false(operands), selected by the boolean scalar; only that one is computed.
LOWTIDE_PUBLIC std::vector<array> cond(const array& pred, const ManyToMany& on_true, const ManyToMany& on_false,
                                       const std::vector<array>& operands);

}  // namespace lowtide
