#pragma once
/// The elements of a region's values: loaded from its inputs, computed where virtual.

#include <unordered_map>

#include "ops/element.h"
#include "region/region.h"

namespace lowtide::engine {

class RegionElements : public ElementContext {
 public:
  /// Adds the region's buffers to the nest: inputs, then outputs.
  RegionElements(NestBuilder& nest, const Region& region);

  using ElementContext::element;
  /// Computed in the outermost block in which the index is known, but inside `home`.
  NodeId element(const Instruction& value, int64_t leaf, const Index& index) override;
  std::vector<NodeId> call(const Computation& computation, std::span<const NodeId> arguments) override;
  std::shared_ptr<const Function> function(const Computation& computation) override;
  int32_t buffer_of(const Instruction& value, int64_t leaf) override;

  int32_t buffer_of_output(size_t k) const { return first_output_ + static_cast<int32_t>(k); }
  void set_home(int32_t block) {
    if (home_ != block) made_.clear();  // values computed inside the old home aren't available in the new one
    home_ = block;
  }

 private:
  struct Key {
    LeafRef leaf;
    Index index;
    bool operator==(const Key&) const = default;
  };
  struct HashKey {
    size_t operator()(const Key& key) const;
  };

  const Region& region_;
  std::unordered_map<Key, NodeId, HashKey> made_;
  std::unordered_map<const Instruction*, std::vector<std::pair<int32_t, int32_t>>> inputs_;  // leaf, buffer
  int32_t first_output_ = 0;
  int32_t home_ = 0;
};

}  // namespace lowtide::engine
