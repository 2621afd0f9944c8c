#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/progress.h"

namespace lowtide {
namespace {

TEST(Progress, ShareAndTimeLeft) {
  EXPECT_EQ(to_string({"searching", 5, 20, 10, -1}), "searching: 25 %, 5 of 20, about 30 s left");
  EXPECT_EQ(to_string({"running", 0.5, 1, 300, -1}), "running: 50 %, about 5 min left");
  EXPECT_EQ(to_string({"reading", 0, 0, 3, -1}), "reading, for 3 s");
  EXPECT_EQ(to_string({"searching", 7, 5, 10, 1 << 20}),
            "searching: 100 %, 5 of 5, about 1 s left, lowest peak 1.00 MiB");
}

TEST(Progress, StagesWithinStages) {
  EXPECT_EQ(progress_now().name, nullptr);
  Stage outer("outer", 2);
  outer.add(1);
  {
    OutermostStage silent("silent", 9);
    EXPECT_STREQ(progress_now().name, "outer");
    const Stage inner("inner", 3);
    EXPECT_STREQ(progress_now().name, "inner");
    EXPECT_EQ(progress_now().done, 0);
  }
  EXPECT_STREQ(progress_now().name, "outer");
  EXPECT_EQ(progress_now().done, 1);
}

// Asked once, a process stays so: one of its own asks.
bool stops_once() {
  const KeepWhatIsFound keeping;
  const bool first = ask_to_stop(), second = ask_to_stop();
  bool within = false;
  {
    const Interruptible interruptible;
    within = should_stop();
  }
  return first && !second && within && !should_stop() && interrupted().fault() == kInterruptedFault;
}

TEST(Interrupt, OnlyWhatIsInterruptibleStops) {
  EXPECT_FALSE(ask_to_stop());  // nothing is kept
  EXPECT_FALSE(was_interrupted());
  EXPECT_EXIT(::_exit(stops_once() ? 0 : 1), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace lowtide
