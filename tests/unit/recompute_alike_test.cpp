// What a loop recomputes in a large program it recomputes in a small one, where that would save too little by itself.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "passes/recompute/recompute_stacks.h"
#include "target/cpu.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

enum class Reads : uint8_t { kBoth, kProduct };

/// A loop that saves its states and their cosines, and a later one that reads both, or only their product, from the
/// end.
std::unique_ptr<Module> two_stacks(int length, Reads reads) {
  const std::string x = fmt::format("f32[{}]", length), slot = fmt::format("f32[1,{}]", length),
                    stack = fmt::format("f32[8,{}]", length);
  const std::string carry = fmt::format("(s32[], {}, {}, {})", x, stack, stack);
  const auto loop = [&](const std::string& name, const std::string& body) {
    return fmt::format(
        "{0}.test {{\n  p = {1} parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(8)\n"
        "  ROOT lt = pred[] compare(i, n), direction=LT\n}}\n"
        "{0} {{\n  p = {1} parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
        "  x = {2} get-tuple-element(p), index=1\n  as = {3} get-tuple-element(p), index=2\n"
        "  bs = {3} get-tuple-element(p), index=3\n  zero = s32[] constant(0)\n  one = s32[] constant(1)\n"
        "  next = s32[] add(i, one)\n{4}}}\n",
        name, carry, x, stack, body);
  };
  const std::string forwards = fmt::format(
      "  c = {0} cosine(x)\n  slot.a = {1} reshape(x)\n  slot.b = {1} reshape(c)\n"
      "  all.a = {2} dynamic-update-slice(as, slot.a, i, zero)\n  all.b = {2} dynamic-update-slice(bs, slot.b, i, "
      "zero)\n"
      "  y = {0} sine(x)\n  ROOT r = {3} tuple(next, y, all.a, all.b)\n",
      x, slot, stack, carry);
  const std::string backwards = fmt::format(
      "  last = s32[] constant(7)\n  at = s32[] subtract(last, i)\n"
      "  read.a = {1} dynamic-slice(as, at, zero), dynamic_slice_sizes={{1,{4}}}\n  a = {0} reshape(read.a)\n"
      "  read.b = {1} dynamic-slice(bs, at, zero), dynamic_slice_sizes={{1,{4}}}\n  b = {0} reshape(read.b)\n"
      "  {5}\n  ROOT r = {3} tuple(next, y, as, bs)\n",
      x, slot, stack, carry, length,
      reads == Reads::kBoth ? fmt::format("xa = {0} add(x, a)\n  y = {0} multiply(xa, b)", x)
                            : fmt::format("ab = {0} multiply(a, b)\n  y = {0} add(x, ab)", x));
  const std::string text =
      "HloModule m\n" + loop("forwards", forwards) + loop("backwards", backwards) +
      fmt::format(
          "ENTRY main {{\n  x = {0} parameter(0)\n  zero = s32[] constant(0)\n  nought = f32[] constant(0)\n"
          "  empty = {1} broadcast(nought), dimensions={{}}\n  t = {2} tuple(zero, x, empty, empty)\n"
          "  f = {2} while(t), condition=forwards.test, body=forwards\n  y = {0} get-tuple-element(f), index=1\n"
          "  as = {1} get-tuple-element(f), index=2\n  bs = {1} get-tuple-element(f), index=3\n"
          "  u = {2} tuple(zero, y, as, bs)\n  l = {2} while(u), condition=backwards.test, body=backwards\n"
          "  ROOT d = {0} get-tuple-element(l), index=1\n}}\n",
          x, stack, carry);
  auto module = parse_hlo(std::make_shared<const Source>(Source{"test.hlo", text}));
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.take();
}

TEST(RecomputeAlike, InExtentsInWhichItSavesLittle) {
  const auto large = two_stacks(4096, Reads::kBoth), small = two_stacks(16, Reads::kBoth),
             other = two_stacks(16, Reads::kBoth);
  std::vector<StacksChoice> done = recompute_stacks(*large, cpu_target(), 100);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].choices.at("c"), KeepOrMake::Choice::kMake);
  EXPECT_TRUE(recompute_stacks(*other, cpu_target(), 100).empty()) << "the control: by itself it isn't worth it";
  EXPECT_TRUE(recompute_stacks_alike(*small, done[0]));
  done[0].place = "backwards absent";
  EXPECT_FALSE(recompute_stacks_alike(*other, done[0])) << "the control: where it is read isn't there";
}

TEST(RecomputeAlike, WhatTheLaterLoopComputes) {
  const auto large = two_stacks(4096, Reads::kProduct), small = two_stacks(16, Reads::kProduct);
  const std::vector<StacksChoice> done = recompute_stacks(*large, cpu_target(), 100);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].later, std::vector<std::string>{"ab"});
  EXPECT_TRUE(recompute_stacks_alike(*small, done[0]));
  const auto body = small->find_computation("forwards");
  ASSERT_NE(body, nullptr);
  const bool is_saved = std::ranges::any_of(
      body->instructions(), [](const auto& i) { return i->opcode == Opcode::kMultiply && i->name.starts_with("ab"); });
  EXPECT_TRUE(is_saved);
  const auto both = two_stacks(4096, Reads::kBoth);
  EXPECT_TRUE(recompute_stacks(*both, cpu_target(), 100).at(0).later.empty()) << "the control: both are needed";
}

}  // namespace
}  // namespace lowtide::engine
