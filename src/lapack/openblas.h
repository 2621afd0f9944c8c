#pragma once
/// The functions of OpenBLAS, bound at run time.

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "lapack/lapack.h"

namespace lowtide::engine {

struct OpenBlas {
  std::array<std::array<void*, 4>, kLapackRoutines> routines{};  ///< of f32, f64, c64, c128
  std::array<void*, 4> gemm{}, herk{};                           ///< herk: syrk for real types
  /// Further routines for this code base's own algorithms (blas.h), for f32 and f64.
  enum Part : uint8_t { kGemv, kLarfg, kStedc, kSterf, kBdsdc, kLarfb, kLaed2, kLaed4, kLamrg, kParts };
  std::array<std::array<void*, 2>, kParts> parts{};
  /// The environment that OpenBLAS chose its kernels with, kept because another thread may still be reading it.
  std::vector<char*> environment;
  std::string kernels;
};

/// Loaded once, never unloaded; null if it isn't installed or lacks a function.
const OpenBlas* open_blas();

/// The column of the tables above: 0 to 3 for f32, f64, c64, c128.
size_t blas_column(ElementType type);

/// Calls by the Fortran convention: all arguments by address, followed by the length of each text argument, by value.
template <class... Arguments>
void call_blas(void* function, Arguments... arguments) {
  reinterpret_cast<void (*)(Arguments...)>(function)(arguments...);
}

}  // namespace lowtide::engine
