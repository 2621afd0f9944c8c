#pragma once
/// Replaces a dot without contracting dimensions by a multiplication.
///
///     y = f32[K,T] dot(x, w), batch {K}, contracting none         y = f32[K,T] multiply(x, broadcast(w))
///     x f32[K,T], w f32[K]                                  ==>
///
/// Saves bytes(y), and operands packed for a library: a product of elements is computed where it is read, and its
/// operands may be recomputed. An einsum that scales by a vector, as written in RMSNorm, is such a dot.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: value-exact: one product, rounded once; the sum's zero would have turned -0 into 0.
/// Not rewritten: results of a type narrower than an operand's.
/// Tests: tests/text/passes/multiply-outer-products/

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> multiply_outer_products(Module& module);

}  // namespace lowtide::engine
