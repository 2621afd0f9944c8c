// What a backend is handed: each region's nest, equal ones once, none where there is nothing to do.

#include "compile/load.h"

#include <gtest/gtest.h>

#include <map>

#include "backend/cpu/cpu_backend.h"
#include "target/cpu.h"
#include "target/machines.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

Compiled planned(const std::string& entry) {
  auto parsed = parse_hlo(std::make_shared<const Source>(Source{"test.hlo", "HloModule m\n" + entry}));
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  auto compiled = compile_plan(**parsed, cpu_target());
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return compiled.take();
}

const char kAlike[] = R"(below { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }
ENTRY main {
  x = f32[300] parameter(0)
  a = f32[300] sort(x), dimensions={0}, to_apply=below
  b = f32[300] reverse(a), dimensions={0}
  c = f32[300] sort(b), dimensions={0}, to_apply=below
  d = f32[300] reverse(c), dimensions={0}
  e = f32[300] sort(d), dimensions={0}, to_apply=below
  f = f32[300] negate(e)
  ROOT r = (f32[300], f32[300], f32[300]) tuple(b, d, f)
}
)";

TEST(Lowering, EqualRegionsShareANest) {
  const Compiled compiled = planned(kAlike);
  const LoweredProgram lowered = *lower_program(compiled, cpu_backend());
  ASSERT_EQ(lowered.nests.size(), compiled.program->regions.size());
  std::map<std::string, std::shared_ptr<const Nest>> nest_of;
  for (size_t r = 0; r < lowered.nests.size(); ++r) {
    ASSERT_TRUE(lowered.nests[r]);
    nest_of[compiled.program->regions[r].outputs.front().instruction->name] = lowered.nests[r];
  }
  ASSERT_EQ(nest_of.size(), 3u);
  EXPECT_EQ(nest_of["b"], nest_of["d"]);
  EXPECT_NE(nest_of["b"], nest_of["f"]);
  // Planned by nobody before: lowered here.
  Compiled fresh = compiled;
  fresh.nests = nullptr;
  EXPECT_EQ(lower_program(fresh, cpu_backend())->nests.size(), lowered.nests.size());
}

TEST(Lowering, NothingForWhatStandsAlready) {
  const Compiled compiled = planned(R"(below { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }
ENTRY main {
  x = f32[8,32] parameter(0)
  y = f32[8,32] parameter(1)
  a = f32[8,32] sort(x), dimensions={1}, to_apply=below
  b = f32[8,32] sort(y), dimensions={0}, to_apply=below
  c = f32[16,32] concatenate(a, b), dimensions={0}
  ROOT d = f32[16,32] sort(c), dimensions={0}, to_apply=below
}
)");
  const LoweredProgram lowered = *lower_program(compiled, cpu_backend());
  int64_t nothing = 0;
  for (const ProgramStep& step : compiled.program->steps) {
    if (step.kind != StepKind::kKernel) continue;
    EXPECT_EQ(lowered.nests[step.region] == nullptr, step.assembled);
    nothing += step.assembled;
  }
  EXPECT_EQ(nothing, 1);
}

/// The processor by another name.
class Elsewhere final : public Target {
 public:
  Elsewhere() : Target(machines().front()) {}
  std::string_view name() const override { return "elsewhere"; }
  Takes takes() const override { return Takes::kProgram; }
  bool has_routine(const Instruction& i) const override { return cpu_target().has_routine(i); }
  int64_t scratch_bytes(const Instruction& i) const override { return cpu_target().scratch_bytes(i); }
  int overwritten_operand(const Instruction& i, int64_t leaf) const override {
    return cpu_target().overwritten_operand(i, leaf);
  }
  const InPlaceLimits& in_place() const override { return cpu_target().in_place(); }
};

TEST(Lowering, ABackendRunsWhatWasPlannedForItsTarget) {
  const Elsewhere elsewhere;
  Compiled compiled = planned(kAlike);
  EXPECT_TRUE(load_program(compiled, cpu_backend()).ok());
  compiled.target = &elsewhere;
  EXPECT_ANY_THROW((void)load_program(compiled, cpu_backend()));
}

}  // namespace
}  // namespace lowtide::engine
