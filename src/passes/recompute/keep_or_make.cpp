#include "passes/recompute/keep_or_make.h"

#include <algorithm>
#include <cmath>

#include "base/minimum_cut.h"

namespace lowtide::engine {
namespace {

/// Prices are converted to integers, whose sum is at most about this.
constexpr double kUnits = 0x1p50;

}  // namespace

std::vector<KeepOrMake::Choice> KeepOrMake::choose() const {
  double all = 0;
  for (const Prices& p : prices_) all += std::max(0.0, p.keep) + std::max(0.0, p.make);
  const double unit = kUnits / std::max(all, 1e-9);
  const auto units = [&](double price) {
    return price == kNever ? VertexCut::kNever : static_cast<int64_t>(std::llround(price * unit));
  };

  // Cutting a vertex keeps its value; the arc to the sink has the price of recomputing it, which needs its operands.
  std::vector<int64_t> keep;
  keep.reserve(prices_.size());
  for (const Prices& p : prices_) keep.push_back(units(p.keep));
  VertexCut cut(keep);
  for (size_t v = 0; v < prices_.size(); ++v) {
    if (needed_[v]) cut.from_source(v);
    cut.to_sink(v, units(prices_[v].make));
  }
  for (const Read& read : reads_) cut.edge(read.value, read.operand);
  cut.cut();

  std::vector<Choice> choices;
  choices.reserve(prices_.size());
  for (size_t v = 0; v < prices_.size(); ++v) {
    choices.push_back(cut.is_behind(v) ? Choice::kMake : cut.is_reached(v) ? Choice::kKeep : Choice::kNotNeeded);
  }
  return choices;
}

}  // namespace lowtide::engine
