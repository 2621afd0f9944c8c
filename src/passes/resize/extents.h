#pragma once
/// Relations between the extents of a module's values: which are the same, which are products, sums and windows of
/// others, and which attributes and constants depend on them.
///
///     x = f32[512,64], y = f32[512,128] reshape(...)       atoms 512, 64, 128
///     z = f32[511,64] slice(x), slice={[1:512], [0:64]}    511 = what is left of 512 after a piece of 1
///     while (i < 24) { w = dynamic-slice(s, i, 0), ... }   s = f32[24,...]: 24 is the trip count, in the condition too
///
/// Dimensions that correspond by their operation's roles (ops/dimension_roles.h) are the same; reshapes split
/// extents into atoms; bounds cut dimensions into pieces. Extents of unknown operations may not change.

#include <map>
#include <tuple>
#include <vector>

#include "passes/resize/atoms.h"

namespace lowtide::engine {

/// A sum that is zero, or at most zero.
struct ExtentRelation {
  ExtentSum sum;
  bool at_most = false;
  ExtentReason reason;
};

/// For a whole module, across computations: values passed to calls and loops have the same extents there.
class ModuleExtents final : public ExtentRelations {
 public:
  explicit ModuleExtents(const Module& module);

  const Atoms& atoms() const { return atoms_; }
  Atoms& atoms() { return atoms_; }
  const std::vector<ExtentRelation>& relations() const { return relations_; }
  const std::vector<ExtentTie>& ties() const { return ties_; }
  /// Dimension d of leaf `leaf`.
  const Product& dimension(const Instruction& i, int64_t leaf, size_t d) const { return leaf_of(i, leaf)[d]; }
  const std::vector<Product>& leaf_of(const Instruction& i, int64_t leaf) const override { return values_[i.id][leaf]; }
  int64_t extent(const Product& product) const override { return atoms_.extent(product); }

  // For the code that collects relations:
  Product make(int64_t extent) override { return atoms_.make(extent); }
  void unite(const Product& a, const Product& b, const ExtentReason& reason) override { atoms_.unite(a, b, reason); }
  void freeze(const Product& product, const ExtentReason& reason) override { atoms_.freeze(product, reason); }
  void freeze(const Instruction& i, const ExtentReason& reason);
  void relate(ExtentSum zero, const ExtentReason& reason, bool at_most = false) override;
  void tie(const Instruction& at, ExtentTie::Slot slot, size_t index, ExtentSum value) override;
  void cut(ExtentInterval interval) override { intervals_.push_back(std::move(interval)); }
  bool is_same_everywhere(const Instruction& array) const override;
  bool counts_along(const Instruction& array, int64_t d) const override;

 private:
  void relate_intervals();

  Atoms atoms_;
  std::vector<std::vector<std::vector<Product>>> values_;  ///< by instruction id, leaf, dimension
  std::vector<ExtentRelation> relations_;
  std::vector<ExtentTie> ties_;
  std::map<std::tuple<const Instruction*, ExtentTie::Slot, size_t>, size_t> tie_of_;  ///< positions in `ties_`
  std::vector<ExtentInterval> intervals_;
};

}  // namespace lowtide::engine
