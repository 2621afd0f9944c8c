#pragma once
/// Relations between the extents of an operation's operands and results: which are the same, which are products, sums
/// and parts of others, and which numbers among the operation's attributes follow from them.

#include <cstdint>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

/// The atoms, major first, whose product is a dimension's extent; none: extent 1.
using Product = std::vector<int32_t>;

/// The reason for a relation between extents, for messages.
struct ExtentReason {
  const char* words = nullptr;         ///< "a library call of unknown meaning"
  const Instruction* where = nullptr;  ///< the instruction that is the reason
};

/// The sum of times * product over all terms, plus a constant.
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

/// Elements [begin, end) of the dimension `whole`; their number is `part`.
struct ExtentInterval {
  Product whole;
  int64_t begin = 0, end = 0;
  ExtentSum part;
  const Instruction* at = nullptr;
  /// A number in the instruction that counts the elements before the interval, or up to its end, or after it, or the
  /// negative of that count.
  struct Mark {
    enum class Counts : uint8_t { kBefore, kUntil, kBehind };
    Counts counts = Counts::kBefore;
    ExtentTie::Slot slot = ExtentTie::Slot::kStart;
    size_t index = 0;
    int64_t sign = 1;
    int64_t more = 0;  ///< added to the count
  };
  std::vector<Mark> marks;
};

/// Collects the relations of all operations.
class ExtentRelations {
 public:
  virtual ~ExtentRelations() = default;
  /// The dimensions of leaf `leaf`.
  virtual const std::vector<Product>& leaf_of(const Instruction& i, int64_t leaf) const = 0;
  virtual int64_t extent(const Product& product) const = 0;
  /// Makes a new atom of this extent, which belongs to no dimension yet.
  virtual Product make(int64_t extent) = 0;
  /// Declares that both are the same dimension.
  virtual void unite(const Product& a, const Product& b, const ExtentReason& reason) = 0;
  /// Declares that the extent may not change.
  virtual void freeze(const Product& product, const ExtentReason& reason) = 0;
  /// Declares that a sum is zero, or at most zero.
  virtual void relate(ExtentSum zero, const ExtentReason& reason, bool at_most) = 0;
  virtual void tie(const Instruction& at, ExtentTie::Slot slot, size_t index, ExtentSum value) = 0;
  virtual void cut(ExtentInterval interval) = 0;
  /// Are all elements of the array equal? Do they count along dimension d?
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

  /// Declares that both are the same dimension, if their extents are equal.
  void unite(const Product& a, const Product& b);
  /// Splits both, whose extents are equal, into common factors.
  void regroup(const Product& a, const Product& b) { all_.unite(a, b, why("")); }
  void at_most(const Product& part, const Product& whole);
  void freeze(const Product& product, const char* words) { all_.freeze(product, why(words)); }
  void freeze(const Instruction& i, const char* words);
  void relate(ExtentSum zero, const char* words, bool at_most = false) {
    all_.relate(std::move(zero), why(words), at_most);
  }
  void tie(ExtentTie::Slot slot, size_t index, ExtentSum value) { all_.tie(i_, slot, index, std::move(value)); }
  void cut(ExtentInterval interval) { all_.cut(std::move(interval)); }

  /// Unites the dimensions of equal extents of two leaves; of several leaves; of all leaves.
  void same(const Instruction& a, int64_t a_leaf, const Instruction& b, int64_t b_leaf);
  void same_leaves(const Instruction& a, int64_t a_first, const Instruction& b, int64_t b_first, int64_t count);
  void all_leaves(const Instruction& a, const Instruction& b);
  void same_as_operand(size_t k) { all_leaves(i_, i_.operand(k)); }
  /// All results have the same extents.
  void same_results();
  /// Parameter k of the called computation is operand first + step * k.
  void passes(const Computation& called, size_t first, size_t step);
  void returns(const Computation& called);

 private:
  const Instruction& i_;
  ExtentRelations& all_;
};

// Shared by many operations' rules.

/// Relates nothing: extents are unconstrained.
void free_extents(ExtentRelater&);
/// For operations that are not analysed: freezes all extents.
void unknown_extents(ExtentRelater& r);
/// Unites dimensions that correspond by their roles.
void extents_by_roles(ExtentRelater& r);
void extents_of_operand(ExtentRelater& r);

/// The last two dimensions have equal extents.
void relate_square(ExtentRelater& r, const Instruction& matrices);
/// The product of all extents of an array, outermost first.
Product row_major(const std::vector<Product>& dims);

/// The extents along one dimension: of the base, of the window and of the window positions. `window`: the dimension
/// that gives the window its size; null: the size is a literal.
struct WindowLine {
  const Product* base = nullptr;
  const Product* window = nullptr;
  const Product* positions = nullptr;
};
void relate_window(ExtentRelater& r, const Window& window, size_t d, const WindowLine& line);

}  // namespace lowtide::engine
