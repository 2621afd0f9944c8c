#pragma once
/// Where the values of one computation are alive, in their order, as whoever fuses
/// elementwise loops would have them.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

/// By instruction id, values that are made where they are read: those of elementwise loops (analysis/loop_fusion.h),
/// but for small slices of what could go once they are taken.
std::vector<bool> find_virtual_values(const Module& module);

/// Places are those of the computation's instructions as they stand.
class Lives {
 public:
  static constexpr int32_t kNobody = -1;
  /// is_virtual: find_virtual_values().
  /// depth: of loops around it.
  Lives(const Computation& computation, const std::vector<bool>& is_virtual, int depth = 0);

  /// Another name for the bytes of its operand.
  static bool is_name(const Instruction& i);

  int32_t size() const { return static_cast<int32_t>(all_.size()); }
  Instruction& at(int32_t place) const { return *all_[static_cast<size_t>(place)]; }
  int32_t place_of(const Instruction& i) const { return place_.at(&i); }
  /// Of its own: 0 where it is another name for others, is never stored, is a result, or stands before the program.
  int64_t bytes(int32_t place) const { return bytes_[static_cast<size_t>(place)]; }
  /// The last place where it is read, under whatever name; size() of a result, kNobody of what nothing reads.
  int32_t last_read(int32_t place) const { return last_[static_cast<size_t>(place)]; }
  /// Bytes alive while each place runs, what loops hold inside of them included.
  const std::vector<int64_t>& load() const { return load_; }
  int64_t most() const;
  int32_t fullest() const;

 private:
  std::vector<Instruction*> all_;
  std::unordered_map<const Instruction*, int32_t> place_;
  std::vector<int64_t> bytes_, load_;
  std::vector<int32_t> last_;
};

}  // namespace lowtide::engine
