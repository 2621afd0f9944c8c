// Operands of concatenations that are made where the result has them.

#include <gtest/gtest.h>

#include "schedule/check/check_program.h"
#include "schedule/schedule_work.h"
#include "target/cpu.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

std::string body(const std::string& lines, const std::string& root) {
  return "HloModule m\nadd { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
         "ENTRY main {\n x = f32[4096] parameter(0)\n zero = f32[] constant(0)\n" +
         lines + " ROOT " + root + "\n}";
}

/// Sums r0, r1, ...; each needs the one before it.
std::string sums(int count) {
  std::string text;
  std::string from = "x";
  for (int k = 0; k < count; ++k) {
    const std::string n = std::to_string(k);
    text += " t" + n + " = f32[4096] tanh(" + from + ")\n r" + n + " = f32[] reduce(t" + n +
            ", zero), dimensions={0}, to_apply=add\n q" + n + " = f32[1] reshape(r" + n + ")\n b" + n +
            " = f32[4096] broadcast(r" + n + "), dimensions={}\n y" + n + " = f32[4096] subtract(x, b" + n + ")\n";
    from = "y" + n;
  }
  return text;
}

std::string list(int count) {
  std::string text = "q0";
  for (int k = 1; k < count; ++k) text += ", q" + std::to_string(k);
  return text;
}

Program planned(const std::string& text) {
  auto parsed = parse_hlo(std::make_shared<Source>(Source{"test.hlo", text}));
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  Program program = schedule(std::shared_ptr<const Module>(parsed.take()), cpu_target(), {});
  EXPECT_EQ(check_program(program, cpu_target()), "");
  return program;
}

const ProgramStep* assembled(const Program& program) {
  for (const ProgramStep& step : program.steps) {
    if (step.assembled) return &step;
  }
  return nullptr;
}

std::string all_of(int count) {
  return body(sums(count), "all = f32[" + std::to_string(count) + "] concatenate(" + list(count) + "), dimensions={0}");
}

TEST(Assemble, PartsTakeNoBytes) {
  const Program few = planned(all_of(8)), many = planned(all_of(40));
  EXPECT_TRUE(assembled(few));
  EXPECT_EQ(few.temp_bytes, many.temp_bytes);
}

TEST(Assemble, TheCheckerWantsEveryPartInItsPlace) {
  Program program = planned(all_of(3));
  ASSERT_TRUE(assembled(program));
  const int32_t first = assembled(program)->reads[0], second = assembled(program)->reads[1];
  std::swap(program.slots[first].offset, program.slots[second].offset);
  EXPECT_NE(check_program(program, cpu_target()), "");
}

TEST(Assemble, SomePartsComeFromElsewhere) {
  const Program program = planned(body(sums(2) + " rest = f32[6] slice(x), slice={[0:6]}\n",
                                       "some = f32[8] concatenate(q0, rest, q1), dimensions={0}"));
  EXPECT_FALSE(assembled(program));
  EXPECT_EQ(program.temp_bytes % 64, 0);
}

TEST(Assemble, NotAcrossRows) {
  const Program program = planned(body(
      " t = f32[4096] tanh(x)\n s = f32[4096] cosine(x)\n m = f32[2,2048] reshape(t)\n n = f32[2,2048] reshape(s)\n",
      "beside = f32[2,4096] concatenate(m, n), dimensions={1}"));
  EXPECT_FALSE(assembled(program));
}

}  // namespace
}  // namespace lowtide::engine
