#pragma once
/// Computations on scalars, prepared for millions of runs: comparators of sorts, reducers of several arrays. Uses the
/// same arithmetic as the operations' definitions, without values on the heap.

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "ir/module.h"
#include "ops/combiner.h"

namespace lowtide::engine {

class ScalarProgram {
 public:
  /// nullopt unless all operations are among: arithmetic and logic on two scalars, compare, select, not, constants, and
  /// a tuple at the root.
  static std::optional<ScalarProgram> compile(const Computation& computation);

  /// Where to put parameter k, as a stored element (ir/types.def).
  std::byte* parameter(size_t k) { return cells_[parameters_[k]].bytes.data(); }
  /// Where result k is found after run().
  const std::byte* result(size_t k) const { return cells_[results_[k]].bytes.data(); }
  size_t results() const { return results_.size(); }
  void run();

 private:
  struct Cell {
    alignas(16) std::array<std::byte, 16> bytes{};
  };
  using Compare = bool (*)(const CompareAttributes&, const std::byte*, const std::byte*);
  struct Step {
    enum class Kind { kCombine, kCompare, kSelect, kNot } kind = Kind::kCombine;
    size_t to = 0;
    std::array<size_t, 3> from{};
    CombineElements combine = nullptr;
    Compare compare = nullptr;
    CompareAttributes comparison;
  };
  bool add(const Instruction& instruction, size_t to, const std::array<size_t, 3>& from);

  std::vector<Cell> cells_;
  std::vector<size_t> parameters_, results_;
  std::vector<Step> steps_;
};

}  // namespace lowtide::engine
