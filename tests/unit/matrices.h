#pragma once
/// Matrices of a batch in f64, and LAPACK's custom calls on them: what tests hold results to.

#include <random>

#include "library_test_support.h"

namespace lowtide::engine::library_test {

using Numbers = std::vector<double>;

/// Matrices of one batch, row-major, in f64 whatever they came as.
struct Matrices {
  int64_t rows, columns;
  Numbers numbers;
  double& operator()(int64_t b, int64_t i, int64_t j) { return numbers[(b * rows + i) * columns + j]; }
  double operator()(int64_t b, int64_t i, int64_t j) const { return numbers[(b * rows + i) * columns + j]; }
};

struct Problem {
  std::string type;  ///< f32 or f64
  int64_t batch, m, n;
  double epsilon() const { return type == "f32" ? 0x1p-23 : 0x1p-52; }
  double tolerance() const { return 30 * static_cast<double>(std::max(m, n)) * epsilon(); }
  std::string words() const;
};

struct Array {
  std::string type;
  std::vector<int64_t> dims;
  std::string text() const;
};

inline Array matrix(const Problem& p) { return {p.type, {p.batch, p.m, p.n}}; }
inline Array vector(const Problem& p, int64_t n) { return {p.type, {p.batch, n}}; }
inline Array info(const Problem& p) { return {"s32", {p.batch}}; }

/// Normal random numbers, as they are in the problem's type.
Matrices draw(const Problem& p, std::mt19937& random);

/// The custom call's results, the same bits by one thread, by three, and in place.
std::vector<Numbers> call(const std::string& routine, const std::string& config, const std::vector<Array>& operands,
                          const std::vector<Array>& results, const std::vector<Numbers>& given);

Matrices product(const Matrices& a, const Matrices& b, bool transposes_b = false);
Matrices transposed(const Matrices& a);
/// Beside the largest of what is wanted; nothing else than numbers.
void expect_near(const Matrices& got, const Matrices& want, double tolerance);
void expect_orthonormal_columns(const Matrices& q, double tolerance);

}  // namespace lowtide::engine::library_test
