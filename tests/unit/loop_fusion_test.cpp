#include "analysis/loop_fusion.h"

#include <gtest/gtest.h>

#include "text/hlo.h"

namespace lowtide::engine {
namespace {

/// Is `x` stored when XLA:CPU, or another compiler, sums, multiplies or compares it?
class StoredForReductions : public testing::Test {
 protected:
  /// `value`: computed from f32[64,64] a and s32[64,64] k. `reduce`: a reduction of x, from 0.
  static bool is_stored(const std::string& type, const std::string& value, const std::string& reduce,
                        std::optional<XlaBackend> backend = XlaBackend::kCpu) {
    const std::string scalar = type.substr(0, type.find('['));
    const std::string text =
        "HloModule m\n"
        "sum { a = " +
        scalar + "[] parameter(0) b = " + scalar + "[] parameter(1) ROOT c = " + scalar +
        "[] add(a, b) }\n"
        "product { a = " +
        scalar + "[] parameter(0) b = " + scalar + "[] parameter(1) ROOT c = " + scalar +
        "[] multiply(a, b) }\n"
        "ENTRY e { a = f32[64,64] parameter(0) k = s32[64,64] parameter(1) x = " +
        type + " " + value + " zero = " + scalar + "[] constant(0) ROOT r = " + scalar + "[64] reduce(x, zero), " +
        reduce + " }\n";
    auto module = parse_hlo(std::make_shared<Source>(Source{"test.hlo", text}));
    EXPECT_TRUE(module.ok()) << module.status().message();
    const std::vector<bool> is_virtual = fuse_loops(**module, backend);
    return !is_virtual[(*module)->entry->root->operand(0).id];
  }
  static constexpr const char* kSum = "dimensions={1}, to_apply=sum";
  static constexpr const char* kProduct = "dimensions={1}, to_apply=product";
};

TEST_F(StoredForReductions, YnnpackComputesWhatItKnowsWithASumOfFloats) {
  EXPECT_FALSE(is_stored("f32[64,64]", "exponential(a)", kSum));
  EXPECT_FALSE(is_stored("bf16[64,64]", "convert(a)", kSum));
  EXPECT_TRUE(is_stored("f32[64,64]", "sine(a)", kSum));
  EXPECT_TRUE(is_stored("f32[64,64]", "convert(k)", kSum));
  EXPECT_TRUE(is_stored("f32[64,64]", "reverse(a), dimensions={0}", kSum));
  EXPECT_TRUE(is_stored("f32[64,64]", "exponential(a)", kProduct));
}

TEST_F(StoredForReductions, LongReductionsOfIntegersAreDivided) {
  EXPECT_TRUE(is_stored("s32[64,64]", "add(k, k)", kSum));
  EXPECT_FALSE(is_stored("s32[64,32]", "slice(k), slice={[0:64], [0:32]}", kSum));
  EXPECT_TRUE(is_stored("s32[64,33]", "slice(k), slice={[0:64], [0:33]}", kSum));
}

TEST_F(StoredForReductions, OtherCompilersFuseThemAll) {
  for (const auto backend : {std::optional<XlaBackend>(), std::optional(XlaBackend::kGpu)}) {
    EXPECT_FALSE(is_stored("f32[64,64]", "sine(a)", kSum, backend));
    EXPECT_FALSE(is_stored("s32[64,64]", "add(k, k)", kSum, backend));
  }
}

TEST_F(StoredForReductions, WhatComesBeforeAFusedValueIsAskedForToo) {
  auto module = parse_hlo(std::make_shared<Source>(Source{"test.hlo", R"(HloModule m
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e {
  a = f32[64,64] parameter(0)
  s = f32[64,64] sine(a)
  x = f32[64,64] exponential(s)
  zero = f32[] constant(0)
  ROOT r = f32[64] reduce(x, zero), dimensions={1}, to_apply=sum
})"}));
  ASSERT_TRUE(module.ok());
  const std::vector<bool> is_virtual = fuse_loops(**module, XlaBackend::kCpu);
  const Instruction& x = (*module)->entry->root->operand(0);
  EXPECT_TRUE(is_virtual[x.id]);
  EXPECT_FALSE(is_virtual[x.operand(0).id]);
}

}  // namespace
}  // namespace lowtide::engine
