#include "passes/shrink.h"
#include "read_module.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ops/verify.h"
#include "passes/shrink_edits.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

int64_t count_of(const Module& module, Opcode opcode) {
  int64_t count = 0;
  for (const auto& computation : module.computations()) {
    count += std::ranges::count_if(computation->instructions(), [&](const auto& i) { return i->opcode == opcode; });
  }
  return count;
}

constexpr const char* kProgram = R"(HloModule m, input_output_alias={ {1}: (1, {}, may-alias) }
test { p = (s32[], f32[8]) parameter(0) i = s32[] get-tuple-element(p), index=0 n = s32[] constant(40) ROOT l = pred[] compare(i, n), direction=LT }
body { p = (s32[], f32[8]) parameter(0) i = s32[] get-tuple-element(p), index=0 x = f32[8] get-tuple-element(p), index=1
  one = s32[] constant(1) next = s32[] add(i, one) s = f32[8] sine(x) c = f32[8] cosine(s) e = f32[8] add(c, x)
  ROOT t = (s32[], f32[8]) tuple(next, e) }
ENTRY main { a = f32[8] parameter(0) b = f32[8] parameter(1), metadata={op_name="b"} zero = s32[] constant(0)
  sum = f32[8] add(a, b) t = (s32[], f32[8]) tuple(zero, sum) w = (s32[], f32[8]) while(t), condition=test, body=body
  x = f32[8] get-tuple-element(w), index=1 y = f32[8] multiply(x, b) z = f32[8] exponential(y) u = f32[8] tanh(a)
  ROOT r = (f32[8], f32[8], f32[8]) tuple(z, u, y) })";

TEST(Shrink, KeepsWhatFails) {
  const auto module = read(kProgram);
  const auto smallest =
      shrink(*module, cpu_target(), [](const Module& m) { return count_of(m, Opcode::kExponential) > 0; });
  ASSERT_TRUE(verify(*smallest).ok());
  EXPECT_EQ(count_of(*smallest, Opcode::kExponential), 1);
  EXPECT_EQ(smallest->instruction_count(), 2) << print_hlo(*smallest);
}

TEST(Shrink, ReachesIntoLoops) {
  const auto module = read(kProgram);
  const auto smallest = shrink(*module, cpu_target(), [](const Module& m) {
    return count_of(m, Opcode::kWhile) > 0 && count_of(m, Opcode::kCosine) > 0;
  });
  ASSERT_TRUE(verify(*smallest).ok());
  EXPECT_EQ(count_of(*smallest, Opcode::kSine) + count_of(*smallest, Opcode::kTanh), 0);
  EXPECT_LT(smallest->instruction_count(), 20) << print_hlo(*smallest);
  EXPECT_EQ(print_hlo(*smallest).find("constant(40)"), std::string::npos) << print_hlo(*smallest);
}

TEST(Shrink, StopsWhenToldTo) {
  const auto module = read(kProgram);
  int64_t tried = 0;
  shrink(*module, cpu_target(), [&](const Module&) { return ++tried, true; }, {.most_tries = 3});
  EXPECT_LE(tried, 3);
}

TEST(Shrink, DropsWhatArgumentsAreGivenAwayFor) {
  const auto module = read(R"(HloModule m, buffer_donor={ (0, {}) }
ENTRY main { a = f32[8] parameter(0) ROOT s = f32[8] sine(a) })");
  const auto smallest = shrink(*module, cpu_target(), [](const Module& m) { return count_of(m, Opcode::kSine) > 0; });
  EXPECT_TRUE(smallest->buffer_donors.empty()) << print_hlo(*smallest);
}

TEST(Shrink, MakesTheLastResultLeftTheRoot) {
  for (const size_t dropped : {0, 1}) {
    const auto module = read(R"(HloModule m
ENTRY main { a = f32[8] parameter(0) s = f32[8] sine(a) c = f32[8] cosine(a) ROOT r = (f32[8], f32[8]) tuple(s, c) })");
    ASSERT_TRUE(drop_results(*module, dropped, dropped + 1));
    EXPECT_EQ(module->entry->root->name, dropped == 0 ? "c" : "s");
  }
}

}  // namespace
}  // namespace lowtide::engine
