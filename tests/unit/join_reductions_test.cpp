#include "nest/join_reductions.h"

#include "region_test_support.h"

namespace lowtide::engine {
namespace {

std::string with_folds(const std::string& body) {
  return "HloModule m\nadd { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
         "max { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] maximum(a, b) }\n"
         "ENTRY main {\n" +
         body + "\n}\n";
}

/// The nest of a computation with its reductions joined; it must still be legal, and the same the second time.
std::string joined(const std::string& body) {
  const OneRegion one = one_region(with_folds(body));
  const Nest nest = join_reductions(lower(one.region));
  EXPECT_EQ(check_nest(nest), "");
  EXPECT_EQ(to_text(join_reductions(nest)), to_text(nest));
  return to_text(nest);
}

size_t reductions_in(const std::string& text) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find("  reduce ", at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(JoinReductions, OfTheSameTerms) {
  EXPECT_EQ(joined(R"(
  x = f32[50,32] parameter(0)
  t = f32[50,32] tanh(x)
  s = f32[50,32] multiply(t, t)
  zero = f32[] constant(0)
  a = f32[50] reduce(t, zero), dimensions={1}, to_apply=add
  b = f32[50] reduce(s, zero), dimensions={1}, to_apply=add
  h = f32[50] tanh(a)
  ROOT y = f32[50] subtract(b, h))"),
            R"(buffer b0 f32[1600] read
buffer b1 f32[50] written
parallel i0 < 50
  reduce i1 < 32 carrying f32 c1.0 = f32:0x0, f32 c1.1 = f32:0x0 neutral f32:0x80000000, f32:0x80000000
    combine
      %0 = f32 add(a0, a2)
      %1 = f32 add(a1, a3)
      give %0, %1
    %0 = f32 b0[32 * i0 + i1]
    %1 = f32 tanh(%0)
    %2 = f32 multiply(%1, %1)
    %3 = f32 add(c1.0, %2)
    %4 = f32 add(c1.1, %1)
    next %3, %4
  %5 = f32 tanh(r1.1)
  %6 = f32 subtract(r1.0, %5)
  b1[i0] = %6
)");
}

TEST(JoinReductions, OfTheSameInnerReduction) {
  const std::string text = joined(R"(
  a = f32[40,20] parameter(0)
  b = f32[30,20] parameter(1)
  d = f32[40,30] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  zero = f32[] constant(0)
  s = f32[40] reduce(d, zero), dimensions={1}, to_apply=add
  m = f32[40] reduce(d, zero), dimensions={1}, to_apply=max
  ROOT y = f32[40] add(s, m))");
  EXPECT_EQ(reductions_in(text), 2U) << text;
}

TEST(JoinReductions, OthersStay) {
  for (const char* body :
       {// the second needs the first
        "m = f32[50] reduce(x, zero), dimensions={1}, to_apply=max\n g = f32[50,32] broadcast(m), dimensions={0}\n"
        " d = f32[50,32] subtract(x, g)\n e = f32[50,32] exponential(d)\n"
        " s = f32[50] reduce(e, zero), dimensions={1}, to_apply=add\n ROOT y = f32[50] add(m, s)",
        // nothing but a short row is shared
        "m = f32[50] reduce(x, zero), dimensions={1}, to_apply=max\n"
        " s = f32[50] reduce(x, zero), dimensions={1}, to_apply=add\n ROOT y = f32[50] add(m, s)",
        // the terms differ
        "e = f32[50,32] exponential(x)\n t = f32[50,32] tanh(x)\n"
        " m = f32[50] reduce(e, zero), dimensions={1}, to_apply=add\n"
        " s = f32[50] reduce(t, zero), dimensions={1}, to_apply=add\n ROOT y = f32[50] add(m, s)"}) {
    const OneRegion one =
        one_region(with_folds(std::string("x = f32[50,32] parameter(0)\n zero = f32[] constant(0)\n ") + body));
    const Nest nest = lower(one.region);
    EXPECT_EQ(reductions_in(to_text(nest)), 2U) << body;
    EXPECT_EQ(to_text(join_reductions(nest)), to_text(nest)) << body;
  }
}

}  // namespace
}  // namespace lowtide::engine
