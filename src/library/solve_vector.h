#pragma once
/// Triangular systems with one vector: the triangle is read once, along its rows.

#include <cstdint>

namespace lowtide::engine {

struct TriangleForm {
  bool is_lower = true, is_transposed = false, has_unit_diagonal = false;
};

/// x[n] = inverse of T, or of its transpose, times x; T is the triangle of a row-major [n, n] matrix, whose other
/// elements aren't read.
void solve_vector(const float* matrix, int64_t n, TriangleForm form, float* x);
void solve_vector(const double* matrix, int64_t n, TriangleForm form, double* x);

}  // namespace lowtide::engine
