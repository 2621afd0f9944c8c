#pragma once
/// The functions of OpenBLAS, bound at run time.

#include <array>
#include <cstddef>

#include "lapack/lapack.h"

namespace lowtide::engine {

struct OpenBlas {
  std::array<std::array<void*, 4>, kLapackRoutines> routines{};  ///< of f32, f64, c64, c128
  std::array<void*, 4> gemm{}, herk{};                           ///< herk: syrk of real ones
  /// What algorithms of our own are made of (blas.h), of f32 and f64.
  enum Part : uint8_t { kGemv, kLarfg, kStedc, kSterf, kBdsdc, kLarfb, kLaed2, kLaed4, kLamrg, kParts };
  std::array<std::array<void*, 2>, kParts> parts{};
};

/// Loaded once, never unloaded; null where it isn't there.
const OpenBlas* open_blas();

/// 0 to 3 for f32, f64, c64, c128.
size_t blas_column(ElementType type);

/// Fortran: everything by address, followed by the length of each text argument, by value.
template <class... Arguments>
void call_blas(void* function, Arguments... arguments) {
  reinterpret_cast<void (*)(Arguments...)>(function)(arguments...);
}

}  // namespace lowtide::engine
