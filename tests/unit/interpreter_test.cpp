#include "interp/interpreter.h"
#include "read_module.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace lowtide::engine {
namespace {

constexpr const char* kNegate = R"(HloModule m
ENTRY main {
  x = f32[2] parameter(0)
  n = s32[] parameter(1)
  ROOT t = (f32[2], (s32[])) tuple(y, inner)
})";

TEST(Interpreter, FlattensResults) {
  std::string text = kNegate;
  text.replace(text.find("  ROOT"), 0, "  y = f32[2] negate(x)\n  inner = (s32[]) tuple(n)\n");
  const auto module = read(text);
  const auto arguments = seeded_arguments(*module, 0);
  const auto results = interpret(*module, arguments);
  ASSERT_TRUE(results.ok()) << results.status().message();
  ASSERT_EQ(results->size(), 2u);
  EXPECT_EQ((*results)[0]->data<float>()[1], -arguments[0]->data<float>()[1]);
  EXPECT_EQ((*results)[1], arguments[1]);  // tuples share their parts
}

TEST(Interpreter, SeedsAreTheDesigns) {
  const auto module = read("HloModule m\nENTRY main {\n  x = f32[2] parameter(0)\n  ROOT n = s32[3] parameter(1)\n}");
  const auto arguments = seeded_arguments(*module, 0);
  // splitmix64(0) = e220a8397b1dcdaf
  EXPECT_EQ(arguments[0]->data<float>()[0], static_cast<float>(0.1 + 0.9 * (0xe220a8 / 16777216.0)));
  EXPECT_NE(arguments[0]->data<float>()[0], seeded_arguments(*module, 1)[0]->data<float>()[0]);
  for (const int32_t n : arguments[1]->data<int32_t>()) EXPECT_TRUE(n >= 0 && n < 8);
}

TEST(Interpreter, RefusesOtherArguments) {
  const auto module = read("HloModule m\nENTRY main {\n  ROOT x = f32[2] parameter(0)\n}");
  EXPECT_EQ(interpret(*module, {}).status().fault(), Fault::kInput);
  const Value other = std::make_shared<Literal>(Shape::array(ElementType::kF32, {3}));
  const auto result = interpret(*module, {other});
  EXPECT_EQ(result.status().fault(), Fault::kInput);
  EXPECT_EQ(result.status().message(), "argument 0 must be f32[2], got f32[3]");
}

TEST(Interpreter, RefusesWhatIsTooLarge) {
  const auto module = read("HloModule m\nENTRY main {\n  ROOT x = f32[4294967296] iota(), iota_dimension=0\n}");
  EXPECT_EQ(interpret(*module, {}).status().fault(), Fault::kUnsupported);
}

TEST(Interpreter, RunsDeepCalls) {
  std::string text = "HloModule m\nf0 {\n  ROOT x = f32[] parameter(0)\n}\n";
  constexpr int kDepth = 150;
  for (int k = 1; k < kDepth; ++k) {
    text += fmt::format("f{} {{\n  x = f32[] parameter(0)\n  ROOT r = f32[] call(x), to_apply=f{}\n}}\n", k, k - 1);
  }
  text +=
      fmt::format("ENTRY main {{\n  x = f32[] parameter(0)\n  ROOT r = f32[] call(x), to_apply=f{}\n}}\n", kDepth - 1);
  const auto module = read(text);
  const auto arguments = seeded_arguments(*module, 0);
  const auto results = interpret(*module, arguments);
  ASSERT_TRUE(results.ok()) << results.status().message();
  EXPECT_EQ((*results)[0], arguments[0]);
}

TEST(Interpreter, NamesAnUnknownOperation) {
  const auto module = read(
      "HloModule m\nENTRY main {\n  a = f32[] parameter(0)\n  t = token[] after-all()\n  "
      "ROOT r = (f32[2], token[]) infeed(t)\n}");
  const auto result = interpret(*module, seeded_arguments(*module, 0));
  EXPECT_EQ(result.status().fault(), Fault::kUnsupported);
  EXPECT_NE(result.status().message().find("infeed r: the interpreter can't run this operation"), std::string::npos);
}

}  // namespace
}  // namespace lowtide::engine
