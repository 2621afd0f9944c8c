// Boxes that move where their array lies, against the same kernels with results elsewhere.

#include "backend/cpu/box_moves.h"

#include <fmt/format.h>

#include <algorithm>

#include "region_test_support.h"

namespace lowtide::engine {
namespace {

constexpr const char* kField = "  x = f32[16,64,32] parameter(0)\n";

OneRegion region_of(const std::string& body) {
  return one_region(fmt::format("HloModule m\nENTRY e {{\n{}{}}}\n", kField, body));
}

/// Two slices along a dimension that change places at `k`.
std::string roll(int dimension, int k) {
  std::vector<int> extents{16, 64, 32};
  const auto slice = [&](int from, int to) {
    std::string shape, ranges;
    for (int d = 0; d < 3; ++d) {
      const int first = d == dimension ? from : 0, end = d == dimension ? to : extents[d];
      shape += fmt::format("{}{}", d ? "," : "", end - first);
      ranges += fmt::format("{}[{}:{}]", d ? ", " : "", first, end);
    }
    return fmt::format("f32[{}] slice(x), slice={{{}}}\n", shape, ranges);
  };
  return "  a = " + slice(k, extents[dimension]) + "  b = " + slice(0, k) +
         fmt::format("  ROOT r = f32[16,64,32] concatenate(a, b), dimensions={{{}}}\n", dimension);
}

/// Elements that are wrong when the region's result is made over its operand. `spoil`: in another order.
int64_t wrong_elements(const OneRegion& one, bool spoil = false) {
  auto moves = plan_box_moves(lower(one.region), 1, 0);
  EXPECT_TRUE(moves);
  if (!moves) return -1;
  if (spoil) {
    std::ranges::reverse(moves->moves);
    for (BoxMove& box : moves->moves) box.kept = kNoId;
  }
  const std::vector<Value> arguments = seeded_arguments(*one.module, 3);
  const auto expected = interpret(*one.module, arguments);
  EXPECT_TRUE(expected.ok());
  Literal array(*arguments[0]);
  std::vector<std::byte> scratch(static_cast<size_t>(moves->scratch_bytes) + 64, std::byte{0xa5});
  ThreadPool pool(2);
  run_box_moves(*moves, array.bytes().data(), scratch.data(), pool);
  for (size_t k = scratch.size() - 64; k < scratch.size(); ++k) EXPECT_EQ(scratch[k], std::byte{0xa5});
  int64_t wrong = 0;
  const std::span<const float> is = array.data<float>(), must = (*expected)[0]->data<float>();
  for (size_t k = 0; k < is.size(); ++k) wrong += is[k] != must[k];
  return wrong;
}

TEST(BoxMoves, RollAlongEveryDimension) {
  for (int dimension = 0; dimension < 3; ++dimension) {
    for (const int k : {1, 3, 8, 15}) {
      EXPECT_EQ(wrong_elements(region_of(roll(dimension, k))), 0) << dimension << " " << k;
    }
  }
}

TEST(BoxMoves, KeepTheSmallerPartOfEachBlock) {
  const auto moves = plan_box_moves(lower(region_of(roll(1, 2)).region), 1, 0);
  ASSERT_TRUE(moves);
  EXPECT_EQ(moves->blocks, 16);
  EXPECT_EQ(moves->scratch_bytes, 2 * 32 * 4);
}

TEST(BoxMoves, RotateWhatIsTooLargeToKeep) {
  const auto moves = plan_box_moves(lower(region_of(roll(0, 8)).region), 1, 0);
  ASSERT_TRUE(moves);
  EXPECT_EQ(moves->scratch_bytes, 0);
  EXPECT_EQ(moves->rotated, 8 * 64 * 32);
}

TEST(BoxMoves, OtherOrdersAreWrong) { EXPECT_GT(wrong_elements(region_of(roll(0, 1)), true), 0); }

TEST(BoxMoves, OnlyWhatMoves) {
  const OneRegion computed = region_of(
      "  a = f32[15,64,32] slice(x), slice={[0:15], [0:64], [0:32]}\n  n = f32[15,64,32] negate(a)\n"
      "  b = f32[1,64,32] slice(x), slice={[15:16], [0:64], [0:32]}\n"
      "  ROOT r = f32[16,64,32] concatenate(b, n), dimensions={0}\n");
  EXPECT_FALSE(plan_box_moves(lower(computed.region), 1, 0));
  const OneRegion turned = region_of("  ROOT r = f32[16,64,32] reverse(x), dimensions={0}\n");
  EXPECT_FALSE(plan_box_moves(lower(turned.region), 1, 0));
}

}  // namespace
}  // namespace lowtide::engine
