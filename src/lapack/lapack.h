#pragma once
/// LAPACK on one column-major problem. OpenBLAS is loaded when the first routine is requested; it computes in the
/// calling thread only, and allocates no memory but the workspace stated here and its own packing buffers, one set per
/// thread, which exist before anything runs.

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/element_type.h"

namespace lowtide::engine {

/// Named after the real routines; some complex ones have other names (ungqr, heevd).
enum class LapackRoutine : uint8_t {
  kPotrf,
  kGetrf,
  kTrsm,
  kGeqrf,
  kOrgqr,
  kOrmqr,
  kGeqp3,
  kGesdd,
  kGesvd,
  kSyevd,
  kGeev,
  kGees,
  kGehrd,
  kSytrd,
  kGtsv,
};
inline constexpr int kLapackRoutines = 15;

/// "potrf" or "ungqr" for this element type: f32, f64, c64 or c128.
std::string_view lapack_name(LapackRoutine routine, ElementType type);

struct LapackProblem {
  LapackRoutine routine = LapackRoutine::kPotrf;
  ElementType type = ElementType::kF32;
  int32_t m = 0, n = 0;  ///< of the matrix that is overwritten
  int32_t k = 0;         ///< orgqr, ormqr: reflectors; gesdd, gesvd: nonzero if all singular vectors have room
  char uplo = 'L', side = 'L', trans = 'N', diag = 'N';
  char mode = 'N';               ///< jobz and similar: which vectors are wanted
  char left = 'N', right = 'N';  ///< eigenvectors of geev
  int32_t low = 1, high = 0;     ///< rows that gehrd reduces, from 1
  int32_t lead = 0;       ///< stride between columns of the overwritten matrix, for potrf, getrf, trsm and geqrf; 0: m
  int32_t read_lead = 0;  ///< stride between columns of trsm's triangle; 0: its rows
};

/// Is OpenBLAS installed, with all functions used here?
bool has_lapack();
/// Workspace of run_lapack; 64-byte aligned. Needs has_lapack().
int64_t lapack_workspace_bytes(const LapackProblem& problem);
/// `results` in the order of JAX's custom calls; results that share memory with operands must hold these already.
/// Matrices are column-major. `read`: operands that aren't results, in their order: trsm's triangle, orgqr's tau,
/// ormqr's reflectors and tau, and geev's matrix, which is overwritten.
void run_lapack(const LapackProblem& problem, std::span<void* const> results, std::span<void* const> read,
                void* workspace);
/// The update of blocked algorithms: c -= op(a) op(b), c of m x n, over k.
struct LapackProduct {
  ElementType type = ElementType::kF32;
  char trans_a = 'N', trans_b = 'N';  ///< 'C' is 'T' for real numbers
  int32_t m = 0, n = 0, k = 0;
  int32_t lead = 0;                ///< leading dimension of all three
  int32_t a_lead = 0, b_lead = 0;  ///< of a and b if different; not with a triangle
  /// If nonzero, b is a, conjugated and transposed, and only this triangle of the square c changes. 0: all of c
  /// changes.
  char triangle = 0;
};
void subtract_product(const LapackProduct& product, const void* a, const void* b, void* c);

}  // namespace lowtide::engine
