#pragma once
/// Memory of the process: what there is, and pages of our own with guards around them.

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

/// What this process may still take before it is refused, killed, or makes the machine swap. Pages of files that can be
/// read again are there for the taking, in the machine and in its control groups. `root` stands before /proc and /sys.
AvailableMemory available_memory(const std::string& root = "");

/// Of an allocation that failed: how much there is, and by what it is bound.
Status out_of_memory();

/// Pages of zeros between two pages that may not be touched. Empty without bytes.
class Pages {
 public:
  Pages() = default;
  /// Exactly `bytes`, rounded up to pages; large ones begin where huge pages can. Fault::kLimit where there is no room;
  /// `what` names them there: "the arena".
  static Result<Pages> make(int64_t bytes, const std::string& what);
  Pages(Pages&& other) noexcept { *this = std::move(other); }
  Pages& operator=(Pages&& other) noexcept;
  ~Pages();

  std::byte* data() const { return data_; }
  int64_t size() const { return size_; }  ///< as asked for
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
