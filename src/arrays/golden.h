#pragma once
/// Functions of float32 whose results are those of MLX on a CPU to the bit: what random numbers are made of. They round
/// as its libraries do (glibc's logf and log1pf, fused multiplications), and are no more accurate than those.

#include "arrays/lowering.h"

namespace lowtide::lazy {

/// Of words: their share of 2^32, below 1 in `dtype`; still float32.
Term golden_uniform(const Term& words, Dtype dtype);
Term golden_log(const Term& x);
Term golden_log1p(const Term& x);  ///< for -1 < x <= 0
Term golden_exp(const Term& x);
Term golden_erf(const Term& x);  ///< to 1e-7
Term golden_erfinv(const Term& x);

}  // namespace lowtide::lazy
