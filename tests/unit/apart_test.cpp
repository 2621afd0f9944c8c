// Plans in which no value lies where another lay that is read at the same time: what is run where a plan is refused.
#include <gtest/gtest.h>

#include <algorithm>

#include "compile/compile.h"
#include "interp/interpreter.h"
#include "support/run_compiled.h"
#include "text/hlo.h"

namespace lowtide {
namespace {

constexpr const char* kLoopAndUpdates = R"(HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }

condition {
  p = (s32[], f32[64], f32[64]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT more = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], f32[64], f32[64]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[64] get-tuple-element(p), index=1
  y = f32[64] get-tuple-element(p), index=2
  s = f32[8] slice(x), slice={[8:16]}
  c = f32[8] cosine(s)
  z = f32[64] dynamic-update-slice(y, c, i)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT r = (s32[], f32[64], f32[64]) tuple(next, z, x)
}
ENTRY main {
  x = f32[64] parameter(0)
  y = f32[64] negate(x)
  zero = s32[] constant(0)
  t = (s32[], f32[64], f32[64]) tuple(zero, x, y)
  w = (s32[], f32[64], f32[64]) while(t), condition=condition, body=body
  a = f32[64] get-tuple-element(w), index=1
  b = f32[64] get-tuple-element(w), index=2
  ROOT r = (f32[64], f32[64]) tuple(a, b)
}
)";

TEST(Apart, TakesMoreAndGivesTheSame) {
  auto parsed = parse_hlo(std::make_shared<Source>(Source{"test.hlo", kLoopAndUpdates}));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  const std::shared_ptr<const Module> module(parsed.take());
  Compiled together, apart;
  together.program = std::make_shared<const Program>(schedule(module, {}));
  apart.program = std::make_shared<const Program>(schedule(module, {.apart = true}));
  EXPECT_GT(apart.program->temp_bytes, together.program->temp_bytes);
  const std::vector<Value> arguments = seeded_arguments(*module, 0);
  const CompiledRun one = run_plan(together, arguments), other = run_plan(apart, arguments);
  EXPECT_EQ(one.failure + other.failure, "");
  ASSERT_EQ(one.results.size(), 2u);
  for (size_t k = 0; k < 2; ++k) EXPECT_TRUE(std::ranges::equal(one.results[k]->bytes(), other.results[k]->bytes()));
}

}  // namespace
}  // namespace lowtide
