#include "region/dimension_classes.h"

#include "analysis/leaves.h"
#include "base/disjoint_sets.h"
#include "ops/dimension_roles.h"

namespace lowtide::engine {
DimensionClasses::DimensionClasses(const Computation& computation) {
  std::vector<LeafRef> arrays;
  std::vector<int64_t> extents;  // of nodes
  for (const auto& instruction : computation.instructions()) {
    for (int64_t leaf = 0; leaf < leaf_count(instruction->shape); ++leaf) {
      const LeafRef array{instruction.get(), static_cast<int32_t>(leaf)};
      if (resolve(array) != array) continue;
      std::vector<int32_t>& nodes = classes_[{array.instruction, array.leaf}];
      for (const int64_t extent : leaf_shape(instruction->shape, leaf)->dims) {
        nodes.push_back(static_cast<int32_t>(extents.size()));
        extents.push_back(extent);
      }
      arrays.push_back(array);
    }
  }
  DisjointSets sets(extents.size());
  for (const LeafRef& array : arrays) {
    const Instruction& user = *array.instruction;
    const std::vector<int32_t>& mine = classes_[{array.instruction, array.leaf}];
    std::unordered_map<int64_t, int32_t> folds;  // a node of each fold
    const auto unite = [&](int32_t a, int32_t b) {
      const size_t one = sets.find(static_cast<size_t>(a)), other = sets.find(static_cast<size_t>(b));
      if (extents[one] == extents[other]) sets.join(one, other);
    };
    for (size_t k = 0; k < user.operands.size(); ++k) {
      const std::vector<OperandDimension> roles = operand_roles(user, k);
      if (roles.empty()) continue;
      const LeafRef read = resolve({&user.operand(k), 0});
      const std::vector<int32_t>& theirs = classes_[{read.instruction, read.leaf}];
      for (size_t d = 0; d < roles.size() && d < theirs.size(); ++d) {
        const OperandDimension& role = roles[d];
        if (role.role == DimensionRole::kReduced && role.fold >= 0) {
          unite(folds.try_emplace(role.fold, theirs[d]).first->second, theirs[d]);
        }
        if (!role.is_in_step()) continue;
        const auto result = static_cast<size_t>(role.result_dimension);
        if (result < mine.size()) unite(mine[result], theirs[d]);
      }
    }
  }
  std::vector<int32_t> number(extents.size(), kNoId);
  for (const LeafRef& array : arrays) {
    for (int32_t& node : classes_[{array.instruction, array.leaf}]) {
      const size_t root = sets.find(static_cast<size_t>(node));
      int32_t& named = number[root];
      if (named == kNoId) {
        named = count_++;
        extents_.push_back(extents[root]);
        members_.emplace_back();
      }
      node = named;
      std::vector<LeafRef>& members = members_[named];
      if (members.empty() || members.back() != array) members.push_back(array);
    }
  }
}

int32_t DimensionClasses::class_of(LeafRef array, int64_t d) const {
  const LeafRef made = resolve(array);
  const auto found = classes_.find({made.instruction, made.leaf});
  LT_ASSERT(found != classes_.end(), "an array of another computation");
  return found->second[d];
}

}  // namespace lowtide::engine
