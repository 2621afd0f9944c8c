#pragma once
/// A computation's data flow without tuples: which instruction reads which array of which other.

#include <span>
#include <vector>

#include "region/region.h"
#include "target/target.h"

namespace lowtide::engine {

/// Instructions are named by their place in the computation's order.
class ValueGraph {
 public:
  struct Read {
    int32_t def = kNoId, leaf = 0;      ///< the array, resolved through tuples
    int32_t user = kNoId, operand = 0;  ///< the reader, and the number of its operand
  };

  /// target: the one that will run the computation.
  ValueGraph(const Computation& computation, const Target& target);

  const Target& target() const { return target_; }

  int32_t size() const { return static_cast<int32_t>(instructions_.size()); }
  const Instruction& at(int32_t place) const { return *instructions_[place]; }
  int32_t place_of(const Instruction& instruction) const;
  /// The arrays that an instruction reads, by operand, then leaf. Empty for instructions that only rename.
  std::span<const Read> reads(int32_t user) const { return part(reads_, first_read_, user); }
  /// The readers of an instruction, in program order. Instructions that only rename aren't readers.
  std::span<const Read> users(int32_t def) const { return part(users_, first_user_, def); }
  const std::vector<LeafRef>& results() const { return results_; }  ///< of the computation, leaf by leaf
  bool is_result(int32_t place) const { return is_result_[place]; }
  /// Instructions with this id or a higher one were made later.
  int32_t id_limit() const { return id_limit_; }
  const std::vector<Instruction*>& parameters() const { return parameters_; }  ///< of the computation, by number
  /// Is the instruction needed for a result or an effect?
  bool is_live(int32_t place) const { return is_live_[place]; }

 private:
  const Target& target_;
  static std::span<const Read> part(const std::vector<Read>& all, const std::vector<int32_t>& first, int32_t place) {
    const auto p = static_cast<size_t>(place);
    return {all.data() + first[p], all.data() + first[p + 1]};
  }
  std::vector<const Instruction*> instructions_;
  std::vector<Instruction*> parameters_;
  std::vector<int32_t> place_;  ///< by id, from first_id_
  int32_t first_id_ = 0, id_limit_ = 0;
  std::vector<Read> reads_, users_;
  std::vector<int32_t> first_read_, first_user_;
  std::vector<LeafRef> results_;
  std::vector<bool> is_result_, is_live_;
};

/// Does it only rename arrays? resolve() looks through it.
bool is_name(Opcode opcode);

}  // namespace lowtide::engine
