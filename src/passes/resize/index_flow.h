#pragma once
/// An index as a function of its loop's iteration, and the constants in its computation.

#include <unordered_map>
#include <vector>

#include "analysis/trip_count.h"
#include "passes/resize/atoms.h"

namespace lowtide::engine {

/// The constant that `user` reads as operand number `operand`.
struct ConstantUse {
  const Instruction* user = nullptr;
  size_t operand = 0;
  int64_t value = 0;
};

/// A loop that is counted from one constant to another.
struct CountedLoop {
  const Instruction* loop = nullptr;
  TripCount count;
  Product trips;
};

/// slope * iterations before this one + start.
struct IndexFlow {
  enum class Kind : uint8_t {
    kConstant,  ///< start
    kCounts,    ///< with `loop`
    kData,      ///< comes from an array, by any arithmetic
    kTangled,   ///< counts, but not in this form
  };
  Kind kind = Kind::kData;
  int64_t slope = 0, start = 0;
  const CountedLoop* loop = nullptr;

  bool counts() const { return kind == Kind::kCounts || kind == Kind::kTangled; }
};

class IndexFlows {
 public:
  explicit IndexFlows(const Module& module);

  /// Every body's loop; loops that share a body must count alike, or are left out.
  std::vector<CountedLoop>& loops() { return loops_; }
  /// Null: its loops don't count alike.
  const CountedLoop* loop_of(const Computation& body) const;
  size_t callers(const Computation& computation) const { return callers_.at(&computation).size(); }
  /// The flow of operand `operand` of `user`. Lists the constants and loops met in uses() and met().
  IndexFlow follow(const Instruction& user, size_t operand);
  const std::vector<ConstantUse>& uses() const { return uses_; }
  const std::vector<const CountedLoop*>& met() const { return met_; }

 private:
  IndexFlow at(const Instruction& user, size_t operand);
  IndexFlow of_sum(const Instruction& i, int64_t sign);
  IndexFlow of_product(const Instruction& i);
  IndexFlow of_select(const Instruction& i);
  IndexFlow of_element(const Instruction& element);
  IndexFlow of_others(const Instruction& i);
  std::unordered_map<const Computation*, std::vector<const Instruction*>> callers_;
  std::vector<CountedLoop> loops_;
  std::unordered_map<const Computation*, size_t> loop_of_body_;
  std::vector<ConstantUse> uses_;
  std::vector<const CountedLoop*> met_;
  int steps_ = 0;
};

}  // namespace lowtide::engine
