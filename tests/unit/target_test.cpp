// Planning decides by what its target says, and by nothing else: targets that differ in one answer get other plans.

#include <gtest/gtest.h>

#include <algorithm>

#include "schedule/modelled_time.h"
#include "schedule/program.h"
#include "target/cpu.h"
#include "target/machines.h"
#include "target/xla.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

/// The processor, but for what a test changes.
class Changed : public Target {
 public:
  explicit Changed(const Machine& machine = machines().front()) : Target(machine), limits_(cpu_target().in_place()) {}
  std::string_view name() const override { return "changed"; }
  Takes takes() const override { return Takes::kProgram; }
  bool has_routine(const Instruction& i) const override { return routines && cpu_target().has_routine(i); }
  int64_t scratch_bytes(const Instruction& i) const override { return scratch + cpu_target().scratch_bytes(i); }
  int overwritten_operand(const Instruction& i, int64_t leaf) const override {
    return overwrites ? cpu_target().overwritten_operand(i, leaf) : kNoId;
  }
  const InPlaceLimits& in_place() const override { return limits_; }

  bool routines = true, overwrites = true;
  int64_t scratch = 0;
  void set_ways(InPlaceWays ways) { limits_.ways = ways; }

 private:
  InPlaceLimits limits_;
};

Program plan(const std::string& text, const Target& target) {
  auto module = parse_hlo(std::make_shared<const Source>(Source{"test.hlo", text}));
  EXPECT_TRUE(module.ok()) << module.status().message();
  return schedule(std::shared_ptr<const Module>(module.take()), target, {});
}

int64_t steps_of(const Program& program, StepKind kind) {
  return std::ranges::count(program.steps, kind, &ProgramStep::kind);
}

const char kProduct[] = R"(HloModule m
ENTRY e {
  a = f32[256,256]{1,0} parameter(0)
  b = f32[256,256]{1,0} parameter(1)
  ROOT d = f32[256,256]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

TEST(Target, WithoutRoutinesRegionsMakeProducts) {
  Changed target;
  EXPECT_EQ(steps_of(plan(kProduct, target), StepKind::kLibrary), 1);
  target.routines = false;
  EXPECT_EQ(steps_of(plan(kProduct, target), StepKind::kLibrary), 0);
  EXPECT_EQ(steps_of(plan(kProduct, target), StepKind::kKernel), 1);
}

TEST(Target, ScratchOfRoutinesIsPlanned) {
  Changed target;
  const int64_t without = plan(kProduct, target).temp_bytes;
  target.scratch = int64_t{1} << 20;
  EXPECT_EQ(plan(kProduct, target).temp_bytes, without + target.scratch);
}

const char kSort[] = R"(HloModule m, input_output_alias={ {}: (0, {}, must-alias) }
less { x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT c = pred[] compare(x, y), direction=LT }
ENTRY e {
  a = f32[4096]{0} parameter(0)
  n = f32[4096]{0} negate(a)
  ROOT s = f32[4096]{0} sort(n), dimensions={0}, to_apply=less
}
)";

TEST(Target, RoutinesOverwriteWhereItSaysSo) {
  Changed target;
  const int64_t in_place = plan(kSort, target).temp_bytes;
  target.overwrites = false;
  EXPECT_EQ(plan(kSort, target).temp_bytes, in_place + 4096 * 4);
}

const char kRoll[] = R"(HloModule m, input_output_alias={ {}: (0, {}, must-alias) }
ENTRY e {
  a = f32[1024,1024]{1,0} parameter(0)
  t = f32[1,1024]{1,0} slice(a), slice={[1023:1024], [0:1024]}
  h = f32[1023,1024]{1,0} slice(a), slice={[0:1023], [0:1024]}
  ROOT c = f32[1024,1024]{1,0} concatenate(t, h), dimensions={0}
}
)";

TEST(Target, StripsWhereItHasThem) {
  Changed target;
  const Program strips = plan(kRoll, target);
  EXPECT_LT(strips.temp_bytes, 1024 * 1024 * 4);
  target.set_ways(InPlaceWays::kKernels);
  const Program kernels = plan(kRoll, target);
  EXPECT_GE(kernels.temp_bytes, 1024 * 1024 * 4);
  EXPECT_EQ(kernels.choice.ways, InPlaceWays::kKernels);
}

