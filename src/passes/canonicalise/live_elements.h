#pragma once
/// Which elements of which values are needed, through loops, branches and calls.
///
/// Terms: an instruction of tuple shape has one element per entry of its shape, any other has one. An instruction is
/// *needed* if it must stay; an element is *live* if a needed instruction reads it. The elements of a loop's operand,
/// its body's parameter and root, its condition's parameter and its result are the same: live together or not at all.

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/module.h"
#include "passes/rewrite.h"

namespace lowtide::engine {

class LiveElements {
 public:
  explicit LiveElements(const Module& module);

  bool is_needed(const Instruction& i) const { return state(i).needed; }
  bool is_reached(const Computation& c) const { return reached_.contains(&c); }
  /// The parameters of a computation by number, as they were.
  const std::vector<const Instruction*>& parameters(const Computation& c) const { return parameters_.at(&c); }
  /// The live elements, ascending.
  std::vector<int64_t> live(const Instruction& i) const;
  /// The elements that `i` will have when the dead ones are dropped: all of them for an operation that produces its
  /// tuple as a whole (custom-call, fusion, sort).
  std::vector<int64_t> kept(const Instruction& i) const;

 private:
  struct State {
    bool needed = false;
    size_t first = 0, count = 0;  ///< elements, in live_
  };
  struct Mark {
    const Instruction* instruction;
    int64_t element;  ///< kItself: needed
  };
  static constexpr int64_t kItself = -1;

  const State& state(const Instruction& i) const { return states_[i.id]; }
  void mark(const Instruction& i, int64_t element) { open_.push_back({&i, element}); }
  void mark_all(const Instruction& i);
  void reach(const Computation& computation);
  void on_needed(const Instruction& i);
  void on_live(const Instruction& i, int64_t element);
  void share_parameter(const Instruction& caller, const Instruction& parameter, int64_t element);

  std::vector<State> states_;  ///< by id
  std::vector<bool> live_;     ///< of all instructions' elements
  std::vector<bool> ordered_;
  SideEffects side_effects_;
  std::unordered_map<const Computation*, std::vector<const Instruction*>> callers_;
  std::unordered_map<const Computation*, std::vector<const Instruction*>> parameters_;
  std::unordered_set<const Computation*> reached_;
  std::vector<Mark> open_;
};

}  // namespace lowtide::engine
