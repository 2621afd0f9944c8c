#pragma once
/// Complex numbers as pairs of plain nodes, f32 or f64. Functions follow src/ops/functions.h.

#include "ir/opcode.h"
#include "nest/plain/plain.h"

namespace lowtide::engine {

struct PlainComplex {
  Plain re, im;
};

inline PlainComplex operator+(PlainComplex a, PlainComplex b) { return {a.re + b.re, a.im + b.im}; }
inline PlainComplex operator-(PlainComplex a, PlainComplex b) { return {a.re - b.re, a.im - b.im}; }
inline PlainComplex operator-(PlainComplex a) { return {-a.re, -a.im}; }
PlainComplex operator*(PlainComplex a, PlainComplex b);
PlainComplex operator/(PlainComplex a, PlainComplex b);
PlainComplex select(Plain predicate, PlainComplex then, PlainComplex otherwise);

/// An operation of HLO with a complex result, on one or two complex numbers. Functions of c64 are computed in f64.
PlainComplex complex_operation(Opcode opcode, PlainComplex a);
PlainComplex complex_operation(Opcode opcode, PlainComplex a, PlainComplex b);

}  // namespace lowtide::engine
