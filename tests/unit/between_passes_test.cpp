// What the passes of a stream keep for later ones, at a price.
#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "compile/check_fit.h"
#include "compile/frontier.h"
#include "read_module.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

/// Two products, each less the mean of its columns, and a last sum that reads both: three passes over the rows.
constexpr const char* kCentred = R"(HloModule centred
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[4096,64] parameter(0)
  v = f32[64,64] parameter(1)
  w = f32[64,64] parameter(2)
  zero = f32[] constant(0)
  part = f32[] constant(0.000244140625)
  parts = f32[64] broadcast(part), dimensions={}
  a = f32[4096,64] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sum_a = f32[64] reduce(a, zero), dimensions={0}, to_apply=add
  mean_a = f32[64] multiply(sum_a, parts)
  means_a = f32[4096,64] broadcast(mean_a), dimensions={1}
  centred_a = f32[4096,64] subtract(a, means_a)
  b = f32[4096,64] dot(centred_a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sum_b = f32[64] reduce(b, zero), dimensions={0}, to_apply=add
  mean_b = f32[64] multiply(sum_b, parts)
  means_b = f32[4096,64] broadcast(mean_b), dimensions={1}
  centred_b = f32[4096,64] subtract(b, means_b)
  both = f32[4096,64] multiply(centred_a, centred_b)
  ROOT y = f32[64] reduce(both, zero), dimensions={0}, to_apply=add
}
)";
constexpr int64_t kProduct = 4096 * 64 * 4;  ///< bytes of one

Result<Compiled> plan_with(const Module& module, StreamDecision stream) {
  stream.computation = "main";
  stream.seed = "a";
  stream.tile = 64;
  Decisions decisions = without_streams();
  decisions.emplace_back(stream);
  return compile_plan(module, cpu_target(), decisions);
}

TEST(BetweenPasses, KeepLessAtAHigherPrice) {
  const auto module = read(kCentred);
  const auto all = plan_with(*module, {.store = 1e-6}), some = plan_with(*module, {.store = 1}),
             none = plan_with(*module, {.store = 1e6}), as_ever = plan_with(*module, {});
  for (const auto* plan : {&all, &some, &none, &as_ever}) ASSERT_TRUE(plan->ok()) << plan->status().message();
  const auto temp = [](const Result<Compiled>& plan) { return plan->program->temp_bytes; };
  EXPECT_GE(temp(all), 2 * kProduct) << "the control: both products are kept";
  EXPECT_LT(temp(none), kProduct / 4);
  EXPECT_EQ(temp(none), temp(as_ever));
  EXPECT_LE(temp(none), temp(some));
  EXPECT_LE(temp(some), temp(all));
}

TEST(BetweenPasses, AreComputedRight) {
  const auto module = read(kCentred);
  for (const double price : {0.0, 1e-6, 0.3, 1.0, 3.0, 1e6}) {
    const auto plan = plan_with(*module, {.store = price});
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    const auto checked = check_fit(*module, *plan, cpu_backend());
    ASSERT_TRUE(checked.ok()) << checked.status().message();
    EXPECT_EQ(checked->exercised(), 1) << price;
  }
  const auto plan = plan_with(*module, {.store = 0.3});
  EXPECT_FALSE(check_fit(*module, *plan, cpu_backend(), {.control = 1}).ok()) << "the control";
}

/// The first pass stays outside: its product is there, and read whole.
TEST(BetweenPasses, CanBeSomeOfAll) {
  const auto module = read(kCentred);
  const auto plan = plan_with(*module, {.passes = 2});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const auto checked = check_fit(*module, *plan, cpu_backend());
  ASSERT_TRUE(checked.ok()) << checked.status().message();
  EXPECT_EQ(checked->exercised(), 1);
  EXPECT_FALSE(plan_with(*module, {.passes = 3}).ok()) << "the control: there are no fewer than all";
}

}  // namespace
}  // namespace lowtide::engine
