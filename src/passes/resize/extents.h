#pragma once
/// Relations between the extents of a module's values: which are the same, which are products, sums and windows of
/// others, and which attributes and constants depend on them.
///
///     x = f32[512,64], y = f32[512,128] reshape(...)       atoms 512, 64, 128
///     z = f32[511,64] slice(x), slice={[1:512], [0:64]}    511 = what is left of 512 after a piece of 1
///     while (i < 24) { w = dynamic-slice(s, i, 0), ... }   s = f32[24,...]: 24 is the trips, in the condition too
///
/// Dimensions that correspond by their operation's roles (ops/dimension_roles.h) are the same; reshapes split
/// extents into atoms; bounds cut dimensions into pieces. Extents of unknown operations may not change.

#include <vector>

#include "passes/resize/atoms.h"

namespace lowtide::engine {

/// A sum that is zero, or at most zero.
struct ExtentRelation {
  ExtentSum sum;
  bool at_most = false;
  ExtentReason reason;
};

/// A number in an instruction that depends on extents.
struct ExtentTie {
  enum class Slot : uint8_t {
    kStart,  ///< of a slice, dimension `index`
    kLimit,
    kSize,  ///< of a dynamic-slice, a gather's slice
    kLow,   ///< of a pad
    kHigh,
    kWindowSize,
    kWindowLow,
    kWindowHigh,
    kGroups,  ///< feature_group_count
    kBatchGroups,
    kLength,   ///< of a transform
    kTop,      ///< k of topk
    kTrips,    ///< known_trip_count
    kOperand,  ///< operand `index` is a scalar constant: this number
  };
  const Instruction* at = nullptr;
  Slot slot = Slot::kStart;
  size_t index = 0;
  ExtentSum value;
};

/// For a whole module, across computations: values passed to calls and loops have the same extents there.
class ModuleExtents {
 public:
  explicit ModuleExtents(const Module& module);

  const Atoms& atoms() const { return atoms_; }
  Atoms& atoms() { return atoms_; }
  const std::vector<ExtentRelation>& relations() const { return relations_; }
  const std::vector<ExtentTie>& ties() const { return ties_; }
  /// Dimension d of leaf `leaf`.
  const Product& dimension(const Instruction& i, int64_t leaf, size_t d) const { return leaf_of(i, leaf)[d]; }
  const std::vector<Product>& leaf_of(const Instruction& i, int64_t leaf) const {
    return values_[static_cast<size_t>(i.id)][static_cast<size_t>(leaf)];
  }

  // For the code that collects relations:
  void same(const Instruction& a, int64_t a_leaf, const Instruction& b, int64_t b_leaf, const Instruction& why);
  /// All leaves of a, and as many of b from `b_first` on.
  void same_leaves(const Instruction& a, int64_t a_first, const Instruction& b, int64_t b_first, int64_t count,
                   const Instruction& why);
  void freeze(const Instruction& i, const ExtentReason& reason);
  void relate(ExtentSum zero, const ExtentReason& reason, bool at_most = false);
  void tie(const Instruction& at, ExtentTie::Slot slot, size_t index, ExtentSum value);
  /// Elements [begin, end) of a dimension, whose number is `part`.
  struct Interval {
    Product whole;
    int64_t begin = 0, end = 0;
    ExtentSum part;
    const Instruction* at = nullptr;
    /// Constants of instructions that count the elements before it, or up to its end, or after it, or their negative.
    struct Mark {
      enum class Counts : uint8_t { kBefore, kUntil, kBehind };
      Counts counts = Counts::kBefore;
      ExtentTie::Slot slot = ExtentTie::Slot::kStart;
      size_t index = 0;
      int64_t sign = 1;
      int64_t more = 0;  ///< added
    };
    std::vector<Mark> marks;
  };
  void cut(Interval interval) { intervals_.push_back(std::move(interval)); }

 private:
  void relate_intervals();

  Atoms atoms_;
  std::vector<std::vector<std::vector<Product>>> values_;  ///< by instruction id, leaf, dimension
  std::vector<ExtentRelation> relations_;
  std::vector<ExtentTie> ties_;
  std::vector<Interval> intervals_;
};

}  // namespace lowtide::engine
