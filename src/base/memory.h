#pragma once
/// Memory of the process: how much is available, and pages with guard pages around them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/status.h"

namespace lowtide::engine {

struct AvailableMemory {
  int64_t bytes = 0;
  std::string bound_by;  ///< "this machine", "the control group", "RLIMIT_AS", "RLIMIT_DATA"
};

/// The memory that this process may still allocate before allocations fail, it is killed, or the machine swaps. Pages
/// of files that can be read again count as available, in the machine and in its control groups. `root` is a prefix of
/// /proc and /sys.
AvailableMemory available_memory(const std::string& root = "");

/// The fault of a failed allocation: states how much memory is available, and what limits it.
Status out_of_memory();

/// Pages of zeros between two inaccessible guard pages. Empty for 0 bytes.
class Pages {
 public:
  Pages() = default;
  /// Exactly `bytes`, rounded up to pages; large ones are aligned for huge pages. Fault::kLimit if there isn't enough
  /// memory; the message calls them `what`: "the arena".
  static Result<Pages> make(int64_t bytes, const std::string& what);
  Pages(Pages&& other) noexcept { *this = std::move(other); }
  Pages& operator=(Pages&& other) noexcept;
  ~Pages();

  std::byte* data() const { return data_; }
  int64_t size() const { return size_; }  ///< as requested
  /// Gives the pages back to the machine; they are zeros again.
  void forget();

 private:
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
  void* reserved_ = nullptr;
  size_t reserved_bytes_ = 0;
};

/// Bytes of the pages in this range that the process holds in memory.
int64_t resident_bytes(std::span<const std::byte> range);

}  // namespace lowtide::engine
