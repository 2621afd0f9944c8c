#pragma once
/// For each byte, the step that wrote it last, and those that have read it since.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace lowtide::engine {

/// Bytes of one address space that a step reads, or writes.
struct ByteAccess {
  int32_t space = 0;
  int64_t begin = 0, end = 0;
  bool writes = false;
  auto operator<=>(const ByteAccess&) const = default;
};

/// The union of several steps' accesses: sorted, without overlap between accesses of the same kind.
std::vector<ByteAccess> united(std::vector<ByteAccess> accesses);

class AccessHistory {
 public:
  /// Must be called in step order. Adds the steps that must be complete before this one touches the bytes; all other
  /// conflicting steps precede these.
  void touch(const ByteAccess& access, int32_t step, std::vector<int32_t>& waits_for);

 private:
  struct Touched {
    int64_t end = 0;
    int32_t writer = -1;           ///< -1 if none
    std::vector<int32_t> readers;  ///< since then, ascending
  };
  using Place = std::pair<int32_t, int64_t>;  ///< space, first byte
  using Places = std::map<Place, Touched>;
  Places::iterator cut(int32_t space, int64_t at);

  Places touched_;  ///< disjoint
};

}  // namespace lowtide::engine
