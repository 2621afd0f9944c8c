#pragma once
/// Special functions in f32 and f64, composed of elementary ones by the approximations that XLA uses for chlo.

#include "text/stablehlo/arithmetic.h"

namespace lowtide::engine {

Term erf_inv_of(const Term& x);
Term erfc_of(const Term& x);
Term lgamma_of(const Term& x);   ///< log |gamma(x)|
Term digamma_of(const Term& x);  ///< its derivative for x > 0; NaN at the poles
Term bessel_i1e_of(const Term& x);
Term zeta_of(const Term& x, const Term& q);       ///< sum over k of (q + k)^-x
Term polygamma_of(const Term& n, const Term& x);  ///< the n-th derivative of digamma

}  // namespace lowtide::engine
