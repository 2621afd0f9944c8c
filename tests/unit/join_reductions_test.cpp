#include "nest/join_reductions.h"

#include "nest/builder.h"
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

/// Two sums of the same terms, with a loop between that writes some of them, or another array.
Nest sums_around_stores(bool over_the_terms) {
  constexpr ElementType kType = ElementType::kF32;
  NestBuilder nest;
  const int32_t terms = nest.add_buffer(kType, 50 * 32), other = nest.add_buffer(kType, 50 * 4),
                sums = nest.add_buffer(kType, 50);
  const int32_t rows = nest.begin_parallel(50);
  const Affine row = nest.index_of(rows);
  auto add = std::make_shared<Function>();
  add->argument_count = 2;
  add->nodes = {{.kind = NodeKind::kArgument, .type = kType, .slot = 0},
                {.kind = NodeKind::kArgument, .type = kType, .slot = 1},
                {.kind = NodeKind::kOperation, .opcode = Opcode::kAdd, .type = kType, .operands = {0, 1}}};
  add->results = {2};
  const auto sum = [&] {
    const NodeId zero = nest.number(kType, 0), neutral = nest.number(kType, -0.0);
    const int32_t loop = nest.begin_reduce(32, {&zero, 1}, add, {&neutral, 1});
    const NodeId term = nest.load(terms, nest.plus(nest.times(row, 32), nest.index_of(loop)), true);
    const NodeId made = nest.operation(Opcode::kTanh, kType, {term});
    const NodeId next = nest.operation(Opcode::kAdd, kType, {nest.carried(loop, 0), made});
    return nest.end_carrying(loop, {&next, 1})[0];
  };
  const NodeId first = sum();
  const int32_t columns = nest.begin_parallel(4);
  nest.store(over_the_terms ? terms : other,
             nest.plus(nest.times(row, over_the_terms ? 32 : 4), nest.index_of(columns)), nest.number(kType, 1));
  nest.end_parallel(columns);
  const NodeId second = sum();
  nest.store(sums, row, nest.operation(Opcode::kSubtract, kType, {first, second}));
  nest.end_parallel(rows);
  return nest.take();
}

TEST(JoinReductions, NotAcrossStores) {
  for (const bool over_the_terms : {true, false}) {
    const Nest nest = sums_around_stores(over_the_terms);
    ASSERT_EQ(check_nest(nest), "");
    ASSERT_EQ(reductions_in(to_text(nest)), 2U) << to_text(nest);
    EXPECT_EQ(to_text(join_reductions(nest)), to_text(nest));
  }
}

}  // namespace
}  // namespace lowtide::engine
