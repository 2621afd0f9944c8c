#pragma once
/// How a loop can run for slices along one dimension of arrays in its state: the batch of a scan over layers.

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

/// An array's relation to the sliced dimension, if it isn't a dimension number.
inline constexpr int64_t kWhole = -1;   ///< not sliced: the same for every tile
inline constexpr int64_t kSummed = -2;  ///< each tile computes its part of a sum

/// The dimension along which each array is sliced, or kWhole, or kSummed.
struct LoopWalk {
  Dims leaves;                 ///< of the state
  std::vector<bool> in_place;  ///< of the state: sums to which each tile may add in place
  /// Per element of the state: sums of narrow floats are kept in f32 and rounded to this when all tiles are in.
  std::vector<std::optional<ElementType>> rounded;
  std::unordered_map<const Instruction*, int64_t> arrays;                         ///< of the body's arrays
  std::unordered_map<const Instruction*, std::shared_ptr<const LoopWalk>> loops;  ///< of loops within the body
};

/// How a loop runs if arrays of its state are sliced along `leaves`; further ones may have to be sliced. Null:
/// impossible. Sums start with their present initial values if they are in place, else with zeros.
std::shared_ptr<const LoopWalk> walk_loop(const Instruction& loop, const Dims& leaves, int64_t extent);

/// Creates the loop's condition and body for tiles of `size`: their state has one more element at the end, `at`, s32,
/// the first slice.
struct TiledLoop {
  Computation* condition = nullptr;
  Computation* body = nullptr;
};

/// Is it a sum of products, whose narrow operands may be added up in a wider type?
bool is_product(const Instruction& i);
/// Is it an addition? For a reduce or a scatter of one array.
bool adds(const Instruction& fold);

/// The type in which the parts of a sum are added.
ElementType type_of_sums(ElementType type);

/// The state of the tiled loop.
Shape tiled_state(const Shape& whole, const LoopWalk& walk, int64_t size);
TiledLoop make_tiled_loop(Module& module, const Instruction& loop, const LoopWalk& walk, int64_t size);

}  // namespace lowtide::engine
