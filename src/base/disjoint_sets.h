#pragma once
/// Disjoint sets of numbers 0, 1, ... that are joined step by step (union-find with path halving).

#include <cstddef>
#include <numeric>
#include <vector>

namespace lowtide::engine {

class DisjointSets {
 public:
  explicit DisjointSets(size_t count = 0) : parents_(count) { std::iota(parents_.begin(), parents_.end(), size_t{0}); }

  /// The next number, in a set of its own.
  size_t add() {
    parents_.push_back(parents_.size());
    return parents_.back();
  }
  /// The number that stands for the set of `member`, until that set is joined to another.
  size_t find(size_t member) {
    while (parents_[member] != member) member = parents_[member] = parents_[parents_[member]];
    return member;
  }
  /// Joins b's set to a's, whose number stands for both.
  void join(size_t a, size_t b) { parents_[find(b)] = find(a); }

 private:
  std::vector<size_t> parents_;
};

}  // namespace lowtide::engine
