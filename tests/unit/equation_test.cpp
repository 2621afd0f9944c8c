// Equations against all values that their unknowns can have.
#include "schedule/check/equation.h"

#include <gtest/gtest.h>

#include <random>

namespace lowtide::engine {
namespace {

struct Unknown {
  int64_t coefficient, least, greatest;
};

bool holds(int64_t constant, const std::vector<Unknown>& unknowns, size_t at = 0) {
  if (at == unknowns.size()) return constant == 0;
  for (int64_t x = unknowns[at].least; x <= unknowns[at].greatest; ++x) {
    if (holds(constant + unknowns[at].coefficient * x, unknowns, at + 1)) return true;
  }
  return false;
}

bool may_hold(int64_t constant, const std::vector<Unknown>& unknowns) {
  Equation equation;
  equation.add(constant);
  for (const auto& [coefficient, least, greatest] : unknowns) equation.add(coefficient, least, greatest);
  return equation.may_hold();
}

TEST(Equation, AsAllValuesSay) {
  std::mt19937 chance(7);
  const auto within = [&](int64_t least, int64_t greatest) {
    return std::uniform_int_distribution<int64_t>(least, greatest)(chance);
  };
  int without = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<Unknown> unknowns;
    for (int64_t k = within(0, 4); k > 0; --k) {
      const int64_t least = within(-3, 3);
      unknowns.push_back({within(-40, 40), least, least + within(-1, 4)});
    }
    const int64_t constant = within(-120, 120);
    const bool must = holds(constant, unknowns);
    without += !must;
    EXPECT_EQ(may_hold(constant, unknowns), must) << trial;
  }
  EXPECT_GT(without, 2000);
}

TEST(Equation, ColumnsOfLongArrays) {
  const int64_t rows = int64_t{1} << 40, row = 1000;
  // columns [0, 10) beside columns [10, 20), and beside columns [9, 20)
  EXPECT_FALSE(may_hold(-10, {{row, 0, rows}, {1, 0, 9}, {-row, 0, rows}, {-1, 0, 9}}));
  EXPECT_TRUE(may_hold(-9, {{row, 0, rows}, {1, 0, 9}, {-row, 0, rows}, {-1, 0, 10}}));
  // even elements beside odd ones
  EXPECT_FALSE(may_hold(1, {{2, 0, rows}, {-2, 0, rows}}));
}

TEST(Equation, RowsThatAreCountedInTwoWays) {
  // columns [0, 64) of rows that two loops walk beside columns [64, 256) of rows that one loop walks
  EXPECT_FALSE(may_hold(-64, {{512, 0, 4095}, {256, 0, 1}, {1, 0, 63}, {-256, 0, 8191}, {-1, 0, 191}}));
  EXPECT_TRUE(may_hold(-64, {{512, 0, 4095}, {256, 0, 1}, {1, 0, 64}, {-256, 0, 8191}, {-1, 0, 191}}));
  // even rows beside odd ones
  EXPECT_FALSE(may_hold(-256, {{512, 0, 4095}, {1, 0, 255}, {-512, 0, 4095}, {-1, 0, 0}}));
}

TEST(Equation, WithoutBoundsNobodyKnows) {
  EXPECT_TRUE(may_hold(5, {{int64_t{1} << 40, INT64_MIN, INT64_MAX}}));
  EXPECT_FALSE(may_hold(5, {{int64_t{1} << 40, INT64_MIN, INT64_MAX}, {1, 1, 0}}));  // no value at all
}

}  // namespace
}  // namespace lowtide::engine
