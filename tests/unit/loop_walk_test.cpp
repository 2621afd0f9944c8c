// Which sums over a batch a loop may add up tile by tile: gradients of kernels, side by side, padded, chosen from, in
// slots.
#include "passes/stream/loop_walk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "read_module.h"

namespace lowtide::engine {
namespace {

/// A loop over steps whose state is a batch of pictures, a sum and a number: `lines` compute `next` of the kernel's
/// gradient `d`, the sum so far, `sum`, and the number.
std::shared_ptr<const LoopWalk> walk(const std::string& type, const std::string& lines) {
  const auto module = read(fmt::format(R"(HloModule m
body {{
  state = (s32[], f32[4,5,5,2], {0}, f32[3,3,2,2]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  h = f32[4,5,5,2] get-tuple-element(state), index=1
  sum = {0} get-tuple-element(state), index=2
  w = f32[3,3,2,2] get-tuple-element(state), index=3
  c = f32[4,5,5,2] convolution(h, w), window={{size=3x3 pad=1_1x1_1}}, dim_labels=b01f_01io->b01f
  d = f32[3,3,2,2] convolution(h, c), window={{size=5x5 pad=1_1x1_1}}, dim_labels=f01b_i01o->01bf
  zero = f32[] constant(0)
  none = s32[] constant(0)
{1}
  one = s32[] constant(1)
  after = s32[] add(i, one)
  ROOT t = (s32[], f32[4,5,5,2], {0}, f32[3,3,2,2]) tuple(after, c, next, w)
}}

condition {{
  state = (s32[], f32[4,5,5,2], {0}, f32[3,3,2,2]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}}

ENTRY main {{
  x = f32[4,5,5,2] parameter(0)
  w = f32[3,3,2,2] parameter(1)
  none = s32[] constant(0)
  zero = f32[] constant(0)
  zeros = {0} broadcast(zero), dimensions={{}}
  start = (s32[], f32[4,5,5,2], {0}, f32[3,3,2,2]) tuple(none, x, zeros, w)
  ROOT l = (s32[], f32[4,5,5,2], {0}, f32[3,3,2,2]) while(start), condition=condition, body=body
}}
)",
                                       type, lines));
  return walk_loop(*module->entry->root, {kWhole, 0, kWhole, kWhole}, 4);
}

TEST(LoopWalk, AddsUpGradientsOfKernels) {
  const auto sums_of = [](const std::string& type, const std::string& lines) {
    const auto loop = walk(type, lines);
    ASSERT_NE(loop, nullptr) << lines;
    EXPECT_EQ(loop->leaves, (Dims{kWhole, 0, kSummed, kWhole})) << lines;
  };
  sums_of("f32[3,3,2,2]", "  next = f32[3,3,2,2] add(sum, d)");
  sums_of("f32[3,3,2,4]",
          "  both = f32[3,3,2,4] concatenate(d, d), dimensions={3}\n  next = f32[3,3,2,4] add(sum, both)");
  sums_of("f32[3,3,2,4]",
          "  wide = f32[3,3,2,4] pad(d, zero), padding=0_0x0_0x0_0x1_1\n  next = f32[3,3,2,4] add(wide, sum)");
  sums_of("f32[3,3,2,2]",
          "  p = pred[3,3,2,2] constant({...})\n  s = f32[3,3,2,2] select(p, d, sum)\n  next = f32[3,3,2,2] add(s, d)");
  sums_of("f32[3,3,3,2,2]",
          "  slot = f32[1,3,3,2,2] reshape(d)\n"
          "  next = f32[3,3,3,2,2] dynamic-update-slice(sum, slot, i, none, none, none, none)");
}

TEST(LoopWalk, RefusesWhatIsNoSumOfTheTilesParts) {
  EXPECT_EQ(walk("f32[3,3,2,2]", "  next = f32[3,3,2,2] tanh(d)"), nullptr);
  EXPECT_EQ(walk("f32[3,3,2,4]",
                 "  o = f32[] constant(1)\n  wide = f32[3,3,2,4] pad(d, o), padding=0_0x0_0x0_0x1_1\n"
                 "  next = f32[3,3,2,4] add(wide, sum)"),
            nullptr);
  EXPECT_EQ(walk("f32[3,3,2,4]",
                 "  both = f32[3,3,2,4] concatenate(d, w), dimensions={3}\n  next = f32[3,3,2,4] add(sum, both)"),
            nullptr);
  EXPECT_EQ(walk("f32[3,3,2,2]",
                 "  zeros = f32[3,3,2,2] broadcast(zero), dimensions={}\n"
                 "  p = pred[3,3,2,2] compare(d, zeros), direction=GT\n  next = f32[3,3,2,2] select(p, d, sum)"),
            nullptr);
  // One half is rounded to bf16 when all tiles are in, the other isn't.
  const std::string narrow =
      "  n = bf16[3,3,2,2] convolution(h, c), window={size=5x5 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf\n"
      "  rounded = f32[3,3,2,2] convert(n)\n";
  const std::string slot =
      "  slot = f32[1,3,3,2,4] reshape(both)\n"
      "  next = f32[3,3,3,2,4] dynamic-update-slice(sum, slot, i, none, none, none, none)";
  EXPECT_NE(
      walk("f32[3,3,3,2,4]", narrow + "  both = f32[3,3,2,4] concatenate(rounded, rounded), dimensions={3}\n" + slot),
      nullptr);
  EXPECT_EQ(walk("f32[3,3,3,2,4]", narrow + "  both = f32[3,3,2,4] concatenate(rounded, d), dimensions={3}\n" + slot),
            nullptr);
}

}  // namespace
}  // namespace lowtide::engine
