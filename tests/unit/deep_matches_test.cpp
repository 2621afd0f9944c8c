// Patterns are looked for through a bounded number of operations: through fewer they are found, through more they
// aren't.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "passes/rules/gather_one_hot_products.h"
#include "passes/rules/narrow_carries.h"
#include "read_module.h"

namespace lowtide::engine {
namespace {

/// Products with one-hot rows, of which `count` masks in turn keep some.
int64_t one_hot_products_behind(int count) {
  std::string text = R"(HloModule m
ENTRY main {
  ids = s32[4] parameter(0)
  table = f32[5,3] parameter(1)
  mask = pred[4] parameter(2)
  i = s32[4,5] iota(), iota_dimension=1
  rows = s32[4,5] broadcast(ids), dimensions={0}
  eq = pred[4,5] compare(rows, i), direction=EQ
  masks = pred[4,5] broadcast(mask), dimensions={0}
  zero = f32[] constant(0)
  zeros = f32[4,5] broadcast(zero), dimensions={}
  hot.0 = f32[4,5] convert(eq)
)";
  for (int k = 0; k < count; ++k) text += fmt::format("  hot.{} = f32[4,5] select(masks, hot.{}, zeros)\n", k + 1, k);
  text += fmt::format(
      "  ROOT y = f32[4,3] dot(hot.{}, table), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n", count);
  const auto module = read(text);
  const auto result = gather_one_hot_products(*module);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? result->count : -1;
}

TEST(DeepMatches, OneHotRowsBehindMasks) {
  EXPECT_EQ(one_hot_products_behind(40), 1);
  EXPECT_EQ(one_hot_products_behind(60), 0);
}

/// Loop-carried values that are made, in the same way before the loop and in it, by a pad and `count` reverses.
int64_t narrowed_behind(int count) {
  const auto turned = [&](const std::string& name, const std::string& from) {
    std::string text = fmt::format("  {}.0 = f32[40,40] pad({}, none), padding=4_4x4_4\n", name, from);
    for (int k = 0; k < count; ++k)
      text += fmt::format("  {0}.{1} = f32[40,40] reverse({0}.{2}), dimensions={{0}}\n", name, k + 1, k);
    return text;
  };
  const auto module = read(R"(HloModule m
condition {
  p = (s32[], f32[40,40]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT lt = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], f32[40,40]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  padded = f32[40,40] get-tuple-element(p), index=1
  one = s32[] constant(1)
  none = f32[] constant(0)
  j = s32[] add(i, one)
  left = f32[32,32] slice(padded), slice={[4:36], [3:35]}
  right = f32[32,32] slice(padded), slice={[4:36], [5:37]}
  sum = f32[32,32] add(left, right)
)" + turned("next", "sum") +
                           fmt::format("  ROOT r = (s32[], f32[40,40]) tuple(j, next.{})", count) +
                           R"(
}
ENTRY main {
  x = f32[32,32] parameter(0)
  zero = s32[] constant(0)
  none = f32[] constant(0)
)" + turned("start", "x") + fmt::format("  begin = (s32[], f32[40,40]) tuple(zero, start.{})", count) +
                           R"(
  end = (s32[], f32[40,40]) while(begin), condition=condition, body=body
  last = f32[40,40] get-tuple-element(end), index=1
  ROOT y = f32[40,40] sine(last)
})");
  const auto result = narrow_carries(*module);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? result->count : -1;
}

TEST(DeepMatches, CarriesMadeByMoves) {
  EXPECT_EQ(narrowed_behind(10), 1);
  EXPECT_EQ(narrowed_behind(20), 0);
}

}  // namespace
}  // namespace lowtide::engine
