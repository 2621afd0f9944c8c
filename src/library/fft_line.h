#pragma once
/// Discrete Fourier transforms of several lines at once, in f64 whatever the arrays hold: rounded once, at the end.
/// Cooley and Tukey's factors 4, 2, 3, 5 and other small primes, sorted on the way (Stockham); lengths with large
/// primes as convolutions (Bluestein).

#include <cstdint>
#include <vector>

namespace lowtide::engine {

/// A complex number; plain, so that loops over many become vectors.
struct Wave {
  double re = 0, im = 0;
};

class FftLine {
 public:
  explicit FftLine(int64_t length);

  int64_t length() const { return length_; }
  /// Numbers that a table for all lines has, and that a block of `lines` takes to be transformed.
  int64_t table_size() const;
  int64_t room_size(int64_t lines) const { return 2 * inner_ * lines; }

  void fill_table(Wave* table) const;
  /// X[k] = sum over j of x[j] exp(-2 pi i j k / length). Element i of line b is room[i * lines + b], before and, at
  /// the address that is returned, behind it.
  Wave* transform(const Wave* table, int64_t lines, Wave* room) const;

 private:
  Wave* by_factors(const Wave* roots, int64_t lines, Wave* from, Wave* to) const;

  int64_t length_;
  int64_t inner_;                 ///< length of what factors transform: Bluestein's is longer
  std::vector<int64_t> factors_;  ///< of inner_
};

}  // namespace lowtide::engine
