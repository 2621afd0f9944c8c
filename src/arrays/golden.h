#pragma once
/// Functions of float32 with the same bits as MLX's on a CPU, for random numbers. They round as the libraries that MLX
/// uses (glibc's logf and log1pf, fused multiplications), and are no more accurate than those.

#include "arrays/lowering.h"

namespace lowtide::lazy {

/// Words divided by 2^32, as float32 numbers that stay below 1 when rounded to `dtype`.
Term golden_uniform(const Term& words, Dtype dtype);
Term golden_log(const Term& x);
Term golden_log1p(const Term& x);  ///< for -1 < x <= 0
Term golden_exp(const Term& x);
Term golden_erf(const Term& x);  ///< within 1e-7
Term golden_erfinv(const Term& x);

}  // namespace lowtide::lazy
