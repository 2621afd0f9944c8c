#pragma once
/// What a random program is made from. A program is a pure function of its genome, so that a smaller genome is a
/// smaller program: taking a gene away takes one operation away and leaves the choices of all others as they were.

#include <cstdint>
#include <vector>

namespace lowtide::engine {

/// One operation, and those of the computations it calls.
struct Gene {
  uint64_t seed = 0;
  std::vector<uint64_t> inner;
};

struct Genome {
  uint64_t seed = 0;                 ///< module-wide choices: donation, the root's form
  std::vector<uint64_t> parameters;  ///< one seed for each
  std::vector<Gene> genes;
  bool for_xla = false;  ///< leave out what XLA:CPU has no code for
};

/// splitmix64's mixing function.
inline uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// A stream of choices from one seed.
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(mix(seed)) {}
  uint64_t next() { return mix(state_ += 0x632BE59BD9B4E019u); }
  /// Uniform in [0, n).
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool one_in(int64_t n) { return below(n) == 0; }
  template <class List>
  const auto& of(const List& list) {
    return list[below(static_cast<int64_t>(std::size(list)))];
  }

 private:
  uint64_t state_;
};

}  // namespace lowtide::engine
