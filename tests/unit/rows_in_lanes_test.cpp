/// Rows that lanes read side by side are found, and their elements are those of their lanes.

#include "codegen/rows_in_lanes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/equal_lanes.h"
#include "codegen/kernel.h"
#include "codegen/kernel_plan.h"
#include "codegen/machine.h"
#include "nest/legalise.h"
#include "ops/execute.h"
#include "region_test_support.h"

namespace lowtide::engine {
namespace {

constexpr int32_t kLanes = 0, kTerms = 1;  // the loops of a nest

Nest nest_of(const std::string& body) { return legalise(lower(one_region(body).region)); }

std::string sums(int64_t rows, int64_t elements, int64_t row) {
  return fmt::format(R"(
  x = u32[{0},{2}] parameter(0)
  p = u32[{0},{1}] slice(x), slice={{[0:{0}], [{3}:{2}]}}
  w = u32[{1}] parameter(1)
  ROOT y = u32[{0}] dot(p, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}})",
                     rows, elements, row, row - elements);
}

size_t found(const std::string& body, bool avx512 = true) {
  const Nest nest = nest_of(body);
  return loads_in_rows(nest, kTerms, kLanes, varying_nodes(nest, kLanes), avx512).size();
}

TEST(RowsInLanes, AreContiguousNeitherTooShortNorTooLong) {
  EXPECT_EQ(found(sums(100, 16, 16)), 1U);
  EXPECT_EQ(found(sums(100, 4, 4)), 1U);
  EXPECT_EQ(found(sums(100, 5, 77)), 1U);
  EXPECT_EQ(found(sums(100, 64, 64)), 1U);
  EXPECT_EQ(found(sums(100, 3, 3)), 0U);
  EXPECT_EQ(found(sums(100, 65, 65)), 0U);
  // columns, which lanes read contiguously
  EXPECT_EQ(found(R"(
  x = u32[16,100] parameter(0)
  w = u32[16] parameter(1)
  ROOT y = u32[100] dot(x, w), lhs_contracting_dims={0}, rhs_contracting_dims={0})"),
            0U);
}

TEST(RowsInLanes, OfBytesAreReadByThemselves) {
  const std::string body = R"(
  x = bf16[100,16] parameter(0)
  c = f32[100,16] convert(x)
  w = f32[16] parameter(1)
  ROOT y = f32[100] dot(c, w), lhs_contracting_dims={1}, rhs_contracting_dims={0})";
  EXPECT_EQ(found(body, true), 1U);
  EXPECT_EQ(found(body, false), 0U);
}

/// Integers, whose sums are the same in each order: an element in the wrong lane or term shows.
TEST(RowsInLanes, GiveWhatTheDefinitionGives) {
  for (const int64_t rows : {7, 16, 100, 531}) {
    for (const auto& [elements, row] : {std::pair{4, 4}, {5, 9}, {8, 8}, {11, 11}, {16, 20}, {37, 37}}) {
      const Nest nest = nest_of(sums(rows, elements, row));
      std::vector<uint32_t> x(static_cast<size_t>(rows * row)), w(static_cast<size_t>(elements));
      for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<uint32_t>(k * 2654435761U);
      for (size_t k = 0; k < w.size(); ++k) w[k] = static_cast<uint32_t>(3 * k + 1);
      std::vector<uint32_t> want(static_cast<size_t>(rows));
      void* defined[] = {x.data(), w.data(), want.data()};
      execute(nest, std::span<void* const>(defined, 3));
      for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
        if (isa == Isa::kAvx512 && *resolve_isa(Isa::kNative) != Isa::kAvx512) continue;
        const auto kernels = compile_kernels({&nest, 1}, {.isa = isa, .use_cache = false});
        ASSERT_TRUE(kernels.ok()) << kernels.status().message();
        std::vector<uint32_t> got(static_cast<size_t>(rows));
        void* buffers[] = {x.data(), w.data(), got.data()};
        kernels->front().run(buffers, 0, 0, kernels->front().pieces[0].extent);
        EXPECT_EQ(got, want) << rows << " rows of " << elements << " in " << row;
      }
    }
  }
}

}  // namespace
}  // namespace lowtide::engine
