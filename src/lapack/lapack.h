#pragma once
/// LAPACK on one problem: column-major, as OpenBLAS has it. The library is loaded when the first routine is asked for;
/// it computes in the calling thread only, and takes no memory but the workspace stated here and its own panels, one
/// set per thread, which are there before anything runs.

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/element_type.h"

namespace lowtide::engine {

/// Named as the real ones are; complex ones are called otherwise now and then (ungqr, heevd).
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
  int32_t k = 0;         ///< reflectors of orgqr and ormqr; of gesdd and gesvd: whether all singular vectors have room
  char uplo = 'L', side = 'L', trans = 'N', diag = 'N';
  char mode = 'N';               ///< jobz and the like: which vectors are wanted
  char left = 'N', right = 'N';  ///< eigenvectors of geev
  int32_t low = 1, high = 0;     ///< rows that gehrd reduces, from 1
  int32_t lead = 0;       ///< between columns of the matrix that is overwritten; 0: m. For potrf, getrf, trsm and geqrf
  int32_t read_lead = 0;  ///< between columns of trsm's triangle; 0: its rows
};

/// Is OpenBLAS installed, with everything that is asked of it?
bool has_lapack();
/// Of run_lapack; 64-byte aligned. Needs has_lapack().
int64_t lapack_workspace_bytes(const LapackProblem& problem);
/// `results` as the custom calls of JAX order them, those that live in operands filled with them; matrices
/// column-major. `read`: operands that aren't results, in their order: the triangle of trsm, tau of orgqr, reflectors
/// and tau of ormqr, and the matrix of geev, which is overwritten.
void run_lapack(const LapackProblem& problem, std::span<void* const> results, std::span<void* const> read,
                void* workspace);
/// What blocked algorithms update with: c -= op(a) op(b), c of m x n, over k.
struct LapackProduct {
  ElementType type = ElementType::kF32;
  char trans_a = 'N', trans_b = 'N';  ///< 'C' is 'T' for real numbers
  int32_t m = 0, n = 0, k = 0;
  int32_t lead = 0;                ///< of all three
  int32_t a_lead = 0, b_lead = 0;  ///< where theirs are others; without a triangle
  /// b is a, conjugated and transposed: only this triangle of c, square, changes. 0: all of it.
  char triangle = 0;
};
void subtract_product(const LapackProduct& product, const void* a, const void* b, void* c);

}  // namespace lowtide::engine
