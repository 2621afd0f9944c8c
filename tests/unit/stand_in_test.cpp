#include "passes/stand_in.h"
#include "read_module.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "compile/check_fit.h"
#include "compile/compile.h"
#include "compile/planner.h"
#include "interp/interpreter.h"
#include "ops/stand_in.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

Value filled(const Shape& shape, float first, float others) {
  auto array = std::make_shared<Literal>(shape);
  for (float& x : array->data<float>()) x = others;
  array->data<float>()[0] = first;
  return array;
}

TEST(StandIn, DependsOnEveryOperand) {
  const Shape results = Shape::tuple({Shape::array(ElementType::kF32, {3}), Shape::array(ElementType::kU32, {2})});
  const Shape shape = Shape::array(ElementType::kF32, {8});
  const auto floats = [&](float first, float second) {
    const std::vector<Value> operands{filled(shape, first, 0.1f), filled(shape, second, 0.2f)};
    const auto made = stand_in_for(results, operands);
    EXPECT_TRUE(made.ok());
    const auto data = (*made)->parts()[0]->data<float>();
    return std::vector<float>(data.begin(), data.end());
  };
  const auto usual = floats(0, 0), other = floats(0.5f, 0), another = floats(0, 0.5f);
  EXPECT_EQ(usual, floats(0, 0));
  for (size_t e = 0; e < usual.size(); ++e) {
    EXPECT_NE(usual[e], other[e]) << e;
    EXPECT_NE(usual[e], another[e]) << e;
    EXPECT_LT(std::fabs(usual[e]), 1);
  }
  const Value none = std::make_shared<Literal>(Shape::array(ElementType::kF32, {0}));
  EXPECT_TRUE(stand_in_for(results, std::vector<Value>{none, filled(shape, 0, 0.1f)}).ok());
}

/// Layers of two calls that nobody here knows, of which both are read again, and a sum over devices.
std::string layers(int rows) {
  const std::string tall = fmt::format("f32[{},64]", rows);
  std::string text =
      "HloModule layers, num_partitions=4\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
      "  ROOT c = f32[] add(a, b)\n}\nENTRY main {\n  a.0 = " +
      tall + " parameter(0)\n";
  const auto call = [&](const std::string& name, const std::string& operands, std::string_view target) {
    text += fmt::format("  {} = {} custom-call({}), custom_call_target=\"{}\"\n", name, tall, operands, target);
  };
  for (int k = 1; k <= 6; ++k) {
    call(fmt::format("h.{}", k), fmt::format("a.{}", k - 1), "attention_of_a_library");
    call(fmt::format("s.{}", k), fmt::format("h.{}", k), "norm_of_a_library");
    text += fmt::format("  a.{0} = {1} tanh(s.{0})\n", k, tall);
  }
  text += fmt::format("  d.6 = {} negate(a.6)\n", tall);
  for (int k = 6; k >= 1; --k) {
    text += fmt::format("  g.{0} = {1} multiply(h.{0}, d.{0})\n  e.{0} = {1} multiply(s.{0}, d.{0})\n", k, tall);
    call(fmt::format("d.{}", k - 1), fmt::format("g.{0}, e.{0}", k), "attention_of_a_library_bwd");
  }
  return text + "  ROOT r = " + tall + " all-reduce(d.0), replica_groups={{0,1,2,3}}, to_apply=add\n}\n";
}

TEST(StandIn, LetsPlansBeComparedThatCannotRunHere) {
  const auto module = read(layers(1 << 16));
  const auto compiled = compile_plan(*module, cpu_target(), {Recompute{0.35}});
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const auto checked = check_fit(*module, *compiled, cpu_backend(), {.only_small = true});
  ASSERT_TRUE(checked.ok()) << checked.status().message();
  EXPECT_EQ(checked->how, CheckedFit::How::kSmall);
  EXPECT_EQ(checked->exercised(), 1) << checked->found;
  EXPECT_NE(checked->found.find("another function stands for 19 calls and collectives"), std::string::npos)
      << checked->found;
  const auto spoilt = check_fit(*module, *compiled, cpu_backend(), {.control = 1, .only_small = true});
  ASSERT_FALSE(spoilt.ok()) << "the control";
  EXPECT_EQ(spoilt.status().fault(), Fault::kWrongValues);
}

TEST(StandIn, LeavesWhatHasEffects) {
  const auto module = read(
      "HloModule m\nENTRY main {\n  x = f32[4] parameter(0)\n  a = f32[4] custom-call(x), "
      "custom_call_target=\"touch\", "
      "custom_call_has_side_effect=true\n  ROOT b = f32[4] custom-call(a), custom_call_target=\"know\"\n}\n");
  const auto done = stand_in(*module);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->count, 1);
  EXPECT_NE(print_hlo(*module).find("\"touch\""), std::string::npos);
}

}  // namespace
}  // namespace lowtide::engine