const char kShared[] = R"(HloModule m
ENTRY e {
  a = f32[1024]{0} parameter(0)
  l = f32[1024]{0} exponential(a)
  b = f32[512,1024]{1,0} broadcast(l), dimensions={1}
  x = f32[512,1024]{1,0} parameter(1)
  y = f32[512,1024]{1,0} multiply(b, x)
  ROOT r = f32[1024,512]{1,0} transpose(y), dimensions={1,0}
}
)";

TEST(Target, PricesAreTheMachines) {
  Machine dear = machines().front();
  dear.stored_byte_ns = 1e9;
  const Changed own, other(dear);
  // Where a byte costs more than any arithmetic, exp is computed where it is read.
  const Program stored = plan(kShared, own), computed = plan(kShared, other);
  EXPECT_GT(stored.temp_bytes, computed.temp_bytes);
  Machine slow = machines().front();
  slow.byte_ns *= 1000;
  const Changed third(slow);
  EXPECT_GT(modelled_ns(stored, third.cost()), modelled_ns(stored, own.cost()));
}

TEST(Machines, AreNamedOrDescribed) {
  EXPECT_EQ(read_machine("")->name, machines().front().name);
  for (const Machine& machine : machines()) EXPECT_EQ(read_machine(machine.name)->product_ns, machine.product_ns);
  const auto described = read_machine(R"({"base": "h100", "cores": 66,
                                          "name": "half of one"})");
  ASSERT_TRUE(described.ok()) << described.status().message();
  EXPECT_EQ(described->name, "half of one");
  EXPECT_EQ(described->cores, 66);
  EXPECT_EQ(described->byte_ns, read_machine("h100")->byte_ns);
  EXPECT_EQ(machine_line("{ \"cores\":\n 3 }"), R"({"cores":3})");
}

TEST(Machines, ThatNobodyKnowsAreRefused) {
  for (const char* text :
       {"h1000", " ", "{", "[]", "{}x", R"({"base": 3})", R"({"base": "h1000"})", R"({"cores": "2"})",
        R"({"cores": 0})", R"({"byte_ns": -1})", R"({"byte_ns": 1e999})", R"({"bytes_ns": 1})", R"({"name": 1})"}) {
    const auto machine = read_machine(text);
    ASSERT_FALSE(machine.ok()) << text;
    EXPECT_EQ(machine.status().fault(), Fault::kUsage) << text;
  }
}

TEST(Machines, AcceleratorsComputeFastAndStartSlowly) {
  for (const char* name : {"h100", "h200", "v5p"}) {
    const Machine machine = *read_machine(name);
    const Machine& ours = machines().front();
    EXPECT_LT(machine.product_ns, ours.product_ns / 100) << name;
    EXPECT_LT(machine.byte_ns / machine.cores, ours.byte_ns / ours.cores / 10) << name;
    EXPECT_GT(machine.kernel_start_ns / machine.product_ns, ours.kernel_start_ns / ours.product_ns) << name;
    EXPECT_GT(machine.spaces.front().bytes, 0) << name;
  }
}

TEST(Target, ProductsCostTheSameAsStepsAndMadeAgain) {
  auto module = parse_hlo(std::make_shared<const Source>(Source{"test.hlo", kProduct}));
  ASSERT_TRUE(module.ok());
  const Module& product = **module;
  const Instruction& dot = *product.entry->root;
  const Cost& cost = cpu_target().cost();
  const Machine& machine = cpu_target().machine();
  const double starts = machine.library_start_ns + machine.meeting_ns;
  EXPECT_NEAR(cost.repeated_ns(dot), machine.cores * (cost.library_step_ns(dot, 0) - starts), 1e-6);
  Machine slow = machine;
  slow.product_ns *= 100;  // then elements one by one are cheaper
  EXPECT_NEAR(Cost(slow).repeated_ns(dot), 256 * 256 * cost.element_ns(dot), 1e-6);
}

TEST(Target, XlaIsModelledAsTheProcessor) {
  EXPECT_EQ(xla_target().takes(), Takes::kModule);
  EXPECT_EQ(&xla_target().modelled_as(), &cpu_target());
  EXPECT_EQ(&cpu_target().modelled_as(), &cpu_target());
}

}  // namespace
}  // namespace lowtide::engine
