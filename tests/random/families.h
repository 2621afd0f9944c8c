#pragma once
/// Rules of the families that have a file of their own, facts and maker side by side.

#include "bounds.h"

namespace lowtide::engine {

Maybe fact_of_batch_norm(const Instruction&, const Facts&);
Maybe fact_of_select_and_scatter(const Instruction&, const Facts&);
/// Elementwise operations that take or give complex numbers.
Maybe fact_of_complex(const Instruction&, const Facts&);
/// Of a product of complex numbers, unrounded.
Fact complex_product(const Fact& a, const Fact& b);
Maybe fact_of_fft(const Instruction&, const Facts&);
Maybe fact_of_triangular_solve(const Instruction&, const Facts&);
Maybe fact_of_cholesky(const Instruction&, const Facts&);
Maybe fact_of_random_bits(const Instruction&, const Facts&);
/// Of hyperbolic and inverse functions.
Maybe fact_of_inverse(Opcode, const Shape&, const Fact&);
Maybe fact_of_top_k(const Instruction&, const Facts&);
Maybe fact_of_scan(const Instruction&, const Facts&);

}  // namespace lowtide::engine
