#pragma once
/// The makers that library.h uses, one per operation. Each returns null for instances that it doesn't support.

#include "library/library.h"

namespace lowtide::engine {

bool is_dot_in_library(const Instruction& dot);
std::unique_ptr<LibraryRoutine> make_dot(const Instruction& dot);
std::unique_ptr<LibraryRoutine> make_convolution(const Instruction& convolution);
std::unique_ptr<LibraryRoutine> make_sort(const Instruction& sort);
/// topk, and the custom call of the same meaning.
std::unique_ptr<LibraryRoutine> make_top_k(const Instruction& instruction);

std::unique_ptr<LibraryRoutine> make_fft(const Instruction& fft);

/// The custom calls of ops/lapack_call.h.
std::unique_ptr<LibraryRoutine> make_lapack(const Instruction& call);
int lapack_in_place(const Instruction& call, int64_t leaf);
/// The custom calls of ops/host_call.h.
std::unique_ptr<LibraryRoutine> make_host_call(const Instruction& call);

std::unique_ptr<LibraryRoutine> make_cholesky(const Instruction& cholesky);
std::unique_ptr<LibraryRoutine> make_triangular_solve(const Instruction& solve);

}  // namespace lowtide::engine
