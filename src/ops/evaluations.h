#pragma once
/// How often, and under which index maps, an operation's evaluations evaluate its operands.

#include <cstdint>

#include "ir/module.h"

namespace lowtide::engine {

/// One kernel evaluates a value `count` times through one index map. Two readers with equal maps share evaluations.
struct Evaluations {
  int32_t kernel = 0;
  uint64_t map = 0;  ///< names the map from the kernel's loops to the value's index
  double count = 0;
  bool ordered = true;  ///< the loops walk the value's dimensions outermost first: what doesn't vary inside is hoisted
};

uint64_t mixed(uint64_t hash, uint64_t value);
uint64_t mixed(uint64_t hash, const Dims& dims);

/// What a kernel that evaluates `user` asks of operand number `operand`, the array `read`: as things stand, each of its
/// elements once for each of the user's, under the same map.
class OperandReads {
 public:
  OperandReads(const Evaluations& of_user, const Instruction& user, int32_t operand, const Shape& read);

  const Instruction& user() const { return user_; }
  int32_t operand() const { return operand_; }
  const Shape& read() const { return read_; }
  double elements() const { return elements_; }  ///< of `read`
  double of_user() const { return of_user_; }    ///< elements of the user
  double repeats() const { return repeats_; }    ///< of the user, as far as it isn't merely in part
  const Evaluations& evaluations() const { return e_; }

  /// Through an index map that follows from the user's attributes.
  void through(double evaluations, bool ordered);
  /// In a loop of the user's own.
  void in_own_loop(double evaluations);
  /// The map depends on this as well.
  void depends_on(uint64_t value) { e_.map = mixed(e_.map, value); }

 private:
  const Instruction& user_;
  const int32_t operand_;
  const Shape& read_;
  const double elements_, of_user_, repeats_;
  Evaluations e_;
};

/// Elements of an array; the largest leaf's for a tuple.
double elements_of(const Shape& shape);
/// The product of extents, each at least 1.
double product_of_extents(const Dims& extents);

// What many rows say.

/// An element of the operand for each of the result.
void reads_by_element(OperandReads& reads);
/// An element for each, at another index that follows the operand's order.
void reads_in_order(OperandReads& reads);
/// An operand of the result's extents may be read anywhere, others in a loop.
void reads_anywhere(OperandReads& reads);

}  // namespace lowtide::engine
