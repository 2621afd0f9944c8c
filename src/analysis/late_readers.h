#pragma once
/// Readers of an array that no dependency orders before its update in place. XLA decides what to copy before it
/// schedules, and copies such an array.

#include <unordered_set>
#include <vector>

#include "analysis/uses.h"

namespace lowtide::engine {

/// Is this element of a loop's state, a tuple, the same in every iteration?
bool carries_unchanged(const Instruction& loop, size_t element);

/// What updates arrays in place: a dynamic-update-slice, a scatter to one array, or a loop.
struct InPlaceUpdate {
  const Instruction* by = nullptr;    ///< the update, or the tuple of the loop's initial state
  const Instruction* loop = nullptr;  ///< null: none
  std::vector<size_t> operands{};     ///< of `by`: what is updated; for a loop what it doesn't carry unchanged
};

/// The update that an instruction of a computation makes; without operands: none.
InPlaceUpdate update_at(const Instruction& instruction);

/// What the update's result depends on. What a loop only carries doesn't count: XLA may compute it after the loop.
class OrderedBefore {
 public:
  explicit OrderedBefore(const InPlaceUpdate& update);
  /// The users of the array, `update.by` excepted, that the update doesn't depend on.
  std::vector<const Instruction*> late_readers(const Instruction& array, const Uses& uses) const;

 private:
  const Instruction* by_;
  std::unordered_set<const Instruction*> before_;
};

}  // namespace lowtide::engine
