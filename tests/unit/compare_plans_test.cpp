#include "compile/compare_plans.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "compile/compile.h"
#include "read_module.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

std::unique_ptr<Module> times(double factor) {
  return read(
      fmt::format("HloModule times\nENTRY main {{\n  x = f64[64] parameter(0)\n  c = f64[] constant({})\n"
                  "  b = f64[64] broadcast(c), dimensions={{}}\n  ROOT y = f64[64] multiply(x, b)\n}}\n",
                  factor));
}

/// What is said of a program that multiplies by `factor` where another is expected.
std::string beside(double expected, double factor) {
  const auto zero = times(expected), other = times(factor);
  const auto planner = Planner::make(*zero, cpu_target());
  EXPECT_TRUE(planner.ok());
  const auto comparison = PlanComparison::make(*zero, *planner, cpu_backend(), true);
  EXPECT_TRUE(comparison.ok()) << comparison.status().message();
  const auto plan = compile_plan(*other, cpu_target());
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  const auto difference = comparison->difference(*plan);
  EXPECT_TRUE(difference.ok()) << difference.status().message();
  return *difference;
}

TEST(ComparePlans, TakesForZeroWhatRoundingOfTheArgumentsLeaves) {
  EXPECT_EQ(beside(0, 1e-17), "");
  EXPECT_EQ(beside(1e-17, 0), "");
  EXPECT_NE(beside(0, 1e-12), "") << "the control";
  EXPECT_NE(beside(1e-12, 2e-12), "") << "the control: so small a result is one";
}

/// What is said of imaginary parts of a transform of equal numbers, which are zero but for rounding, plus `more`,
/// beside those plus `expected`.
std::string transformed_beside(double expected, double more) {
  const auto program = [](double addend) {
    return read(
        fmt::format("HloModule transform\nENTRY main {{\n  x = f64[2,24] parameter(0)\n  c = f64[] constant(200)\n"
                    "  low = f64[2,24] broadcast(c), dimensions={{}}\n  at_least = f64[2,24] maximum(x, low)\n"
                    "  equal = f64[2,24] minimum(at_least, low)\n"
                    "  t = c128[2,13] fft(equal), fft_type=RFFT, fft_length={{24}}\n"
                    "  im = f64[2,13] imag(t)\n  a = f64[] constant({})\n"
                    "  b = f64[2,13] broadcast(a), dimensions={{}}\n  ROOT sum = f64[2,13] add(im, b)\n}}\n",
                    addend));
  };
  const auto right = program(expected), other = program(more);
  const auto planner = Planner::make(*right, cpu_target());
  EXPECT_TRUE(planner.ok());
  const auto comparison = PlanComparison::make(*right, *planner, cpu_backend(), true);
  EXPECT_TRUE(comparison.ok()) << comparison.status().message();
  const auto plan = compile_plan(*other, cpu_target());
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  const auto difference = comparison->difference(*plan);
  EXPECT_TRUE(difference.ok()) << difference.status().message();
  return *difference;
}

TEST(ComparePlans, TransformsErrLikeTheirLargestElement) {
  EXPECT_EQ(transformed_beside(0, 3e-14), "");
  EXPECT_EQ(transformed_beside(3e-14, 0), "");
  EXPECT_NE(transformed_beside(1e-9, 2e-9), "") << "the control";
}

}  // namespace
}  // namespace lowtide::engine
