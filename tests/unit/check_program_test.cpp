// What every plan goes through, and the plans that take the place of what it refuses: no value lies where another is
// read.
#include <gtest/gtest.h>

#include <algorithm>

#include "compile/compile.h"
#include "interp/interpreter.h"
#include "schedule/check/check_program.h"
#include "support/run_compiled.h"
#include "target/cpu.h"
#include "text/hlo.h"

namespace lowtide::engine {
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
  Compiled together{.target = &cpu_target()}, apart{.target = &cpu_target()};
  together.program = std::make_shared<const Program>(schedule(module, cpu_target(), {}));
  apart.program = std::make_shared<const Program>(schedule(module, cpu_target(), {.apart = true}));
  EXPECT_GT(apart.program->temp_bytes, together.program->temp_bytes);
  const std::vector<Value> arguments = seeded_arguments(*module, 0);
  const CompiledRun one = run_plan(together, arguments), other = run_plan(apart, arguments);
  EXPECT_EQ(one.failure + other.failure, "");
  ASSERT_EQ(one.results.size(), 2u);
  for (size_t k = 0; k < 2; ++k) EXPECT_TRUE(std::ranges::equal(one.results[k]->bytes(), other.results[k]->bytes()));
}

/// Loops of one trip, each in the one before it, around a sort.
std::string nested_loops(int depth) {
  std::string text =
      "HloModule m\nless {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
      " ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER\n}\n";
  std::string inner = " y = f32[8] sort(x), dimensions={0}, to_apply=less\n";
  const auto loop = [](const std::string& of) {
    return " zero = s32[] constant(0)\n t = (s32[], f32[8]) tuple(zero, x)\n w = (s32[], f32[8]) while(t), "
           "condition=c" +
           of + ", body=b" + of + "\n y = f32[8] get-tuple-element(w), index=1\n";
  };
  for (int k = 0; k < depth; ++k) {
    const std::string name = std::to_string(k);
    text += "c" + name + " {\n p = (s32[], f32[8]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n" +
            " n = s32[] constant(1)\n ROOT r = pred[] compare(i, n), direction=LT\n}\nb" + name +
            " {\n p = (s32[], f32[8]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n" +
            " x = f32[8] get-tuple-element(p), index=1\n" + inner +
            " one = s32[] constant(1)\n j = s32[] add(i, one)\n" + " ROOT r = (s32[], f32[8]) tuple(j, y)\n}\n";
    inner = loop(name);
  }
  return text + "ENTRY main {\n x = f32[8] parameter(0)\n" + inner + " ROOT r = f32[8] negate(y)\n}\n";
}

TEST(CheckProgram, SaysNothingBeyondItsVisits) {
  auto parsed = parse_hlo(std::make_shared<Source>(Source{"test.hlo", nested_loops(16)}));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  Program program = schedule(std::shared_ptr<const Module>(parsed.take()), cpu_target(), {});
  EXPECT_EQ(check_program(program, cpu_target(), 1000), "");  // each trip of each loop would take hours
  program.output_slots.assign(program.output_slots.size(), program.argument_slots[0]);
  EXPECT_EQ(check_program(program, cpu_target(), 1000), "");
}

TEST(CheckProgram, FindsWhatItsVisitsReach) {
  auto parsed = parse_hlo(std::make_shared<Source>(Source{"test.hlo", nested_loops(2)}));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  Program program = schedule(std::shared_ptr<const Module>(parsed.take()), cpu_target(), {});
  EXPECT_EQ(check_program(program, cpu_target(), 1000), "");
  program.output_slots.assign(program.output_slots.size(), program.argument_slots[0]);
  EXPECT_NE(check_program(program, cpu_target(), 1000), "");
}

}  // namespace
}  // namespace lowtide::engine
