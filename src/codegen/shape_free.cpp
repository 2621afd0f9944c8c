#include "codegen/shape_free.h"

#include <algorithm>
#include <cstdlib>

#include "codegen/short_steps.h"

namespace lowtide::engine {
namespace {

class Numbers {
 public:
  /// Makes the number an argument, except 0, 1 and -1, which decide the code and not only addresses.
  void give(int64_t& number) {
    if (number >= -1 && number <= 1) return;
    const auto known = std::ranges::find(given_, number);
    const auto at = known - given_.begin();
    if (known == given_.end()) given_.push_back(number);
    number = kFirstGiven + at;
  }
  std::vector<int64_t> take() { return std::move(given_); }

 private:
  std::vector<int64_t> given_;
};

bool walks_alone(const Nest& nest, const Affine& affine) {
  return std::ranges::all_of(
      affine.terms, [&](const Affine::Term& term) { return nest.nodes[term.atom].kind == NodeKind::kLoopIndex; });
}

/// Are indices used only to address elements?
bool is_eligible(const Nest& nest, const KernelPlan& plan) {
  for (const Node& node : nest.nodes) {
    if (node.kind == NodeKind::kAffine || node.kind == NodeKind::kTable) return false;
    if (node.kind == NodeKind::kLoad && !walks_alone(nest, node.affine)) return false;
    for (const NodeId operand : node.operands) {
      if (nest.nodes[operand].kind == NodeKind::kLoopIndex) return false;
    }
  }
  for (size_t l = 0; l < nest.loops.size(); ++l) {
    const Loop& loop = nest.loops[l];
    if (loop.kind != LoopKind::kParallel && loop.kind != LoopKind::kReduce) return false;
    if (plan.tiled[l] || loop.extent == 0) return false;
    for (const Carried& carried : loop.carried) {
      if (nest.nodes[carried.next].kind == NodeKind::kLoopIndex) return false;
    }
  }
  return std::ranges::all_of(nest.stores, [&](const Store& store) {
    return walks_alone(nest, store.index) && nest.nodes[store.value].kind != NodeKind::kLoopIndex;
  });
}

}  // namespace

std::optional<ShapeFree> shape_free(const Nest& nest, const KernelPlan& plan) {
  if (!is_eligible(nest, plan)) return {};
  ShapeFree free{nest, {}};
  Numbers numbers;
  for (Loop& loop : free.nest.loops) {
    if (loop.kind == LoopKind::kParallel || loop.extent > kMostTermsWrittenOut) numbers.give(loop.extent);
  }
  // The step from lane to lane decides which instruction loads; only for long steps is it one that accepts any step.
  const auto is_in_code = [&](const Affine::Term& term) {
    const auto loop = static_cast<size_t>(nest.nodes[term.atom].loop);
    const int64_t lanes = std::max(plan.lanes[loop], plan.after[loop]);
    const int64_t step = std::abs(term.coefficient);
    return lanes != 0 && (step <= kLongestShortStep || step > INT32_MAX / lanes);
  };
  const auto give = [&](Affine& affine) {
    for (Affine::Term& term : affine.terms) {
      if (!is_in_code(term)) numbers.give(term.coefficient);
    }
  };
  for (Node& node : free.nest.nodes) {
    if (node.kind == NodeKind::kLoad) give(node.affine);
    node.least = INT64_MIN;
    node.greatest = INT64_MAX;
  }
  for (Store& store : free.nest.stores) give(store.index);
  for (NestBuffer& buffer : free.nest.buffers) buffer.elements = 0;
  free.given = numbers.take();
  if (std::ssize(free.given) > kMostGiven) return {};
  return free;
}

}  // namespace lowtide::engine
