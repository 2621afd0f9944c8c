#pragma once
/// What of the values that are needed later is kept until then, and what is recomputed of others that are: the cheapest
/// choice for all of them together, which is a minimum cut.
///
/// A value that is needed is there if it is kept, at the price of its bytes, or if it is recomputed, at the price of
/// its time, which in turn needs its operands.

#include <cstddef>
#include <vector>

namespace lowtide::engine {

class KeepOrMake {
 public:
  struct Prices {
    double keep = 0, make = 0;  ///< in one currency, each at least 0; kNever: it can't be
  };
  static constexpr double kNever = -1;

  explicit KeepOrMake(std::vector<Prices> prices) : prices_(std::move(prices)), needed_(prices_.size(), false) {}
  /// To make `value` takes `operand`.
  void reads(size_t value, size_t operand) { reads_.push_back({value, operand}); }
  void need(size_t value) { needed_[value] = true; }

  enum class Choice : unsigned char { kNotNeeded, kKeep, kMake };
  /// By value. Of choices that cost the same, the one that keeps what is nearest to its readers. Whatever is needed
  /// must be possible.
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
