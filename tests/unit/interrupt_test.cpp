#include "base/interrupt.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/progress.h"

namespace lowtide::engine {
namespace {

TEST(Progress, ShareAndTimeLeft) {
  EXPECT_EQ(to_string({"searching", 5, 20, 10, -1}), "searching: 25 %, 5 of 20, about 30 s left");
  EXPECT_EQ(to_string({"running", 0.5, 1, 300, -1}), "running: 50 %, about 5 min left");
  EXPECT_EQ(to_string({"reading", 0, 0, 3, -1}), "reading, for 3 s");
  EXPECT_EQ(to_string({"searching", 7, 5, 10, 1 << 20}),
            "searching: 100 %, 5 of 5, about 1 s left, lowest peak 1.00 MiB");
}

TEST(Progress, StagesWithinStages) {
  Progress progress;
  EXPECT_EQ(progress.now().name, nullptr);
  Stage outer(progress, "outer", 2);
  outer.add(1);
  {
    OutermostStage silent(progress, "silent", 9);
    EXPECT_STREQ(progress.now().name, "outer");
    const Stage inner(progress, "inner", 3);
    EXPECT_STREQ(progress.now().name, "inner");
    EXPECT_EQ(progress.now().done, 0);
  }
  EXPECT_STREQ(progress.now().name, "outer");
  EXPECT_EQ(progress.now().done, 1);
}

TEST(Progress, OfTwoContextsNeverMeets) {
  Progress one, other;
  const Stage stage(one, "one", 2);
  EXPECT_EQ(other.now().name, nullptr);
  std::thread([&] {
    const Stage silent(one, "another thread", 1);
    EXPECT_STREQ(one.now().name, "one");
  }).join();
}

TEST(Interrupt, OnlyWhatIsInterruptibleStops) {
  StopRequest stop, other;
  EXPECT_FALSE(stop.ask()) << "nothing is kept";
  EXPECT_FALSE(stop.was_asked());
  const KeepWhatIsFound keeping(stop);
  EXPECT_TRUE(stop.ask());
  EXPECT_FALSE(stop.ask()) << "asked before";
  {
    const Interruptible interruptible(stop), another(other);
    EXPECT_TRUE(stop.should_stop());
    EXPECT_FALSE(other.should_stop());
  }
  EXPECT_FALSE(stop.should_stop());
  EXPECT_EQ(interrupted().fault(), kInterruptedFault);
}

}  // namespace
}  // namespace lowtide::engine
