// Kernels that write over what they still read, against the same kernels with results elsewhere.

#include "backend/cpu/strips.h"

#include <fmt/format.h>

#include "backend/cpu/split.h"
#include "nest/legalise.h"
#include "region_test_support.h"

namespace lowtide::engine {
namespace {

constexpr StripLimits kSmall{.least_bytes = 0, .wanted_bytes = 1, .share = 1};

std::optional<Strips> strips_of(const OneRegion& one, const StripLimits& limits = kSmall) {
  std::vector<LiesOver> over;
  const auto inputs = static_cast<int32_t>(one.region.inputs.size());
  for (size_t o = 0; o < one.region.outputs.size(); ++o)
    over.push_back({inputs + static_cast<int32_t>(o), static_cast<int32_t>(o)});
  return plan_strips(lower(one.region), inputs, over, limits);
}

/// Runs the region with output k over input k: in strips, or as if nothing were read later. Counts differing results.
int wrong_results(const std::string& text, bool in_strips = true) {
  const OneRegion one = one_region(text);
  const auto strips = strips_of(one);
  EXPECT_TRUE(strips) << text;
  if (!strips) return -1;
  EXPECT_GT(strips->elements, strips->tile) << "one tile proves nothing";
  auto kernels = compile_kernels(std::vector<Nest>{legalise(lower(one.region))}, {});
  EXPECT_TRUE(kernels.ok());
  const Kernel& kernel = (*kernels)[0];
  EXPECT_EQ(check_strips(kernel, *strips), "");
  const std::vector<Value> arguments = seeded_arguments(*one.module, 3);
  const auto expected = interpret(*one.module, arguments);
  EXPECT_TRUE(expected.ok());
  int wrong = 0;
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    std::vector<std::shared_ptr<Literal>> held;
    std::vector<void*> buffers;
    for (const LeafRef& input : one.region.inputs) {
      const auto number = one.module->entry->parameters();
      size_t n = 0;
      while (number[n] != input.instruction) ++n;
      held.push_back(std::make_shared<Literal>(*arguments[n]));
      buffers.push_back(held.back()->bytes().data());
    }
    for (size_t o = 0; o < one.region.outputs.size(); ++o) buffers.push_back(buffers[o]);
    // What lies beyond the scratch stays.
    std::vector<std::byte> scratch(static_cast<size_t>(strips->scratch_bytes) + 64, std::byte{0xa5});
    if (in_strips) {
      run_in_strips(kernel, *strips, buffers, one.region.inputs.size(), scratch.data(), pool);
    } else {
      run_kernel(kernel, portions_of(kernel, threads), {}, buffers.data(), pool);
    }
    for (size_t k = scratch.size() - 64; k < scratch.size(); ++k) EXPECT_EQ(scratch[k], std::byte{0xa5});
    for (size_t o = 0; o < one.region.outputs.size(); ++o) {
      const std::span<const std::byte> is = held[o]->bytes(), must = (*expected)[o]->bytes();
      wrong += !std::equal(is.begin(), is.end(), must.begin(), must.end());
    }
  }
  return wrong;
}

/// Rolls `from` by `by` rows and `columns` columns.
std::string rolled(const std::string& name, const std::string& from, int64_t rows, int64_t columns, int64_t by,
                   int64_t across) {
  const std::string type = fmt::format("f32[{},{}]", rows, columns);
  return fmt::format(R"({0}a = f32[{3},{2}] slice({1}), slice={{[{4}:{5}], [0:{2}]}}
    {0}b = f32[{4},{2}] slice({1}), slice={{[0:{4}], [0:{2}]}}
    {0}c = f32[{5},{2}] concatenate({0}a, {0}b), dimensions={{0}}
    {0}d = f32[{5},{6}] slice({0}c), slice={{[0:{5}], [{7}:{2}]}}
    {0}e = f32[{5},{7}] slice({0}c), slice={{[0:{5}], [0:{7}]}}
    {0} = f32[{5},{2}] concatenate({0}d, {0}e), dimensions={{1}}
    )",
                     name, from, columns, by, rows - by, rows, across, columns - across);
}

std::string roll_sum(int64_t rows, int64_t columns, int64_t by, int64_t across) {
  const std::string type = fmt::format("f32[{},{}]", rows, columns);
  return fmt::format("x = {} parameter(0)\n", type) + rolled("up", "x", rows, columns, by, across) +
         rolled("down", "x", rows, columns, rows - by, across) +
         fmt::format("s = {0} add(up, down)\nROOT y = {0} subtract(s, x)", type);
}

