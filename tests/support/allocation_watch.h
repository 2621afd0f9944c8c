#pragma once
/// Watches what a piece of a test takes from the heap and from the machine. Linked into test binaries only: it replaces
/// malloc and its family, and mmap, for everything that the process loads.

#include <cstdint>

namespace lowtide::engine {

/// Bytes that a run may take outside its plan.
inline constexpr int64_t kAllowedOutsidePlan = int64_t{64} << 10;

/// From its making on, in all threads. One at a time.
class AllocationWatch {
 public:
  AllocationWatch();
  ~AllocationWatch();
  AllocationWatch(const AllocationWatch&) = delete;
  AllocationWatch& operator=(const AllocationWatch&) = delete;
  /// The most bytes that were held at once of what was taken since; of mappings, all of them.
  int64_t most_bytes() const;
  /// Sanitizers have an allocator of their own: nothing is seen.
  static bool works();
};

}  // namespace lowtide::engine
