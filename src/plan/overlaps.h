#pragma once
/// Finds the placed buffers whose lifetimes overlap a given one: a balanced tree over all lifetimes, by birth, in which
/// each node has the latest death of the placed ones in its subtree.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/problem.h"

namespace lowtide::engine {

class Overlaps {
 public:
  explicit Overlaps(const Problem& problem);
  void add(int32_t buffer);

  /// Calls f(other) for each added buffer whose lifetime overlaps that of `buffer`; one with several lifetimes may be
  /// reported twice.
  template <class F>
  void visit(int32_t buffer, F&& f) const {
    for (int32_t l = first_[buffer]; l < first_[static_cast<size_t>(buffer) + 1]; ++l) {
      walk(0, static_cast<int32_t>(rows_.size()), lives_[l], f);
    }
  }

 private:
  struct Row {
    Lifetime life;
    int32_t buffer = 0;
    bool placed = false;
    Step latest = INT32_MIN;  ///< death of the placed rows in the subtree that this row is the middle of
  };

  template <class F>
  void walk(int32_t from, int32_t to, const Lifetime& life, F&& f) const {
    while (from < to) {
      const int32_t middle = from + (to - from) / 2;
      const Row& row = rows_[middle];
      if (row.latest <= life.born) return;
      walk(from, middle, life, f);
      if (row.life.born >= life.dies) return;  // everything further right is born later still
      if (row.placed && row.life.overlaps(life)) f(row.buffer);
      from = middle + 1;
    }
  }

  std::vector<Row> rows_;       ///< by birth; the tree is implicit: the middle of a range is its root
  std::vector<int32_t> first_;  ///< buffer -> its first entry in lives_ and row_of_
  std::vector<Lifetime> lives_;
  std::vector<int32_t> row_of_;
};

}  // namespace lowtide::engine
