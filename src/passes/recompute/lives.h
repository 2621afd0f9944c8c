#pragma once
/// Where the values of one computation are live, in its instruction order, assuming fusion of elementwise loops.

#include <cstdint>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

/// By instruction id, values that are computed where they are read: those of elementwise loops
/// (analysis/loop_fusion.h), except small slices of values that can be freed after they are sliced.
std::vector<bool> find_virtual_values(const Module& module);

/// Places are positions in the computation's instruction order.
class Lives {
 public:
  static constexpr int32_t kNobody = -1;
  /// is_virtual: find_virtual_values().
  /// depth: of enclosing loops.
  Lives(const Computation& computation, const std::vector<bool>& is_virtual, int depth = 0);

  /// Is it an alias of its operand's bytes?
  static bool is_name(const Instruction& i);

  int32_t size() const { return static_cast<int32_t>(all_.size()); }
  Instruction& at(int32_t place) const { return *all_[place]; }
  int32_t place_of(const Instruction& i) const { return place_[i.id - first_id_]; }
  /// Its own bytes: 0 if it is an alias, is never stored, is a result, lies in host memory, or exists before the
  /// program.
  int64_t bytes(int32_t place) const { return bytes_[place]; }
  /// The last place where it or an alias is read; size() for a result, kNobody for a value without readers.
  int32_t last_read(int32_t place) const { return last_[place]; }
  /// Bytes live while each place runs, including those inside loops.
  const std::vector<int64_t>& load() const { return load_; }
  int64_t most() const;
  int32_t fullest() const;

 private:
  std::vector<Instruction*> all_;
  std::vector<int32_t> place_;  ///< by id, from the computation's first one
  int32_t first_id_ = 0;
  std::vector<int64_t> bytes_, load_;
  std::vector<int32_t> last_;
};

}  // namespace lowtide::engine
