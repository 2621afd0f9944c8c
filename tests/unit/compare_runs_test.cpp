// Results before and after a rewrite: those of another shape differ even where their bytes are equal.
#include "passes/compare_runs.h"

#include <gtest/gtest.h>

#include "read_module.h"

namespace lowtide::engine {
namespace {

std::string difference_after(const std::string& before, const std::string& after) {
  const auto of = [](const std::string& root) {
    return read("HloModule m\nENTRY main {\n  x = f32[2,3] parameter(0)\n  ROOT y = " + root + "\n}\n");
  };
  const auto found = difference_of_runs(*of(before), *of(after), Numerics::kExact, 1);
  EXPECT_TRUE(found.ok()) << found.status().message();
  return found.ok() ? *found : "";
}

TEST(CompareRuns, NamesWhatDiffers) {
  EXPECT_EQ(difference_after("f32[2,3] negate(x)", "f32[2,3] negate(x)"), "");
  EXPECT_NE(difference_after("f32[2,3] negate(x)", "f32[2,3] abs(x)"), "");
}

TEST(CompareRuns, ShapesCountAsWellAsBytes) {
  EXPECT_NE(difference_after("f32[2,3] copy(x)", "f32[3,2] reshape(x)"), "");
  EXPECT_NE(difference_after("f32[2,3] copy(x)", "s32[2,3] bitcast-convert(x)"), "");
}

}  // namespace
}  // namespace lowtide::engine
