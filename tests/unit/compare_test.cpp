#include "interp/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace lowtide::engine {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

template <class T>
Literal array(ElementType type, std::vector<T> elements) {
  Literal literal(Shape::array(type, {static_cast<int64_t>(elements.size())}));
  std::copy(elements.begin(), elements.end(), literal.data<T>().begin());
  return literal;
}
Literal floats(std::vector<float> elements) { return array(ElementType::kF32, std::move(elements)); }

TEST(Compare, EqualBitsAgreeWithoutTolerance) {
  EXPECT_TRUE(compare(floats({0, -0.0f, kInf, kNan}), floats({-0.0f, 0, kInf, -kNan}), {}, "x").agrees());
}

TEST(Compare, ToleranceIsRelativePlusShareOfTheLargest) {
  EXPECT_TRUE(compare(floats({100.9f, 0}), floats({100, 0}), {.rtol = 0.01}, "x").agrees());
  const Comparison off = compare(floats({101.5f, 0.5f}), floats({100, 0}), {.rtol = 0.01}, "x");
  EXPECT_EQ(off.mismatches, 2);
  EXPECT_EQ(off.first, "x{0}: 101.5, expected 100");
  EXPECT_DOUBLE_EQ(off.max_abs_error, 1.5);
  EXPECT_TRUE(compare(floats({100, 0.5f}), floats({100, 0}), {.atol_of_max = 0.01}, "x").agrees());
}

TEST(Compare, InfinityAndNanAreNotWithinAnyTolerance) {
  const Tolerance wide{.rtol = 1, .atol_of_max = 1};
  EXPECT_EQ(compare(floats({0, kInf, kNan, 1, -kInf}), floats({kInf, 0, 1, kNan, kInf}), wide, "x").mismatches, 5);
}

TEST(Compare, DenormalsCountAsZero) {
  EXPECT_TRUE(compare(floats({1e-40f}), floats({0}), {}, "x").agrees());
  EXPECT_FALSE(compare(floats({1e-37f}), floats({0}), {}, "x").agrees());
  EXPECT_TRUE(
      compare(array<double>(ElementType::kF64, {1e-310}), array<double>(ElementType::kF64, {0}), {}, "x").agrees());
}

TEST(Compare, IntegersIgnoreTheTolerance) {
  const Tolerance wide{.rtol = 1, .atol_of_max = 1};
  const Comparison off = compare(array<int64_t>(ElementType::kS64, {INT64_MAX}),
                                 array<int64_t>(ElementType::kS64, {INT64_MAX - 1}), wide, "x");
  EXPECT_EQ(off.mismatches, 1);
  EXPECT_EQ(off.first, "x{0}: 9223372036854775807, expected 9223372036854775806");
}

TEST(Compare, ComplexByDistance) {
  const auto one = [](float re, float im) { return array<std::complex<float>>(ElementType::kC64, {{re, im}}); };
  EXPECT_TRUE(compare(one(3, 4.0004f), one(3, 4), {.rtol = 1e-4}, "x").agrees());
  EXPECT_FALSE(compare(one(3, 4.1f), one(3, 4), {.rtol = 1e-4}, "x").agrees());
  EXPECT_TRUE(compare(one(kNan, 1), one(2, kNan), {}, "x").agrees());
}

TEST(Compare, UlpsAcrossZeroAndTypes) {
  EXPECT_EQ(compare(floats({std::nextafter(1.0f, 2.0f)}), floats({1}), {}, "x").max_ulp, 1);
  const auto bf16 = [](float v) { return array<BFloat16>(ElementType::kBF16, {BFloat16(v)}); };
  EXPECT_EQ(compare(bf16(1.0078125f), bf16(1), {}, "x").max_ulp, 1);
  EXPECT_EQ(
      compare(array<double>(ElementType::kF64, {-1e300}), array<double>(ElementType::kF64, {1e300}), {}, "x").max_ulp,
      INT64_MAX);
  const auto complex = [](double re) { return array<std::complex<double>>(ElementType::kC128, {{re, 0}}); };
  EXPECT_EQ(compare(complex(-1e300), complex(1e300), {}, "x").max_ulp, INT64_MAX);
}

TEST(Compare, ShapesAndCounts) {
  EXPECT_EQ(compare(floats({1}), floats({1, 2}), {}, "x").first, "x: f32[1], expected f32[2]");
  const Value one = std::make_shared<Literal>(floats({1}));
  const Value pair = std::make_shared<Literal>(std::vector<Value>{one, one});
  EXPECT_TRUE(compare(*pair, *pair, {}, "x").agrees());
  EXPECT_FALSE(compare_results(std::vector<Value>{one}, std::vector<Value>{}, {}).agrees());
  const Value unknown = std::make_shared<Literal>(Literal::unknown(Shape::array(ElementType::kF32, {1})));
  EXPECT_FALSE(compare(*unknown, *one, {}, "x").agrees());
}

}  // namespace
}  // namespace lowtide::engine
