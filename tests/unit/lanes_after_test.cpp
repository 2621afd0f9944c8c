/// What follows the sums over rows is computed in lanes from row to row, with the same results.

#include "codegen/lanes_after.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/kernel.h"
#include "codegen/kernel_plan.h"
#include "codegen/machine.h"
#include "nest/legalise.h"
#include "ops/execute.h"
#include "region_test_support.h"

namespace lowtide::engine {
namespace {

Nest nest_of(const std::string& body) { return legalise(lower(one_region(body).region)); }

/// Two sums of each row, and several steps of a hash that depend on them and on the row's own element.
std::string hashed(int64_t rows, int64_t elements, int steps) {
  std::string text = fmt::format(R"(
  x = u32[{0},{1}] parameter(0)
  w = u32[{1}] parameter(1)
  b = u32[{0}] parameter(2)
  s = u32[{0}] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  h0 = u32[{0}] add(s, b)
  one = u32[] constant(2654435761)
  ones = u32[{0}] broadcast(one), dimensions={{}})",
                                 rows, elements);
  for (int k = 1; k <= steps; ++k) {
    text += fmt::format("\n  m{0} = u32[{1}] multiply(h{2}, ones)\n  h{0} = u32[{1}] xor(m{0}, b)", k, rows, k - 1);
  }
  return text + fmt::format("\n  ROOT y = u32[{0}] add(h{1}, s)", rows, steps);
}

int32_t lanes_after(const std::string& body, bool avx512 = true) {
  const KernelPlan plan = plan_kernel(nest_of(body), avx512);
  return *std::ranges::max_element(plan.after);
}

TEST(LanesAfter, AreOfLongRowsAndMuchThatFollows) {
  EXPECT_EQ(lanes_after(hashed(1000, 200, 20)), 16);
  EXPECT_EQ(lanes_after(hashed(1000, 200, 20), false), 8);
  EXPECT_EQ(lanes_after(hashed(1000, 200, 0)), 0) << "a sum takes longer to keep than to finish";
  EXPECT_EQ(lanes_after(hashed(20, 200, 20)), 0) << "too few rows";
}

TEST(LanesAfter, NeedReductionsThatOnlyReadAndNumbersThatFitLanes) {
  const auto parts = [](const std::string& body) { return split_after_reductions(nest_of(body), 0); };
  EXPECT_TRUE(parts(hashed(100, 80, 4)).splits());
  EXPECT_FALSE(parts(R"(
  x = s64[100,80] parameter(0)
  w = s64[80] parameter(1)
  s = s64[100] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT y = s64[100] multiply(s, s))")
                   .splits());
  EXPECT_FALSE(parts("x = f32[100] parameter(0)\n  ROOT y = f32[100] exponential(x)").splits());
}

/// Integers, whose sums are the same in each order: a result in the wrong lane or row shows.
TEST(LanesAfter, GiveWhatTheDefinitionGives) {
  for (const int64_t rows : {32, 33, 100, 531}) {
    for (const int64_t elements : {65, 128, 200}) {
      const Nest nest = nest_of(hashed(rows, elements, 20));
      std::vector<uint32_t> x(static_cast<size_t>(rows * elements)), w(static_cast<size_t>(elements));
      std::vector<uint32_t> b(static_cast<size_t>(rows)), want(b.size());
      for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<uint32_t>(k * 2654435761U);
      for (size_t k = 0; k < w.size(); ++k) w[k] = static_cast<uint32_t>(3 * k + 1);
      for (size_t k = 0; k < b.size(); ++k) b[k] = static_cast<uint32_t>(k * k + 7);
      void* defined[] = {x.data(), w.data(), b.data(), want.data()};
      execute(nest, std::span<void* const>(defined, 4));
      for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
        if (isa == Isa::kAvx512 && *resolve_isa(Isa::kNative) != Isa::kAvx512) continue;
        const auto kernels = compile_kernels({&nest, 1}, {.isa = isa, .use_cache = false});
        ASSERT_TRUE(kernels.ok()) << kernels.status().message();
        std::vector<uint32_t> got(b.size());
        void* buffers[] = {x.data(), w.data(), b.data(), got.data()};
        kernels->front().run(buffers, 0, 0, kernels->front().pieces[0].extent);
        EXPECT_EQ(got, want) << rows << " rows of " << elements;
        // The control: another row's element is noticed.
        std::swap(b[3], b[4]);
        kernels->front().run(buffers, 0, 0, kernels->front().pieces[0].extent);
        EXPECT_NE(got, want);
        std::swap(b[3], b[4]);
      }
    }
  }
}

}  // namespace
}  // namespace lowtide::engine
