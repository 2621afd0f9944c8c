#pragma once
/// Instructions that can run slice by slice along one dimension each, all in step.

#include <map>
#include <set>
#include <vector>

#include "region/value_graph.h"
#include "region/virtual_values.h"

namespace lowtide {

struct SliceCluster {
  int64_t extent = 0, tile = 0;                          ///< of the dimension; slices made at once
  std::map<int32_t, int64_t> dimension;                  ///< member -> the dimension it is sliced along, by place
  std::set<int32_t> invariant;                           ///< cheap values without the dimension, made anew per tile
  std::vector<std::pair<Instruction*, int64_t>> sliced;  ///< operands read slice by slice, along which dimension
  std::vector<Instruction*> whole;                       ///< operands that every tile reads whole
  std::vector<int32_t> outputs;                          ///< members that are read outside
  double hidden_bytes = 0;                               ///< stored before, a tile's worth now
};

/// The cluster around a stored value that hides most bytes, sliced along any of its dimensions; extent 0: none pays.
SliceCluster find_cluster(const ValueGraph& graph, const std::vector<ValueState>& states, int32_t seed);

/// Which dimension of operand number `operand` walks in step with dimension `d` of the result.
enum class InStep : uint8_t { kNo, kAbsent, kYes };
InStep operand_in_step(const Instruction& user, size_t operand, int64_t d, int64_t& operand_dimension);

}  // namespace lowtide
