/// Whole nests, with their loops and combining functions: legalised ones executed by definition, against the
/// interpreter.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "nest/legalise.h"
#include "region_test_support.h"

namespace lowtide::engine {
namespace {

/// The parts of an element as numbers.
std::vector<double> numbers_of(const Literal& array, int64_t i) {
  return dispatch(array.shape().type, [&]<class T>() -> std::vector<double> {
    const T element = array.data<T>()[i];
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      return {static_cast<double>(element.real()), static_cast<double>(element.imag())};
    } else {
      return {number_at(array, i)};
    }
  });
}

/// The largest difference to the interpreter's results, relative to the larger of 1 and the value.
double legalised_differs_by(const std::string& text, const std::function<void(Nest&)>& change = nullptr) {
  const OneRegion one = one_region(text);
  Nest nest = legalise(lower(one.region));
  EXPECT_EQ(check_nest(nest), "") << to_text(nest);
  EXPECT_EQ(check_plain(nest), "") << to_text(nest);
  if (change) change(nest);
  const std::vector<Value> arguments = seeded_arguments(*one.module, 3);
  const auto expected = interpret(*one.module, arguments);
  EXPECT_TRUE(expected.ok()) << expected.status().message();
  const std::vector<Value> results = execute_region(one, nest, arguments);
  double most = 0;
  for (size_t k = 0; k < results.size(); ++k) {
    for (int64_t i = 0; i < results[k]->size(); ++i) {
      const auto a = numbers_of(*results[k], i), b = numbers_of(*(*expected)[k], i);
      for (size_t part = 0; part < a.size(); ++part) {
        const double off = std::fabs(a[part] - b[part]) / std::max(1.0, std::fabs(b[part]));
        most = off <= most ? most : off;  // NaN is as wrong as can be
        if (std::isnan(off)) most = 1e9;
      }
    }
  }
  return most;
}

std::string reduction(const char* type, const char* combine, const char* start) {
  return fmt::format(R"(HloModule m
f {{ a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT c = {0}[] {1}(a, b) }}
ENTRY main {{
  x = {0}[5,37] parameter(0)
  z = {0}[] constant({2})
  ROOT s = {0}[5] reduce(x, z), dimensions={{1}}, to_apply=f
}})",
                     type, combine, start);
}

TEST(LegaliseNests, CombinesInEveryType) {
  for (const char* type : {"bf16", "f16", "f8e4m3fn", "s4", "u2", "s8", "s32", "u64"}) {
    for (const char* combine : {"add", "multiply", "maximum", "minimum"}) {
      const bool sum = combine[0] == 'a' || combine[0] == 'm';
      EXPECT_EQ(legalised_differs_by(reduction(type, combine, sum ? "1" : "0")), 0) << type << " " << combine;
    }
  }
  for (const char* type : {"f32", "f64"}) {
    for (const char* combine : {"add", "multiply", "maximum", "minimum"}) {
      EXPECT_LE(legalised_differs_by(reduction(type, combine, "1")), 1e-6) << type << " " << combine;
    }
  }
  EXPECT_LE(legalised_differs_by(reduction("c64", "add", "(1,2)")), 1e-6);
  EXPECT_LE(legalised_differs_by(reduction("c128", "multiply", "(1,0.5)")), 1e-12);
  EXPECT_EQ(legalised_differs_by(reduction("pred", "and", "true")), 0);
  EXPECT_EQ(legalised_differs_by(reduction("pred", "or", "false")), 0);
}

/// How the only reduction of a program is made.
LoopKind kind_of_fold(const std::string& text, bool sums_in_order) {
  const OneRegion one = one_region(text);
  const Nest nest = legalise(lower(one.region), {.sums_in_order = sums_in_order});
  EXPECT_EQ(check_nest(nest), "") << to_text(nest);
  EXPECT_EQ(check_plain(nest), "") << to_text(nest);
  const auto carries = [](const Loop& loop) { return !loop.carried.empty(); };
  const auto fold = std::ranges::find_if(nest.loops, carries);
  EXPECT_NE(fold, nest.loops.end());
  return fold->kind;
}

TEST(LegaliseNests, SumsInOrder) {
  for (const char* type : {"f32", "bf16", "f64", "c64"}) {
    const std::string sum = reduction(type, "add", type[0] == 'c' ? "(0,0)" : "0");
    EXPECT_EQ(kind_of_fold(sum, true), LoopKind::kSequential) << type;
    EXPECT_EQ(kind_of_fold(sum, false), LoopKind::kReduce) << type;  // those of bf16 are sums of f32
  }
  EXPECT_EQ(kind_of_fold(reduction("c64", "multiply", "(1,0)"), false), LoopKind::kSequential);
  EXPECT_EQ(kind_of_fold(reduction("f32", "maximum", "0"), true), LoopKind::kReduce);
  EXPECT_EQ(kind_of_fold(reduction("s32", "add", "0"), true), LoopKind::kReduce);
}

