#include "analysis/tpu_temp.h"

#include <gtest/gtest.h>

#include "analysis/account.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

constexpr Bytes kUnit = 16384;  // alignment in the arena of a TPU

struct Traced {
  Assignment assignment;
  Liveness liveness;

  int32_t group(Bytes bytes, std::initializer_list<Lifetime> values) {
    ValueGroup group;
    group.size.bytes = bytes;
    for (const Lifetime& life : values) {
      group.values.push_back(static_cast<int32_t>(liveness.first.size()));
      liveness.first.push_back(life.born);
      liveness.last.push_back(life.dies);
      assignment.handed_on.push_back(false);
    }
    assignment.in_arena.push_back(static_cast<int32_t>(assignment.groups.size()));
    assignment.groups.push_back(std::move(group));
    return static_cast<int32_t>(assignment.groups.size()) - 1;
  }
  Bytes peak() const { return traced_peak(assignment, liveness); }
};

TEST(TracedPeak, CountsBothSidesOfAStepWhereOneEndsAndAnotherBegins) {
  Traced traced;
  traced.group(100, {{0, 2}});
  traced.group(50, {{2, 3}});
  EXPECT_EQ(traced.peak(), 150);
}

TEST(TracedPeak, LosesACarryOnceItsInitialValueHasEnded) {
  Traced traced;
  traced.group(100, {{0, 1}, {1, 9}});
  traced.group(50, {{4, 5}});
  EXPECT_EQ(traced.peak(), 100);
}

TEST(TracedPeak, EntersAValueThatBeginsAfterAllOthersOfItsBuffer) {
  Traced traced;
  traced.group(100, {{0, 1}, {1, 3}, {5, 9}});
  traced.group(50, {{4, 6}});
  EXPECT_EQ(traced.peak(), 150);
}

TEST(TracedPeak, TakesOffWhatIsHandedOnBeforeItsHeirIsEntered) {
  Traced traced;
  traced.group(100, {{0, 2}, {2, 5}});
  EXPECT_EQ(traced.peak(), 100);
  traced.assignment.handed_on[0] = true;
  traced.group(50, {{4, 5}});
  EXPECT_EQ(traced.peak(), 150);
}

TEST(StatedTemp, CountsTwiceWhatTheArenaLoses) {
  EXPECT_EQ(stated_temp(3 * kUnit, kUnit, 0, 2 * kUnit), 4 * kUnit);
  EXPECT_EQ(stated_temp(kUnit + 512, kUnit, 0, kUnit + 512), 3 * kUnit - 512);
  EXPECT_EQ(stated_temp(kUnit, kUnit, 2, kUnit), 5 * kUnit - 64);
  EXPECT_EQ(stated_temp(0, kUnit, 2, 0), 0);
}

Account account(const std::string& text) {
  auto module = parse_hlo(std::make_shared<Source>(Source{"test.hlo", text}));
  EXPECT_TRUE(module.ok()) << module.status().message();
  static std::vector<std::unique_ptr<Module>> kept;  // accounts point into their modules
  kept.push_back(module.take());
  return account_for(*kept.back(), AccountMode::kAsGiven);
}

const AccountBuffer* holder(const Account& account, const std::string& name) {
  for (const AccountBuffer& buffer : account.buffers) {
    for (const ValueRef& value : buffer.values) {
      if (value.instruction->name == name) return &buffer;
    }
  }
  return nullptr;
}

/// a's negation is read by `next` for the last time; the configuration says whether `next` may be written over it.
std::string chain(const std::string& aliasing) {
  return R"(HloModule m, is_scheduled=true
ENTRY main { a = f32[1024,128]{1,0:T(8,128)} parameter(0)
  first = f32[1024,128]{1,0:T(8,128)} negate(a)
  next = f32[1024,128]{1,0:T(8,128)} abs(first), backend_config={"aliasing_operands":{"lists":[)" +
         aliasing + R"(]}}
  last = f32[8,128]{1,0:T(8,128)} slice(next), slice={[0:8], [0:128]}
  ROOT turned = f32[128,8]{1,0:T(8,128)} transpose(last), dimensions={1,0} })";
}

TEST(TpuSharing, FollowsTheConfigurationAlone) {
  const Account apart = account(chain(""));
  EXPECT_NE(holder(apart, "first"), holder(apart, "next"));
  const Account together = account(chain(R"({"indices":["0","1"]})"));
  EXPECT_EQ(holder(together, "first"), holder(together, "next"));
  EXPECT_EQ(apart.temp_bytes, 2 * 1024 * 128 * 4);
  EXPECT_LT(together.temp_bytes, apart.temp_bytes);
}

}  // namespace
}  // namespace lowtide::engine
