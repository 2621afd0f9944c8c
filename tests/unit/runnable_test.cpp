// What is told of a program before it runs: sizes that only the run knows may be the bounds.
#include "ops/runnable.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "read_module.h"

namespace lowtide::engine {
namespace {

std::string fault_of_size(const std::string& size) {
  const std::string text = fmt::format(
      "HloModule m\nENTRY main {{\n  x = f32[4] parameter(0)\n  n = s32[] {}\n"
      "  ROOT y = f32[<=4] set-dimension-size(x, n), dimensions={{0}}\n}}\n",
      size);
  return why_set_dimension_size_not_run(*read(text)->entry->root);
}

TEST(Runnable, SizesOfDimensions) {
  EXPECT_EQ(fault_of_size("constant(4)"), "");
  EXPECT_NE(fault_of_size("constant(3)"), "");
  EXPECT_EQ(fault_of_size("parameter(1)"), "");
}

}  // namespace
}  // namespace lowtide::engine
