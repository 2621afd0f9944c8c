#pragma once
/// Pages for large arrays and for arenas: a few unused pieces are cached, the rest is returned to the system at once,
/// which the heap would not do.

#include <cstddef>
#include <mutex>
#include <vector>

namespace lowtide::pjrt {

class Pool {
 public:
  struct Rules {
    size_t most_bytes;   ///< to cache
    size_t most_pieces;  ///< to cache
    size_t
        most_slack;  ///< excess of a cached piece over the requested size, as a divisor of it: 4 is a quarter; 0: any
  };
  struct Piece {
    void* data = nullptr;
    size_t bytes = 0;  ///< at least the requested size
  };
  explicit Pool(Rules rules) : rules_(rules) {}
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// A piece with arbitrary content. Throws std::bad_alloc.
  Piece take(size_t bytes);
  void give_back(Piece piece) noexcept;

 private:
  const Rules rules_;
  std::mutex mutex_;
  std::vector<Piece> kept_;  ///< oldest first
  size_t kept_bytes_ = 0;
};

}  // namespace lowtide::pjrt
