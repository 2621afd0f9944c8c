#pragma once
/// The carry of one loop: its elements, which of them are loop-invariant, and adding more of these.

#include <unordered_map>
#include <vector>

#include "analysis/uses.h"
#include "passes/rewrite.h"

namespace lowtide::engine {

class LoopCarry {
 public:
  /// `callers`: how many instructions call a computation. `uses`: of the module, if the caller has them; otherwise the
  /// loop's and its body's computations are searched.
  LoopCarry(Instruction& loop, const std::unordered_map<const Computation*, int>& callers, const Uses* uses = nullptr);

  /// Does the loop have the plain form: a tuple created for it, of which only elements are read inside and after it,
  /// and a body and condition of its own?
  bool ok() const { return ok_; }
  const Instruction& loop() const { return loop_; }
  size_t size() const { return reads_.size(); }
  Instruction& initial(size_t k) const { return *loop_.operand(0).operands[k]; }
  /// Does every iteration pass element k on unchanged, and does the condition not read it?
  bool is_invariant(size_t k) const;
  /// The loop-invariant element that `i` reads; -1: none.
  int64_t invariant_of(const Instruction& i) const;
  /// Does the condition read element k?
  bool is_tested(size_t k) const { return !tested_[k].empty(); }
  /// The body's reads of element k.
  const std::vector<Instruction*>& reads(size_t k) const { return reads_[k]; }

  Computation& body() const { return *loop_.called[1]; }
  /// The body's read of a loop-invariant value: of an element that starts with it, or of a new one. `names`: those of
  /// the body, if the caller has them.
  Instruction* invariant(Instruction& value, Names* names = nullptr);
  /// The body's read of a new last element, which starts with `value` and is passed on unchanged, until set_next().
  /// If `value` is an element that is read from its tuple only after the loop, that read moves before the loop.
  Instruction* add(Instruction& value, Names* names = nullptr);
  void set_next(size_t k, Instruction& next) { body().root->operands[k] = &next; }
  /// Puts the body's reads of the carry before everything else.
  void put_reads_first();

 private:
  bool gather(Instruction& parameter, const Uses* uses, std::vector<std::vector<Instruction*>>& reads);

  Instruction& loop_;
  bool ok_ = false;
  std::vector<std::vector<Instruction*>> reads_, tested_;  ///< by element
};

/// How often each computation is called.
std::unordered_map<const Computation*, int> count_callers(const Module& module);

}  // namespace lowtide::engine
