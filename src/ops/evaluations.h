#pragma once
/// How often, and through which index maps, an operation's operands are evaluated when it is evaluated itself.

#include <cstdint>

#include "ir/module.h"

namespace lowtide::engine {

/// One kernel evaluates a value `count` times through one index map. Two readers with equal maps share evaluations.
struct Evaluations {
  int32_t kernel = 0;
  uint64_t map = 0;  ///< hash of the map from the kernel's loops to the value's index
  double count = 0;
  bool ordered = true;  ///< the loops walk the value's dimensions outermost first, so that invariant parts are hoisted
  /// Dimensions, as bits, that a loop walks again and again, with another one outside of them: it can't be cut where
  /// something changes along them.
  uint64_t walked_again = 0;
};

uint64_t mixed(uint64_t hash, uint64_t value);
uint64_t mixed(uint64_t hash, const Dims& dims);

/// The evaluations of operand number `operand`, the array `read`, by a kernel that evaluates `user`. Initially one for
/// each evaluation of the user, through the same map; the operation's rule adjusts them.
class OperandReads {
 public:
  OperandReads(const Evaluations& of_user, const Instruction& user, int32_t operand, const Shape& read);

  const Instruction& user() const { return user_; }
  int32_t operand() const { return operand_; }
  const Shape& read() const { return read_; }
  double elements() const { return elements_; }  ///< of `read`
  double of_user() const { return of_user_; }    ///< elements of the user
  double repeats() const { return repeats_; }    ///< evaluations per element of the user, at least 1
  const Evaluations& evaluations() const { return e_; }

  /// The operand is read through an index map that follows from the user's attributes.
  void through(double evaluations, bool ordered);
  /// The operand is read in a loop that belongs to the user alone.
  void in_own_loop(double evaluations);
  /// These dimensions of the operand, as bits, are the inner ones of several that are one of the user's.
  void walks_again(uint64_t dimensions) { e_.walked_again = dimensions; }
  /// The map depends on this value as well.
  void depends_on(uint64_t value) { e_.map = mixed(e_.map, value); }

 private:
  const Instruction& user_;
  const int32_t operand_;
  const Shape& read_;
  const double elements_, of_user_, repeats_;
  Evaluations e_;
};

/// The number of elements of an array; for a tuple, of the largest leaf.
double elements_of(const Shape& shape);
/// The product of extents, each at least 1.
double product_of_extents(const Dims& extents);

// Shared by many operations' rules.

/// Each result element reads the operand element of the same index.
void reads_by_element(OperandReads& reads);
/// Each result element reads one operand element, at another index that preserves the operand's order.
void reads_in_order(OperandReads& reads);
/// An operand with the result's extents may be read at any index, other operands in a loop.
void reads_anywhere(OperandReads& reads);

}  // namespace lowtide::engine