TEST(Strips, RollsAround) {
  EXPECT_EQ(wrong_results(roll_sum(701, 13, 1, 1)), 0);
  EXPECT_EQ(wrong_results(roll_sum(640, 7, 3, 2)), 0);
  EXPECT_EQ(wrong_results(roll_sum(1999, 5, 170, 4)), 0);  // farther than a tile
  EXPECT_EQ(wrong_results(roll_sum(700, 5, 140, 1)), 0);
  // without them the values do differ
  EXPECT_GT(wrong_results(roll_sum(701, 13, 1, 1), /*in_strips=*/false), 0);
}

TEST(Strips, ShiftsReadBehindOrAhead) {
  for (const char* padding : {"3_-3x0_0", "-3_3x0_0", "1_-1x-2_2", "-200_200x1_-1", "200_-200x1_-1"}) {
    EXPECT_EQ(wrong_results(fmt::format(R"(x = f32[777,9] parameter(0)
      z = f32[] constant(4)
      s = f32[777,9] pad(x, z), padding={}
      ROOT y = f32[777,9] subtract(x, s))",
                                        padding)),
              0)
        << padding;
  }
}

TEST(Strips, OneRowIsReadEverywhere) {
  for (const int row : {0, 10, 899}) {
    EXPECT_EQ(wrong_results(fmt::format(R"(x = f32[900,11] parameter(0)
      r = f32[1,11] slice(x), slice={{[{}:{}], [0:11]}}
      s = f32[11] reshape(r)
      b = f32[900,11] broadcast(s), dimensions={{1}}
      ROOT y = f32[900,11] subtract(x, b))",
                                        row, row + 1)),
              0)
        << row;
  }
}

TEST(Strips, WindowsReachBeyondBothEnds) {
  EXPECT_EQ(wrong_results(R"(HloModule m
    most { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = f32[] maximum(a, b) }
    ENTRY main { x = f32[811,13] parameter(0)
      z = f32[] constant(-inf)
      ROOT y = f32[811,13] reduce-window(x, z), window={size=3x3 pad=1_1x1_1}, to_apply=most })"),
            0);
}

TEST(Strips, TwoResultsOverTwoOperands) {
  const std::string type = "f32[613,9]";
  const std::string text = "x = " + type + " parameter(0)\nw = " + type + " parameter(1)\n" +
                           rolled("a", "x", 613, 9, 1, 2) + rolled("b", "w", 613, 9, 611, 1) + "p = " + type +
                           " add(a, w)\nq = " + type + " subtract(b, x)\n" + "ROOT t = (" + type + ", " + type +
                           ") tuple(p, q)";
  const OneRegion one = one_region(text);
  std::vector<LiesOver> over;  // each over one operand, and both operands are read for both
  const auto inputs = static_cast<int32_t>(one.region.inputs.size());
  ASSERT_EQ(inputs, 2);
  EXPECT_TRUE(strips_of(one));
  EXPECT_EQ(wrong_results(text), 0);
  EXPECT_GT(wrong_results(text, /*in_strips=*/false), 0);
}

TEST(Strips, NotWhereAllIsReadEverywhere) {
  const auto planned = [](const std::string& text, const StripLimits& limits = kSmall) {
    return strips_of(one_region(text), limits).has_value();
  };
  const StripLimits quarter{.least_bytes = 0, .wanted_bytes = 1, .share = 4};
  const std::string x = "x = f32[800,800] parameter(0)\n";
  EXPECT_FALSE(
      planned(x + "t = f32[800,800] transpose(x), dimensions={1,0}\nROOT y = f32[800,800] add(x, t)", quarter));
  EXPECT_FALSE(planned(x + "t = f32[800,800] reverse(x), dimensions={0}\nROOT y = f32[800,800] add(x, t)", quarter));
  EXPECT_FALSE(planned(roll_sum(1600, 3, 700, 1), quarter));
  EXPECT_TRUE(planned(roll_sum(1600, 3, 7, 1), quarter));
  EXPECT_FALSE(planned(roll_sum(1600, 3, 7, 1), {}));  // too small to be worth it
  EXPECT_FALSE(planned(roll_sum(100, 300, 7, 1)));     // fewer rows than calls of kernels need
}

}  // namespace
}  // namespace lowtide::engine
