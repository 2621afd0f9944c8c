#pragma once
/// Recomputes more of the values that are kept at the fullest moment, from copies that later moments need anyway.
///
///     b = f(a)  c = g(b)  ...  c' uses c   b' = f(a) uses b'        a, c kept; b recomputed for its late reader
///     b = f(a)  c = g(b)  ...  b' = f(a)  c' = g(b')  c' uses c'  uses b'        only a kept
///
/// The input of each layer of a network is computed from values that the layer before it recomputes for its own
/// gradient, a little later. If those are recomputed earlier and kept until then, the input costs no more than its last
/// operation. A minimum cut at one moment (moment.h) doesn't see this: at its prices either all inputs are kept, or all
/// layers are recomputed from the first, one after another. So here values are tried one by one, those first that take
/// least time for their bytes; one is recomputed if the bytes live at the fullest moment become fewer and no other
/// moment becomes fuller than that. Layers thus form groups whose size is what the later moments have room for.

#include <string>
#include <vector>

#include "ir/module.h"
#include "target/target.h"

namespace lowtide::engine {

/// A value that is recomputed for its readers after the instruction `last`, by name.
struct MadeInRoom {
  std::string last, value;
};

/// After a step: the lowest price that includes it, most bytes live, and the time of all steps so far.
struct RoomPoint {
  double ns_per_byte = 0;
  int64_t most = 0;
  double ns = 0;
};

/// The steps, and the state after each of them.
struct InRoom {
  std::vector<MadeInRoom> steps;
  std::vector<RoomPoint> points;
};

/// Recomputes values that cost at most `ns_per_byte`, and leaves the computation in the resulting order.
InRoom recompute_in_room(Computation& computation, const Target& target, double ns_per_byte);

/// The same in a computation with the same names. False: it isn't possible there.
bool recompute_in_room_alike(Computation& computation, const Target& target, const std::vector<MadeInRoom>& steps);

}  // namespace lowtide::engine
