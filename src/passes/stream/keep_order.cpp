#include "passes/stream/keep_order.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "ops/combiner.h"
#include "ops/infer.h"
#include "passes/stream/walk.h"

namespace lowtide::engine {
namespace {

bool is_rounded(ElementType type) { return is_floating(type) || is_complex(type); }

/// Is dimension d of the updates the outermost of those along which updates are applied one after the other?
bool is_outermost(const Instruction& scatter, int64_t d) {
  const auto& attributes = scatter.as<ScatterAttributes>();
  const Dims& updates = scatter.operand(2).shape.dims;
  const auto place = [&](int64_t of_updates) {  // among the dimensions of the indices
    const auto windows =
        std::ranges::count_if(attributes.update_window_dims, [&](int64_t w) { return w < of_updates; });
    const int64_t at = of_updates - windows;
    return at < attributes.index_vector_dim ? at : at + 1;
  };
  for (int64_t other = 0; other < d; ++other) {
    const bool window = contains(attributes.update_window_dims, other);
    const auto& batches = attributes.scatter_indices_batching_dims;
    const bool batch = !window && contains(batches, place(other));
    if (!window && !batch && updates[other] != 1) return false;
  }
  return true;
}

/// A separate instruction, with its operands, that computes `size` slices along d of the result.
struct Part {
  std::vector<std::unique_ptr<Instruction>> operands;
  Instruction made;
};
Part part_of(const Instruction& i, int64_t d, int64_t size) {
  Part part{{}, i};
  part.made.shape.dims[d] = size;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    part.operands.push_back(std::make_unique<Instruction>(i.operand(k)));
    int64_t j = 0;
    if (operand_in_step(i, k, d, j) == InStep::kYes) {
      part.operands.back()->shape.dims[j] = size;
    }
    part.made.operands[k] = part.operands.back().get();
  }
  return part;
}

bool is_rounded_product(const Instruction& i) {
  return is_product(i) && i.shape.is_array() && is_rounded(i.shape.type);
}

bool slices_keep_order(const Instruction& i, int64_t d, int64_t size, const Target& target) {
  return !is_rounded_product(i) || target.role_of(part_of(i, d, size).made) == target.role_of(i);
}

bool walk_slices_keep_order(const LoopWalk& walk, int64_t size, const Target& target) {
  return std::ranges::all_of(walk.arrays,
                             [&](const auto& array) {
                               return array.second < 0 || slices_keep_order(*array.first, array.second, size, target);
                             }) &&
         std::ranges::all_of(walk.loops,
                             [&](const auto& loop) { return walk_slices_keep_order(*loop.second, size, target); });
}

}  // namespace

FoldOrder fold_order(const Instruction& fold, size_t operand, int64_t d, const Target& target) {
  const auto outermost = [&](const Dims& dimensions) {
    for (const int64_t other : dimensions) {
      if (other == d) return true;
      if (fold.operand(operand).shape.dims[other] != 1) return false;
    }
    return false;
  };
  switch (fold.opcode) {
    case Opcode::kReduce: {
      if (is_order_free(*fold.called[0], fold.shape.type)) return FoldOrder::kAny;
      const Dims& folded = fold.as<DimensionsAttributes>().dimensions;
      const bool alone = std::ranges::all_of(
          folded, [&](int64_t other) { return other == d || fold.operand(0).shape.dims[other] == 1; });
      const bool one_type = fold.operand(0).shape.type == fold.shape.type;
      // Sums of small floats are rounded at the end: with tiles, once in each tile.
      const bool rounds = is_floating(fold.shape.type) && type_bits(fold.shape.type) < 32;
      return alone && one_type && !rounds ? FoldOrder::kContinued : FoldOrder::kNone;
    }
    case Opcode::kScatter: {
      const bool kept = fold.as<ScatterAttributes>().unique_indices || (operand == 2 && is_outermost(fold, d));
      return kept ? FoldOrder::kAny : FoldOrder::kNone;
    }
    case Opcode::kDot: {
      if (!is_rounded(fold.shape.type)) return FoldOrder::kAny;
      const auto& attributes = fold.as<DotAttributes>();
      const bool first = outermost(operand == 0 ? attributes.lhs_contracting_dims : attributes.rhs_contracting_dims);
      return first && target.role_of(fold) == OpRole::kLibrary ? FoldOrder::kContinued : FoldOrder::kNone;
    }
    case Opcode::kGather: return FoldOrder::kAny;  // each element is picked once
    default: return is_rounded(fold.shape.type) ? FoldOrder::kNone : FoldOrder::kAny;
  }
}

bool walk_keeps_order(const LoopWalk& walk) {
  return std::ranges::none_of(
             walk.arrays,
             [](const auto& array) { return array.second == kSummed && is_rounded(array.first->shape.type); }) &&
         std::ranges::all_of(walk.loops, [](const auto& loop) { return walk_keeps_order(*loop.second); });
}

bool tile_keeps_order(const ValueGraph& graph, const StreamCluster& cluster, int64_t tile) {
  Dims sizes{tile};
  if (cluster.extent % tile != 0) sizes.push_back(cluster.extent % tile);
  return std::ranges::all_of(sizes, [&](int64_t size) {
    return std::ranges::all_of(cluster.members, [&](const auto& entry) {
      const auto& [place, member] = entry;
      if (member.loop != nullptr) return walk_slices_keep_order(*member.loop, size, graph.target());
      return member.leaves[0] < 0 || slices_keep_order(graph.at(place), member.leaves[0], size, graph.target());
    });
  });
}

bool rows_keep_order(const Instruction& i, int64_t d, const Target& target) {
  if (!is_rounded_product(i) || target.role_of(i) != OpRole::kLibrary) return true;
  return i.opcode == Opcode::kConvolution && d != i.as<ConvolutionAttributes>().output_feature;
}

}  // namespace lowtide::engine
