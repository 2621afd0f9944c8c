#include "plan/pack.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "plan/components.h"
#include "plan/search.h"

namespace lowtide::engine {
namespace {

/// Larger components aren't searched, since a node of the search visits all of its buffers.
constexpr size_t kMostSearched = 2048;
/// A gap of at most this part (1/2000) of a height isn't searched.
constexpr Bytes kFineness = 2000;
/// Large programs try only the first one or few.
constexpr std::array kOrders = {PackOrder::kByEvents,   PackOrder::kBySize, PackOrder::kByArea,
                                PackOrder::kByDuration, PackOrder::kByLoad, PackOrder::kByBirth};

Bytes height_of(const Problem& problem, std::span<const int32_t> component, const Placement& placement) {
  Bytes height = 0;
  for (const int32_t b : component) {
    const auto i = static_cast<size_t>(b);
    height = std::max(height, placement.offsets[i] + problem.buffers[i].size);
  }
  return height;
}

class Packer {
 public:
  Packer(const Problem& problem, const PackOptions& options)
      : problem_(problem),
        target_(std::max(packing_bound(problem), options.capacity)),
        work_(options.work),
        work_per_byte_(options.work_per_byte),
        least_orders_(options.least_orders) {
    if (options.progress) stage_.emplace(*options.progress, "packing", static_cast<double>(options.work));
  }

  Placement run() {
    components_ = components_of(problem_);
    best_.offsets.assign(problem_.buffers.size(), 0);
    heights_.assign(components_.size(), std::numeric_limits<Bytes>::max());
    for (size_t k = 0; k < kOrders.size() && (k < least_orders_ || work_ > 0); ++k) {
      if (take_better(greedy(pack_sequence(problem_, kOrders[k]))) <= target_) break;
    }
    if (work_per_byte_ > 0 && !heights_.empty()) {
      const Bytes above = std::max<Bytes>(0, *std::max_element(heights_.begin(), heights_.end()) - target_);
      if (above < work_ / work_per_byte_) work_ = above * work_per_byte_;
    }
    // The highest component first: lowering one below another's height gains nothing.
    while (work_ > 0 && !components_.empty()) {
      const size_t worst = static_cast<size_t>(std::max_element(heights_.begin(), heights_.end()) - heights_.begin());
      if (heights_[worst] <= target_) break;
      const Bytes before = heights_[worst];
      best_.searched = true;
      if (components_[worst].size() <= kMostSearched) {
        search(worst);
      } else {
        improve(worst);
      }
      if (heights_[worst] == before) break;
    }
    best_.height = heights_.empty() ? 0 : *std::max_element(heights_.begin(), heights_.end());
    return std::move(best_);
  }

 private:
  Placement greedy(std::span<const int32_t> sequence) {
    int64_t work = 0;
    Placement placement = pack_in_sequence(problem_, sequence, &work);
    work_ -= work;
    if (stage_) stage_->add(static_cast<double>(work));
    return placement;
  }

  /// For each component, keeps the placement if it is lower than the best so far. Returns the height of `other`.
  Bytes take_better(const Placement& other) {
    Bytes highest = 0;
    for (size_t c = 0; c < components_.size(); ++c) {
      const Bytes height = height_of(problem_, components_[c], other);
      if (height < heights_[c]) {
        heights_[c] = height;
        for (const int32_t b : components_[c]) {
          best_.offsets[b] = other.offsets[b];
        }
      }
      highest = std::max(highest, heights_[c]);
    }
    return highest;
  }

  /// Exact search for the target height, then bisection between the highest failure and the lowest placement found.
  void search(size_t c) {
    const std::vector<int32_t>& component = components_[c];
    Bytes failed = target_ - 1, trial = target_;
    while (work_ > 0 && heights_[c] - failed > std::max<Bytes>(heights_[c] / kFineness, 1)) {
      const auto count = static_cast<int64_t>(component.size());
      const int64_t granted = std::max<int64_t>(work_ / (trial == target_ ? 2 : 6), 1);
      SearchLimits limits{trial, granted / count + 1};
      const int64_t nodes = limits.nodes;
      std::vector<ArenaOffset> offsets;
      const SearchOutcome outcome = search_placement(problem_, component, limits, offsets);
      work_ -= (nodes - limits.nodes + 1) * count;
      if (stage_) stage_->add(static_cast<double>((nodes - limits.nodes + 1) * count));
      if (outcome == SearchOutcome::kFound) {
        for (size_t i = 0; i < component.size(); ++i) best_.offsets[component[i]] = offsets[i];
        heights_[c] = height_of(problem_, component, best_);
      } else {
        failed = trial;
      }
      trial = failed + (heights_[c] - failed) / 2;
    }
  }

  /// Repeatedly moves buffers that ended above the target to the front of the sequence: the hard ones are placed first.
  void improve(size_t c) {
    std::vector<int32_t> sequence = components_[c];
    std::stable_sort(sequence.begin(), sequence.end(),
                     [&](int32_t a, int32_t b) { return best_.offsets[a] < best_.offsets[b]; });
    while (work_ > 0 && heights_[c] > target_) {
      const Placement placement = greedy(sequence);
      const Bytes height = height_of(problem_, components_[c], placement);
      if (height < heights_[c]) {
        heights_[c] = height;
        for (const int32_t b : components_[c]) {
          best_.offsets[b] = placement.offsets[b];
        }
      }
      const auto too_high = [&](int32_t b) {
        const auto i = static_cast<size_t>(b);
        return placement.offsets[i] + problem_.buffers[i].size > target_;
      };
      std::stable_partition(sequence.begin(), sequence.end(), too_high);
    }
  }

  const Problem& problem_;
  const Bytes target_;
  std::optional<Stage> stage_;
  int64_t work_;
  const int64_t work_per_byte_;
  const size_t least_orders_;
  std::vector<std::vector<int32_t>> components_;
  std::vector<Bytes> heights_;
  Placement best_;
};

}  // namespace

Bytes packing_bound(const Problem& problem) {
  Bytes shared = 0;
  for (const PackBuffer& buffer : problem.buffers) shared = std::gcd(shared, problem.alignment_of(buffer));
  const Bytes load = load_of(problem);
  if (shared <= 1) return load;
  Problem rounded = problem;
  for (PackBuffer& buffer : rounded.buffers) {
    const Bytes after = (shared - buffer.size % shared) % shared;
    if (buffer.size > 0 && buffer.size < std::numeric_limits<Bytes>::max() - after) buffer.size += after;
  }
  // The topmost buffer may end before the next multiple of the alignment.
  return std::max(load, load_of(rounded) - (shared - 1));
}

Placement pack(const Problem& problem, const PackOptions& options) { return Packer(problem, options).run(); }

}  // namespace lowtide::engine
