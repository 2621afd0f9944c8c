#include <gtest/gtest.h>

#include <string>

#include "analysis/account.h"
#include "analysis/host_values.h"
#include "backend/cpu/cpu_backend.h"
#include "checked_in_small.h"
#include "compile/check_fit.h"
#include "compile/compile.h"
#include "passes/recompute/offload.h"
#include "read_module.h"
#include "schedule/check/check_program.h"
#include "schedule/modelled_time.h"
#include "target/cpu.h"
#include "target/machines.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kSlice = 96 * 32 * 4, kTrips = 8;

/// Eight iterations stack what they begin with; eight more read it from its end. `to` and `from` are wrapped around a
/// slice on its way.
std::string pair_of_loops(const std::string& to, const std::string& from) {
  const auto test = [](const std::string& name) {
    return name + R"( {
  p = (s32[], f32[96,32], f32[8,96,32]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(8)
  ROOT less = pred[] compare(i, n), direction=LT
}
)";
  };
  const std::string begin = R"( {
  p = (s32[], f32[96,32], f32[8,96,32]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  zero = s32[] constant(0)
  next = s32[] add(i, one)
  x = f32[96,32] get-tuple-element(p), index=1
  all = f32[8,96,32] get-tuple-element(p), index=2
)";
  return "HloModule m\n" + test("first") + test("second") + "forwards" + begin + "  h = f32[96,32] " + to +
         R"(
  slot = f32[1,96,32] reshape(h)
  more = f32[8,96,32] dynamic-update-slice(all, slot, i, zero, zero)
  y = f32[96,32] sine(x)
  ROOT r = (s32[], f32[96,32], f32[8,96,32]) tuple(next, y, more)
}
later)" + begin +
         R"(  seven = s32[] constant(7)
  at = s32[] subtract(seven, i)
  slot = f32[1,96,32] dynamic-slice(all, at, zero, zero), dynamic_slice_sizes={1,96,32}
  h = f32[96,32] reshape(slot)
  d = f32[96,32] )" +
         from + R"(
  c = f32[96,32] cosine(d)
  y = f32[96,32] multiply(x, c)
  ROOT r = (s32[], f32[96,32], f32[8,96,32]) tuple(next, y, all)
}
ENTRY main {
  x = f32[96,32] parameter(0)
  zero = s32[] constant(0)
  nought = f32[] constant(0)
  empty = f32[8,96,32] broadcast(nought), dimensions={}
  t = (s32[], f32[96,32], f32[8,96,32]) tuple(zero, x, empty)
  f = (s32[], f32[96,32], f32[8,96,32]) while(t), condition=first, body=forwards
  y = f32[96,32] get-tuple-element(f), index=1
  all = f32[8,96,32] get-tuple-element(f), index=2
  u = (s32[], f32[96,32], f32[8,96,32]) tuple(zero, y, all)
  l = (s32[], f32[96,32], f32[8,96,32]) while(u), condition=second, body=later
  ROOT r = f32[96,32] get-tuple-element(l), index=1
}
)";
}

std::string placed(const std::string& value, const std::string& where) {
  return "custom-call(" + value +
         R"(), custom_call_target="annotate_device_placement", custom_call_has_side_effect=true, )" +
         R"(frontend_attributes={_xla_buffer_placement=")" + where + "\"}";
}

std::unique_ptr<Module> offloading() { return read(pair_of_loops(placed("x", "pinned_host"), placed("h", "device"))); }
std::unique_ptr<Module> plain() { return read(pair_of_loops("copy(x)", "copy(h)")); }

TEST(HostMemory, AStackFollowsWhatMovesIntoIt) {
  const auto module = offloading();
  const HostValues in_host = find_host_values(*module);
  const auto lies_there = [&](const std::string& computation, const std::string& name, int64_t leaf) {
    for (const auto& i : module->find_computation(computation)->instructions()) {
      if (i->name == name) return in_host.contains(*i, leaf);
    }
    ADD_FAILURE() << name;
    return false;
  };
  EXPECT_TRUE(lies_there("main", "f", 2));
  EXPECT_TRUE(lies_there("main", "empty", 0));
  EXPECT_TRUE(lies_there("forwards", "p", 2));
  EXPECT_TRUE(lies_there("later", "slot", 0));
  EXPECT_FALSE(lies_there("main", "f", 1));
  EXPECT_FALSE(lies_there("later", "d", 0));
  EXPECT_FALSE(lies_there("forwards", "x", 0));
  EXPECT_TRUE(find_host_values(*plain()).none()) << "the control";
}

TEST(HostMemory, IsNoPartOfTheAccountsPeak) {
  const Account with = account_for(*offloading(), AccountMode::kAsGiven);
  const Account without = account_for(*plain(), AccountMode::kAsGiven);
  EXPECT_GE(with.other_spaces.at(kHostMemory), kTrips * kSlice);
  EXPECT_LE(with.peak_bytes() + kTrips * kSlice, without.peak_bytes());
  EXPECT_TRUE(without.other_spaces.empty());
}

TEST(HostMemory, PlansHaveAnArenaThere) {
  const auto module = offloading();
  const auto compiled = compile_plan(*module, cpu_target());
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const Program& program = *compiled->program;
  EXPECT_EQ(program.host_temp_bytes, kTrips * kSlice);
  EXPECT_EQ(program.host_bytes, program.host_temp_bytes);
  EXPECT_LT(program.temp_bytes, kTrips * kSlice);
  const auto checked = check_fit(*module, *compiled, cpu_backend());
  EXPECT_TRUE(checked.ok()) << checked.status().message();
  const auto control = compile_plan(*plain(), cpu_target());
  ASSERT_TRUE(control.ok());
  EXPECT_EQ(control->program->host_bytes, 0);
}

