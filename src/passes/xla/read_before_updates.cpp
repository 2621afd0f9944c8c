#include "passes/xla/read_before_updates.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "analysis/late_readers.h"
#include "analysis/leaf_bytes.h"
#include "passes/rewrite.h"
#include "passes/xla/barrier.h"
#include "passes/xla/updated_slices.h"

namespace lowtide::engine {
namespace {

using Instructions = std::unordered_set<const Instruction*>;

class Reader {
 public:
  explicit Reader(Computation& computation) : computation_(computation) {}

  /// Returns the number of barriers.
  int64_t order_reads() {
    std::vector<Instruction*> all;
    for (const auto& i : computation_.instructions()) all.push_back(i.get());
    for (Instruction* i : all) {
      InPlaceUpdate update = update_at(*i);
      const std::vector<Instruction*> slices = late_slices(update);
      if (!slices.empty()) tie(update.loop ? *i->operands[0] : *i, update.operands, slices);
    }
    if (barriers_ > 0) put_operands_first(computation_);
    return barriers_;
  }

 private:
  /// Keeps those of the updated operands whose late readers are slices. Returns these, and the slices at other places
  /// that the update itself reads: a kernel that computes them as it writes can't write in place.
  std::vector<Instruction*> late_slices(InPlaceUpdate& update) {
    std::vector<Instruction*> all;
    const auto is_small = [&](size_t k) {
      const Instruction& array = update.by->operand(k);
      return !array.shape.is_array() || safe_logical_bytes(array.shape) < kSmallestUpdated ||
             !array.control_predecessors.empty() || std::ranges::count(update.by->operands, &array) != 1;
    };
    std::erase_if(update.operands, is_small);
    if (update.operands.empty()) return all;
    if (!uses_) uses_.emplace(computation_);
    const Uses& uses = *uses_;
    std::erase_if(update.operands, [&](size_t k) { return uses.of(update.by->operand(k)).size() < 2; });
    if (update.operands.empty()) return all;
    const OrderedBefore before(update);
    const Instructions after = ordered_after(*update.by, uses);
    std::erase_if(update.operands, [&](size_t k) {
      const Instruction& array = update.by->operand(k);
      std::vector<Instruction*> slices;
      int64_t bytes = 0;
      const std::vector<const Instruction*> late = before.late_readers(array, uses);
      for (const Instruction* user : uses.of(array)) {
        const bool is_late = std::ranges::find(late, user) != late.end();
        const bool ties_it = is_slice(*user, array) && user->control_predecessors.empty();
        if (is_late && (!ties_it || after.contains(user))) return true;
        if (!is_late && (!ties_it || update.loop != nullptr || begins_with(*update.by, *user))) continue;
        slices.push_back(const_cast<Instruction*>(user));
        bytes = add_bytes(bytes, safe_logical_bytes(user->shape));
      }
      if (bytes > safe_logical_bytes(array.shape) / kSmallPartOfSlices) return true;
      all.insert(all.end(), slices.begin(), slices.end());
      return slices.empty();
    });
    return all;
  }

  static Instructions ordered_after(const Instruction& update, const Uses& uses) {
    Instructions found;
    std::vector<const Instruction*> open{&update};
    while (!open.empty()) {
      const Instruction* i = open.back();
      open.pop_back();
      if (!found.insert(i).second) continue;
      const auto users = uses.of(*i);
      open.insert(open.end(), users.begin(), users.end());
    }
    return found;
  }

  void tie(Instruction& update, const std::vector<size_t>& operands, const std::vector<Instruction*>& slices) {
    std::vector<Instruction*> values = slices, made;
    for (const size_t k : operands) values.push_back(update.operands[k]);
    const std::vector<Instruction*> tied = put_behind_barrier(computation_, names_, "read", values, 0, made);
    for (const auto& i : computation_.instructions()) {
      if (std::ranges::find(made, i.get()) != made.end()) continue;
      for (size_t k = 0; k < slices.size(); ++k) std::ranges::replace(i->operands, slices[k], tied[k]);
    }
    for (size_t k = 0; k < operands.size(); ++k) update.operands[operands[k]] = tied[slices.size() + k];
    uses_.reset();
    ++barriers_;
  }

  Computation& computation_;
  Names names_{computation_};
  std::optional<Uses> uses_;  ///< nothing after a barrier was added
  int64_t barriers_ = 0;
};

}  // namespace

Result<PassResult> read_before_updates(Module& module) {
  int64_t count = 0;
  for (const auto& computation : module.computations()) count += Reader(*computation).order_reads();
  return rewritten(count, "barriers between slices and the updates of what they read");
}

}  // namespace lowtide::engine
