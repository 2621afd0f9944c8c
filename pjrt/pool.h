#pragma once
/// Pages for large arrays and for arenas: a few that nobody uses are kept for the next, the rest goes back to the
/// machine at once, which the heap would not do.

#include <cstddef>
#include <mutex>
#include <vector>

namespace lowtide::pjrt {

class Pool {
 public:
  struct Rules {
    size_t most_bytes;   ///< kept
    size_t most_pieces;  ///< kept
    size_t most_slack;   ///< of a piece that is larger than asked for, as a part of that: 4 is a quarter; 0: any
  };
  struct Piece {
    void* data = nullptr;
    size_t bytes = 0;  ///< at least what was asked for
  };
  explicit Pool(Rules rules) : rules_(rules) {}
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Whatever stands there. Throws std::bad_alloc.
  Piece take(size_t bytes);
  void give_back(Piece piece) noexcept;

 private:
  const Rules rules_;
  std::mutex mutex_;
  std::vector<Piece> kept_;  ///< oldest first
  size_t kept_bytes_ = 0;
};

}  // namespace lowtide::pjrt
