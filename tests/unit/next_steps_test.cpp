#include "compile/next_steps.h"

#include <gtest/gtest.h>

#include "compile/planner.h"
#include "target/cpu.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

Trial with(Decisions decisions) {
  Trial trial;
  trial.point.decisions = std::move(decisions);
  return trial;
}

/// Beyond the offered prices, whose model is rough, the search only doubles the price of what it recomputes last.
TEST(NextSteps, TheLastPriceIsDoubled) {
  const auto module = parse_hlo(std::make_shared<const Source>(
      Source{"test.hlo", "HloModule m\nENTRY main {\n  x = f32[8] parameter(0)\n  ROOT y = f32[8] sine(x)\n}\n"}));
  ASSERT_TRUE(module.ok());
  const auto planner = Planner::make(**module, cpu_target());
  ASSERT_TRUE(planner.ok()) << planner.status().message();
  const NextSteps next(*planner);
  const StreamDecision stream{"main", "y", 0, 4};

  std::vector<Series> steps;
  next.add_dearer_recompute(with({Recompute{{1.5}}, stream}), steps);
  next.add_dearer_recompute(with({}), steps);
  EXPECT_TRUE(steps.empty()) << "what precedes a stream has offers of its own";

  next.add_dearer_recompute(with({stream, Recompute{{1.5}}}), steps);
  ASSERT_EQ(steps.size(), 1u);
  const std::vector<Decisions> expected = {
      {stream, Recompute{{3}}}, {stream, Recompute{{6}}}, {stream, Recompute{{12}}}};
  EXPECT_EQ(steps[0].steps, expected);
}

}  // namespace
}  // namespace lowtide::engine
