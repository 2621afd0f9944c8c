// Streams whose tiles write over what they read.
#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "compile/check_fit.h"
#include "compile/frontier.h"
#include "passes/compare_runs.h"
#include "passes/stream/stream.h"
#include "read_module.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

/// A search that keeps the best sequences: in each trip a cache is updated, and its rows are put into another order.
/// `beside`: what the cache was before it is put into order is read as well.
std::string beams(bool beside, bool small = false) {
  const std::string more = beside ? R"(  zero = f32[] constant(0)
  swapped = f32[6,32,512,64] cosine(updated)
  both = f32[6,32,512,64] add(next, swapped)
)"
                                  : "";
  std::string text = R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
test {
  p = (s32[], f32[6,32,512,64], s32[512,32]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  all = s32[] constant(512)
  ROOT c = pred[] compare(n, all), direction=LT }
body {
  p = (s32[], f32[6,32,512,64], s32[512,32]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  cache = f32[6,32,512,64] get-tuple-element(p), index=1
  orders = s32[512,32] get-tuple-element(p), index=2
  one = s32[] constant(1)
  none = s32[] constant(0)
  x = f32[] convert(n)
  new = f32[6,32,1,64] broadcast(x), dimensions={}
  updated = f32[6,32,512,64] dynamic-update-slice(cache, new, none, none, n, none)
  order = s32[1,32] dynamic-slice(orders, n, none), dynamic_slice_sizes={1,32}
  rows = s32[32] reshape(order)
  next = f32[6,32,512,64] gather(updated, rows), offset_dims={0,2,3}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={6,1,512,64}
)" + more +
                     R"(  m = s32[] add(n, one)
  ROOT q = (s32[], f32[6,32,512,64], s32[512,32]) tuple(m, )" +
                     (beside ? "both" : "next") + R"(, orders) }
ENTRY main {
  cache = f32[6,32,512,64] parameter(0)
  orders = s32[512,32] parameter(1)
  zero = s32[] constant(0)
  start = (s32[], f32[6,32,512,64], s32[512,32]) tuple(zero, cache, orders)
  w = (s32[], f32[6,32,512,64], s32[512,32]) while(start), condition=test, body=body
  ROOT r = f32[6,32,512,64] get-tuple-element(w), index=1
})";
  const std::pair<std::string, std::string> smaller[] = {
      {"32,512,64]", "5,7,3]"}, {"512,32]", "7,5]"},         {"32,1,64]", "5,1,3]"}, {"1,32]", "1,5]"},
      {"s32[32]", "s32[5]"},    {"6,1,512,64}", "6,1,7,3}"}, {"={1,32}", "={1,5}"},  {"constant(512)", "constant(7)"}};
  for (const auto& [from, to] : smaller) {
    for (size_t at = text.find(from); small && at != std::string::npos; at = text.find(from))
      text.replace(at, from.size(), to);
  }
  return text;
}

constexpr int64_t kCache = int64_t{6} * 32 * 512 * 64 * 4;

TEST(StreamConsumes, WhatNothingReadsAfterwards) {
  for (const bool beside : {false, true}) {
    const auto module = read(beams(beside));
    const auto planner = Planner::make(*module, cpu_target());
    ASSERT_TRUE(planner.ok());
    const auto frontier = find_frontier(*planner);
    ASSERT_TRUE(frontier.ok());
    EXPECT_LT(frontier->tightest().temp_bytes, kCache / 2);
    const auto plain = planner->measure(without_streams(), Checked::kYes);
    ASSERT_TRUE(plain.ok());
    EXPECT_GE(plain->temp_bytes, kCache) << "the control: without streams rows are put into another array";
  }
}

TEST(StreamConsumes, AndComputesTheSame) {
  for (const bool beside : {false, true}) {
    const auto whole = read(beams(beside, true));
    for (const int64_t tile : {1, 4}) {
      const auto tiled = whole->clone();
      const auto streamed = stream(*tiled, cpu_target(), {"body", "next", 0, tile});
      ASSERT_TRUE(streamed.ok()) << streamed.status().message();
      const auto difference = difference_of_runs(*whole, *tiled, Numerics::kExact, 1);
      ASSERT_TRUE(difference.ok()) << difference.status().message();
      EXPECT_EQ(*difference, "") << tile;
    }
    Decisions decisions = without_streams();
    decisions.emplace_back(StreamDecision{"body", "next", 0, 1});
    const auto plan = compile_plan(*whole, cpu_target(), decisions);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    const auto checked = check_fit(*whole, *plan, cpu_backend());
    ASSERT_TRUE(checked.ok()) << checked.status().message();
  }
}

}  // namespace
}  // namespace lowtide::engine
