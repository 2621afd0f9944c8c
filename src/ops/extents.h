#pragma once
/// What an operation says of the extents of its operands and results: which are the same, which are products, sums and
/// parts of others, and which numbers among its attributes follow from them.

#include <cstdint>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

/// Atoms, major first, whose extents multiply to that of a dimension; none: extent 1.
using Product = std::vector<int32_t>;

/// Why an extent is what it is.
struct ExtentReason {
  const char* words = nullptr;         ///< "a library call of unknown meaning"
  const Instruction* where = nullptr;  ///< that says so
};

/// The sum of times * product, plus a constant.
struct ExtentSum {
  struct Term {
    int64_t times = 1;
    Product product;
  };
  std::vector<Term> terms;
  int64_t constant = 0;

  ExtentSum() = default;
  explicit ExtentSum(Product product, int64_t more = 0) : terms{{1, std::move(product)}}, constant(more) {}
  ExtentSum& add(int64_t times, Product product) {
    terms.push_back({times, std::move(product)});
    return *this;
  }
  ExtentSum& add(int64_t times, const ExtentSum& other);
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

/// Elements [begin, end) of a dimension, whose number is `part`.
struct ExtentInterval {
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

/// Where relations of all operations come together.
class ExtentRelations {
 public:
  virtual ~ExtentRelations() = default;
  /// The dimensions of leaf `leaf`.
  virtual const std::vector<Product>& leaf_of(const Instruction& i, int64_t leaf) const = 0;
  virtual int64_t extent(const Product& product) const = 0;
  /// An extent that no dimension has by itself.
  virtual Product make(int64_t extent) = 0;
  /// Declares that both are the same dimension.
  virtual void unite(const Product& a, const Product& b, const ExtentReason& reason) = 0;
  /// Declares that it may not change.
  virtual void freeze(const Product& product, const ExtentReason& reason) = 0;
  /// Declares that a sum is zero, or at most zero.
  virtual void relate(ExtentSum zero, const ExtentReason& reason, bool at_most) = 0;
  virtual void tie(const Instruction& at, ExtentTie::Slot slot, size_t index, ExtentSum value) = 0;
  virtual void cut(ExtentInterval interval) = 0;
  /// Are all elements of the array equal; do they count along dimension d?
  virtual bool is_same_everywhere(const Instruction& array) const = 0;
  virtual bool counts_along(const Instruction& array, int64_t d) const = 0;
};

/// Relates the extents of one instruction's operands and results.
class ExtentRelater {
 public:
  ExtentRelater(const Instruction& i, ExtentRelations& all) : i_(i), all_(all) {}

  const Instruction& instruction() const { return i_; }
  ExtentRelations& all() { return all_; }
  ExtentReason why(const char* words) const { return {words, &i_}; }
  const Product& mine(size_t d, int64_t leaf = 0) const { return dimension(i_, leaf, d); }
  const Product& of_operand(size_t k, size_t d) const { return dimension(i_.operand(k), 0, d); }
  const std::vector<Product>& leaf_of(const Instruction& i, int64_t leaf) const { return all_.leaf_of(i, leaf); }
  const Product& dimension(const Instruction& i, int64_t leaf, size_t d) const { return all_.leaf_of(i, leaf)[d]; }
  int64_t extent(const Product& product) const { return all_.extent(product); }

  /// If they are as large.
  void unite(const Product& a, const Product& b);
  /// Splits both into the factors that they share.
  void regroup(const Product& a, const Product& b) { all_.unite(a, b, why("")); }
  void at_most(const Product& part, const Product& whole);
  void freeze(const Product& product, const char* words) { all_.freeze(product, why(words)); }
  void freeze(const Instruction& i, const char* words);
  void relate(ExtentSum zero, const char* words, bool at_most = false) {
    all_.relate(std::move(zero), why(words), at_most);
  }
  void tie(ExtentTie::Slot slot, size_t index, ExtentSum value) { all_.tie(i_, slot, index, std::move(value)); }
  void cut(ExtentInterval interval) { all_.cut(std::move(interval)); }

  /// The same extents, as far as they are as large: of leaves; of all leaves.
  void same(const Instruction& a, int64_t a_leaf, const Instruction& b, int64_t b_leaf);
  void same_leaves(const Instruction& a, int64_t a_first, const Instruction& b, int64_t b_first, int64_t count);
  void all_leaves(const Instruction& a, const Instruction& b);
  void same_as_operand(size_t k) { all_leaves(i_, i_.operand(k)); }
  /// The arrays of several results have one shape.
  void same_results();
  /// Parameter k of what is called is operand first + step * k.
  void passes(const Computation& called, size_t first, size_t step);
  void returns(const Computation& called);

 private:
  const Instruction& i_;
  ExtentRelations& all_;
};

// What many rows say.

/// Nothing: extents are whatever they are.
void free_extents(ExtentRelater&);
/// An operation that is not looked into: none may change.
void unknown_extents(ExtentRelater& r);
/// Dimensions that correspond by their roles are the same.
void extents_by_roles(ExtentRelater& r);
void extents_of_operand(ExtentRelater& r);

/// The last two dimensions are as large.
void relate_square(ExtentRelater& r, const Instruction& matrices);
/// The product of an array's extents, outermost first.
Product row_major(const std::vector<Product>& dims);

/// Along one dimension: base, window, and where windows stand. `window`: of which it has its size; null: a literal one.
struct WindowLine {
  const Product* base = nullptr;
  const Product* window = nullptr;
  const Product* positions = nullptr;
};
void relate_window(ExtentRelater& r, const Window& window, size_t d, const WindowLine& line);

}  // namespace lowtide::engine
