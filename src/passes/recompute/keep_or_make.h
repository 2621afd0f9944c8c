#pragma once
/// Which of the values that are needed later are kept until then, and which are recomputed from others: the cheapest
/// choice for all of them together, which is a minimum cut.
///
/// A needed value is either kept, at the price of its bytes, or recomputed, at the price of its time, which in turn
/// needs its operands.

#include <cstddef>
#include <vector>

namespace lowtide::engine {

class KeepOrMake {
 public:
  struct Prices {
    double keep = 0, make = 0;  ///< in the same unit, each at least 0; kNever: impossible
  };
  static constexpr double kNever = -1;

  explicit KeepOrMake(std::vector<Prices> prices) : prices_(std::move(prices)), needed_(prices_.size(), false) {}
  /// Computing `value` requires `operand`.
  void reads(size_t value, size_t operand) { reads_.push_back({value, operand}); }
  void need(size_t value) { needed_[value] = true; }

  enum class Choice : unsigned char { kNotNeeded, kKeep, kMake };
  /// The choice for each value. Among equally cheap ones, the one that keeps values nearest to their readers. Every
  /// needed value must be possible.
  std::vector<Choice> choose() const;

 private:
  struct Read {
    size_t value = 0, operand = 0;
  };
  std::vector<Prices> prices_;
  std::vector<bool> needed_;
  std::vector<Read> reads_;
};

}  // namespace lowtide::engine
