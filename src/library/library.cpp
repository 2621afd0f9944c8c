#include "library/library.h"

#include "library/routines.h"
#include "ops/dot_checks.h"
#include "ops/host_call.h"
#include "ops/lapack_call.h"

namespace lowtide::engine {
namespace {

bool is_custom_top_k(const Instruction& instruction) {
  const auto* call = instruction.if_as<CustomCallAttributes>();
  return call && call->target == "TopK";
}

}  // namespace

bool in_library(const Instruction& instruction) {
  // Doesn't load the libraries that would compute it: panels support every dot that oneDNN does.
  if (instruction.opcode == Opcode::kDot) return is_dot_in_library(instruction);
  return library_routine(instruction) != nullptr;
}

std::unique_ptr<LibraryRoutine> library_routine(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kDot: return make_dot(instruction);
    case Opcode::kConvolution: return make_convolution(instruction);
    case Opcode::kSort: return make_sort(instruction);
    case Opcode::kCholesky: return make_cholesky(instruction);
    case Opcode::kTriangularSolve: return make_triangular_solve(instruction);
    case Opcode::kTopK: return make_top_k(instruction);
    case Opcode::kFft: return make_fft(instruction);
    case Opcode::kCustomCall:
      if (is_lapack_call(instruction)) return make_lapack(instruction);
      if (is_host_call(instruction)) return make_host_call(instruction);
      return is_custom_top_k(instruction) ? make_top_k(instruction) : nullptr;
    default: return nullptr;
  }
}

int library_in_place(const Instruction& instruction, int64_t leaf) {
  if (instruction.opcode == Opcode::kDot && has_addend(instruction)) return 2;
  // A line is permuted as a whole before it is written.
  if (instruction.opcode == Opcode::kSort) return static_cast<int>(leaf);
  if (instruction.opcode == Opcode::kCholesky) return 0;
  // A block of lines is read as a whole before it is written.
  if (instruction.opcode == Opcode::kFft && instruction.shape.type == instruction.operand(0).shape.type) return 0;
  if (instruction.opcode == Opcode::kTriangularSolve) return 1;
  if (is_lapack_call(instruction)) return lapack_in_place(instruction, leaf);
  return -1;
}

}  // namespace lowtide::engine
