/// The remainder of a truncated division, exactly.

#include "nest/plain/functions.h"

namespace lowtide::engine {
namespace {

/// The exponent of a positive float, which may be denormal.
Plain exponent_of(Plain x) {
  const bool narrow = is_f32(x);
  const Plain tiny = x < (narrow ? 0x1p-126 : 0x1p-1022);
  const Plain raw = bits_of(select(tiny, x * (narrow ? 0x1p32 : 0x1p60), x));
  const Plain exponent = shift_right_arithmetic(raw, narrow ? 23 : 52);
  return select(tiny, exponent - (narrow ? 32 : 60), exponent);
}

/// x modulo d 2^k with the largest k that leaves the quotient exact: x >= 0, d > 0, finite.
Plain one_step(Plain x, Plain d) {
  const Plain distance = exponent_of(x) - exponent_of(d) - (is_f32(x) ? 22 : 51);
  const Plain k = select(distance > 0, distance, 0);
  const Plain half = shift_right_arithmetic(k, 1);
  const Plain divisor = d * power_of_two(half) * power_of_two(k - half);
  const Plain quotient = (x / divisor).apply(Opcode::kFloor);
  const Plain rest = fma(-quotient, divisor, x);  // exact; the quotient may be one too large by rounding
  return select(rest < 0.0, rest + divisor, rest);
}

Plain unfinished(Plain x, Plain d) { return (x >= d) & (x < infinity()) & (d > 0.0); }

}  // namespace

Plain float_remainder(Plain x, Plain y) {
  const Plain magnitude = absolute(x), divisor = absolute(y);
  Plain rest = one_step(magnitude, divisor);
  rest = select(magnitude < divisor, magnitude, rest);
  if (x.straight) {
    const int steps = is_f32(x) ? 13 : 42;  // exponents differ by up to 277 and 2098
    for (int i = 0; i < steps; ++i) rest = select(unfinished(rest, divisor), one_step(rest, divisor), rest);
  } else {
    PlainNest& nest = *x.nest;
    const std::vector<NodeId> initial = {rest.id, divisor.id};
    const int32_t loop = nest.begin_while(initial);
    const Plain now = x.with(nest.carried(loop, 0)), by = x.with(nest.carried(loop, 1));
    nest.begin_while_body(loop, unfinished(now, by).id);
    const std::vector<NodeId> next = {one_step(now, by).id, by.id};
    rest = x.with(nest.end_carrying(loop, next)[0]);
  }
  const Plain defined = (magnitude < infinity()) & (divisor > 0.0);
  return select(defined, with_sign_of(rest, x), not_a_number());
}

}  // namespace lowtide::engine