/// What a routine reads or writes there is moved as a whole, in addition to the routine's own time.
TEST(HostMemory, RoutinesWaitForWhatLiesThere) {
  const auto compiled = compile_plan(*read(R"(HloModule m
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }
ENTRY main {
  x = f32[64,1024] parameter(0)
  ROOT y = f32[64,1024] sort(x), dimensions={1}, to_apply=less
}
)"),
                                     cpu_target());
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const Cost cost(*read_machine("h100"));
  Program program = *compiled->program;
  const auto step = std::ranges::find(program.steps, StepKind::kLibrary, &ProgramStep::kind);
  ASSERT_NE(step, program.steps.end());
  const auto storage_of = [&](int32_t slot) -> Storage& { return program.storages[program.slots[slot].storage]; };
  const double here = modelled_ns_of_step(program, *step, cost), moved = cost.host_ns(64 * 1024 * 4);
  EXPECT_GT(moved, 0);
  storage_of(step->reads[0]).in_host = true;
  EXPECT_DOUBLE_EQ(modelled_ns_of_step(program, *step, cost), here + moved);
  storage_of(step->writes[0]).in_host = true;
  EXPECT_DOUBLE_EQ(modelled_ns_of_step(program, *step, cost), here + 2 * moved);
}

TEST(HostMemory, TheCheckerKnowsWhatLiesThere) {
  const auto compiled = compile_plan(*offloading(), cpu_target());
  ASSERT_TRUE(compiled.ok());
  EXPECT_TRUE(check_program(*compiled->program, cpu_target()).empty())
      << check_program(*compiled->program, cpu_target());
  Program cheating = *compiled->program;
  for (Storage& s : cheating.storages) {
    if (s.is_in_arena() && s.bytes > 0) s.in_host = true;
  }
  EXPECT_NE(check_program(cheating, cpu_target()).find("host memory"), std::string::npos)
      << check_program(cheating, cpu_target());
}

TEST(HostMemory, ArgumentsAndResultsLieWhereTheHeaderSays) {
  const std::string body = R"(
ENTRY main {
  x = f32[1024] parameter(0)
  y = f32[1024] parameter(1)
  ROOT r = (f32[1024], f32[1024]) tuple(y, x)
}
)";
  const std::string layout =
      ", entry_computation_layout={(f32[1024]{0:S(5)}, f32[1024]{0})->(f32[1024]{0:S(5)}, f32[1024]{0})}";
  const auto with = compile_plan(*read("HloModule m" + layout + body), cpu_target());
  ASSERT_TRUE(with.ok()) << with.status().message();
  EXPECT_EQ(with->program->argument_bytes, 4096);
  EXPECT_EQ(with->program->output_bytes, 4096);
  EXPECT_EQ(with->program->host_bytes, 8192);
  const auto control = compile_plan(*read("HloModule m" + body), cpu_target());
  ASSERT_TRUE(control.ok());
  EXPECT_EQ(control->program->argument_bytes, 8192);
}

/// A training step's forward and backward pass, unrolled and as loops: values that late readers need.
std::string forward_and_backward() {
  std::string text = "HloModule m\nENTRY main {\n  x0 = f32[512,512] parameter(0)\n  w = f32[512,512] parameter(1)\n";
  constexpr int kLayers = 6;
  const auto dot = [](const std::string& a, const std::string& b) {
    return "f32[512,512] dot(" + a + ", " + b + "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";
  };
  for (int k = 0; k < kLayers; ++k) {
    const std::string n = std::to_string(k), next = std::to_string(k + 1);
    text += "  h" + n + " = " + dot("x" + n, "w") + "  x" + next + " = f32[512,512] tanh(h" + n + ")\n";
  }
  text += "  d6 = f32[512,512] sine(x6)\n";
  for (int k = kLayers; k-- > 0;) {
    const std::string n = std::to_string(k), next = std::to_string(k + 1);
    text += "  g" + n + " = f32[512,512] multiply(d" + next + ", x" + next + ")\n  d" + n + " = " + dot("g" + n, "w");
  }
  return text + "  ROOT r = f32[512,512] negate(d0)\n}\n";
}

TEST(Offload, TakesLessOnTheDeviceWithEachValue) {
  const auto module = read(forward_and_backward());
  const int64_t most = offloadable(*module);
  ASSERT_GE(most, 3);
  int64_t before = INT64_MAX;
  for (const int64_t count : {int64_t{0}, int64_t{1}, most}) {
    Decisions decisions = without_streams();
    if (count > 0) decisions.insert(decisions.begin(), Offload{count});
    const auto compiled = compile_plan(*module, cpu_target(), decisions);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    EXPECT_LT(compiled->program->temp_bytes, before) << count;
    EXPECT_EQ(compiled->program->host_bytes > 0, count > 0);
    before = compiled->program->temp_bytes;
  }
}

TEST(Offload, IsCheckedInSmall) {
  const auto module = read(forward_and_backward());
  const auto compiled = compile_plan(*module, cpu_target(), {Offload{4}});
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  expect_checked_in_small(*module, *compiled);
}

}  // namespace
}  // namespace lowtide::engine
