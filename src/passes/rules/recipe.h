#pragma once
/// How values are computed, and whether they may be recomputed elsewhere.

#include <unordered_set>
#include <vector>

#include "ir/module.h"
#include "target/cost.h"

namespace lowtide::engine {

/// Can it be recomputed, element by element, for no more than its arithmetic?
bool is_light(const Instruction& i);
/// A scalar constant or an iota: it has no operands.
bool is_source(const Instruction& i);
/// Is it available without computation: an argument, or a value that an outer loop carries unchanged?
bool is_given(const Instruction& i);
/// Is it available, and in memory anyway until `reader` has run? True for an argument that the caller keeps and for a
/// value that an outer loop carries; for a donated argument, if something after the reader reads it as well.
bool is_kept(const Instruction& i, const Instruction& reader);
/// Is it an argument whose memory results may take?
bool is_donated(const Instruction& i);
/// Bytes that live longer if the body of a later loop reads this: none if that loop, or something after it, reads it
/// already.
double kept_longer(const Instruction& initial, const Instruction& loop);
/// Does something after `reader`, in the same computation, read i?
bool is_read_behind(const Instruction& reader, const Instruction& i);

/// Modelled time of one run of an operation or of a computation, by one core, a loop's iterations included.
double time_of(const Instruction& i, const Cost& cost);
double time_of(const Computation& computation, const Cost& cost);

struct Recipe {
  std::vector<Instruction*> ops;     ///< operations that are repeated, operands before users
  std::vector<Instruction*> inputs;  ///< values from which they are computed
  double ns = 0;                     ///< of all elements
  double bytes = 0;                  ///< of inputs that live longer because of it
};

inline constexpr size_t kMostRecipeOps = 512;

/// A recipe during the search for it, and the values visited. It can return to an earlier state, so that a failed
/// attempt leaves nothing, at the cost of only that attempt.
class RecipeTrail {
 public:
  Recipe recipe;

  /// False: it was visited before.
  bool look_at(const Instruction& i);
  struct Place {
    size_t ops = 0, inputs = 0, seen = 0;
    double ns = 0, bytes = 0;
  };
  Place place() const { return {recipe.ops.size(), recipe.inputs.size(), order_.size(), recipe.ns, recipe.bytes}; }
  void return_to(const Place& place);

 private:
  std::unordered_set<const Instruction*> seen_;
  std::vector<const Instruction*> order_;  ///< in the order of visits
};

}  // namespace lowtide::engine