/// Fused multiply-adds that a program spells in double precision.
TEST(LegaliseNests, FusesWhatDoublePrecisionRoundsOnce) {
  const auto operations = [](const std::string& sum, LegaliseOptions options = {}) {
    const OneRegion one = one_region(R"(
  x = f32[40] parameter(0)
  y = f32[40] parameter(1)
  d = f64[40] parameter(2)
  wx = f64[40] convert(x)
  wy = f64[40] convert(y)
  c = f64[] constant(0.375)
  third = f64[] constant(0.3333333333333333)
  cs = f64[40] broadcast(c), dimensions={}
  thirds = f64[40] broadcast(third), dimensions={}
  p = f64[40] multiply(wx, wy)
  scaled = f64[40] multiply(cs, wx)
)" + sum + "\n  ROOT r = f32[40] convert(s)");
    const Nest nest = legalise(lower(one.region), options);
    std::pair<int, int> fused_and_wide;
    for (const Node& node : nest.nodes) {
      fused_and_wide.first += node.kind == NodeKind::kFma && node.type == ElementType::kF32;
      fused_and_wide.second += node.kind == NodeKind::kOperation && node.type == ElementType::kF64;
    }
    return fused_and_wide;
  };
  const auto fused = std::pair(1, 0);
  EXPECT_EQ(operations("s = f64[40] add(p, cs)"), fused);
  EXPECT_EQ(operations("s = f64[40] add(wy, scaled)"), fused);
  EXPECT_EQ(operations("s = f64[40] subtract(p, wx)"), fused);
  EXPECT_EQ(operations("s = f64[40] subtract(wx, p)"), fused);
  // Not: a term that isn't a float, a product of other numbers, sums in order.
  EXPECT_EQ(operations("s = f64[40] add(p, thirds)").first, 0);
  EXPECT_EQ(operations("s = f64[40] add(p, d)").first, 0);
  EXPECT_EQ(operations("q = f64[40] multiply(wx, d)\n s = f64[40] add(q, wy)").first, 0);
  EXPECT_EQ(operations("s = f64[40] add(p, cs)", {.sums_in_order = true}).first, 0);
  EXPECT_EQ(operations("s = f64[40] add(p, cs)", {.contract_products = false}).first, 0);
}

/// Of signs and ties: against the interpreter, which rounds twice.
TEST(LegaliseNests, FusedSumsAreRight) {
  for (const char* sum : {"add(p, wz)", "subtract(p, wz)", "subtract(wz, p)"}) {
    EXPECT_EQ(legalised_differs_by(fmt::format(R"(HloModule m
ENTRY main {{
  x = f32[40] parameter(0)
  y = f32[40] parameter(1)
  z = f32[40] parameter(2)
  wx = f64[40] convert(x)
  wy = f64[40] convert(y)
  wz = f64[40] convert(z)
  p = f64[40] multiply(wx, wy)
  s = f64[40] {}
  ROOT r = f32[40] convert(s)
}})",
                                               sum)),
              0)
        << sum;
  }
}

/// 0 + x is x where x can't be -0, and rounding again changes nothing.
TEST(LegaliseNests, RoundsToBrainFloatsOnce) {
  const auto roundings = [](const char* number) {
    const OneRegion one = one_region(fmt::format(R"(
  n = u32[40] parameter(0)
  x = f32[40] parameter(1)
  f = f32[40] convert(n)
  b = bf16[40] convert({})
  z = bf16[] constant(0)
  zs = bf16[40] broadcast(z), dimensions={{}}
  ROOT s = bf16[40] add(b, zs))",
                                                 number));
    const Nest nest = legalise(lower(one.region));
    return std::ranges::count_if(nest.nodes, [](const Node& node) { return node.opcode == Opcode::kAnd; });
  };
  EXPECT_EQ(roundings("x"), 2 * roundings("f"));
}

