#pragma once
/// Replaces a scaled-dot by a dot of scaled operands.
///
///                                            A = convert(a) * reshape(broadcast(convert(s)))
///     r = scaled-dot(a, b, s, t), ...   ==>  B = convert(b) * reshape(broadcast(convert(t)))
///                                            r = convert(dot(A, B), ...)
///
/// Saves nothing by itself: products read their operands through the operations that compute them, and operands of
/// small floats stay small.
///
/// Requires: verified.  Keeps: roots, donation, schedule.
/// Numerics: exact, by the definition in ops/scaled_dot.cpp.
/// Tests: tests/text/passes/spell-scaled-products/, tests/text/eval/scaled_dot_*.hlo

#include "passes/pass.h"

namespace lowtide::engine {

Result<PassResult> spell_scaled_products(Module& module);

}  // namespace lowtide::engine