TEST(LegaliseNests, RoundsProductsInOrder) {
  const OneRegion one = one_region(R"(
  x = f32[40] parameter(0)
  y = f32[40] parameter(1)
  z = f32[40] parameter(2)
  p = f32[40] multiply(x, y)
  ROOT s = f32[40] add(p, z))");
  const auto fused = [&](bool sums_in_order) {
    const Nest nest = legalise(lower(one.region), {.sums_in_order = sums_in_order});
    return std::ranges::any_of(nest.nodes, [](const Node& node) { return node.kind == NodeKind::kFma; });
  };
  EXPECT_TRUE(fused(false));
  EXPECT_FALSE(fused(true));
}

TEST(LegaliseNests, CombinesSeveralAtOnce) {
  EXPECT_EQ(legalised_differs_by(R"(HloModule m
f { v = bf16[] parameter(0)
  i = s32[] parameter(1)
  w = bf16[] parameter(2)
  j = s32[] parameter(3)
  more = pred[] compare(v, w), direction=GE
  x = bf16[] select(more, v, w)
  k = s32[] select(more, i, j)
  ROOT t = (bf16[], s32[]) tuple(x, k) }
ENTRY main {
  x = bf16[4,50] parameter(0)
  i = s32[4,50] iota(), iota_dimension=1
  least = bf16[] constant(-inf)
  zero = s32[] constant(0)
  ROOT r = (bf16[4], s32[4]) reduce(x, i, least, zero), dimensions={1}, to_apply=f
})"),
            0);
}

TEST(LegaliseNests, DoublesIndicesOfComplexNumbers) {
  EXPECT_LE(legalised_differs_by(R"(
  x = c64[6,7] parameter(0)
  y = c64[7,6] transpose(x), dimensions={1,0}
  r = c64[7,6] reverse(y), dimensions={0}
  e = c64[7,6] exponential(r)
  ROOT p = c64[7,6] multiply(e, y))"),
            1e-6);
  EXPECT_LE(legalised_differs_by(R"(
  x = c64[6,7] parameter(0)
  y = c64[7,5] parameter(1)
  ROOT p = c64[6,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})"),
            1e-5);
}

TEST(LegaliseNests, KeepsMovedBits) {
  EXPECT_EQ(legalised_differs_by(R"(
  x = bf16[40] parameter(0)
  u = u16[40] bitcast-convert(x)
  one = u16[] constant(1)
  ones = u16[40] broadcast(one), dimensions={}
  v = u16[40] add(u, ones)
  ROOT y = bf16[40] bitcast-convert(v))"),
            0);
}

TEST(LegaliseNests, FunctionsInsideOfFunctions) {
  EXPECT_LE(legalised_differs_by(R"(HloModule m
f { a = f32[] parameter(0)
  b = f32[] parameter(1)
  m = f32[] maximum(a, b)
  l = f32[] minimum(a, b)
  d = f32[] subtract(l, m)
  e = f32[] exponential(d)
  n = f32[] log-plus-one(e)
  ROOT c = f32[] add(m, n) }
ENTRY main {
  x = f32[5,37] parameter(0)
  z = f32[] constant(-inf)
  big = f32[] constant(1e9)
  bigs = f32[5,37] broadcast(big), dimensions={}
  y = f32[5,37] multiply(x, bigs)
  s = f32[5,37] sine(y)
  ROOT r = f32[5] reduce(s, z), dimensions={1}, to_apply=f
})"),
            1e-6);
}

/// A control: a combining function that is changed afterwards is noticed.
TEST(LegaliseNests, NoticesAWrongFunction) {
  const auto spoil = [](Nest& nest) {
    for (Loop& loop : nest.loops) {
      if (!loop.combine) continue;
      Function wrong = *loop.combine;
      wrong.results[0] = 0;
      loop.combine = std::make_shared<Function>(wrong);
      for (Node& node : nest.nodes) {
        if (node.kind == NodeKind::kOperation && node.opcode == Opcode::kAdd) node.opcode = Opcode::kSubtract;
      }
    }
  };
  EXPECT_GT(legalised_differs_by(reduction("f32", "add", "0"), spoil), 1e-3);
}

TEST(LegaliseNests, ComparesNearTheEndsOfARange) {
  // log1p of 0.5, 1.5, ... is at least 0.4054651, of which only the first is below 0.405467.
  EXPECT_EQ(legalised_differs_by(R"(
  i = s32[4] iota(), iota_dimension=0
  n = f32[4] convert(i)
  half = f32[] constant(0.5)
  halves = f32[4] broadcast(half), dimensions={}
  x = f32[4] add(n, halves)
  l = f32[4] log-plus-one(x)
  c = f32[] constant(0.405467)
  most = f32[4] broadcast(c), dimensions={}
  ROOT y = pred[4] compare(l, most), direction=GE)"),
            0);
}

}  // namespace
}  // namespace lowtide::engine
