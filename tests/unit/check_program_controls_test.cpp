// Plans with something changed, each of which the checker must refuse: it believes neither the plan nor its kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "schedule/check/check_program.h"
#include "schedule/kernel_way.h"
#include "schedule/schedule_work.h"
#include "target/cpu.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

Program planned(const std::string& text, const ScheduleOptions& options = {}) {
  auto parsed = parse_hlo(std::make_shared<Source>(Source{"test.hlo", text}));
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  Program program = schedule(std::shared_ptr<const Module>(parsed.take()), cpu_target(), options);
  EXPECT_EQ(check_program(program, cpu_target()), "");
  return program;
}

/// The first step of this name, however deep.
ProgramStep* find_step(std::vector<ProgramStep>& steps, const std::string& name, StepKind kind = StepKind::kKernel) {
  for (ProgramStep& step : steps) {
    if (step.kind == kind && (name.empty() || step.instruction->name == name)) return &step;
    for (auto& block : step.blocks) {
      if (ProgramStep* found = find_step(block, name, kind)) return found;
    }
  }
  return nullptr;
}

/// Refused, and for this reason.
void expect_refused(const Program& program, const std::string& reason, const NestOf& nest_of = {}) {
  const std::string fault = check_program(program, cpu_target(), INT64_MAX, nest_of);
  EXPECT_NE(fault.find(reason), std::string::npos) << "it says: " << fault;
}

/// Kernels as they are, but for those that store as many elements as this, whose nests are edited.
NestOf with_edits(int64_t elements, const std::function<void(Nest&)>& edit) {
  return [=](const Region& region) {
    auto nest = std::make_shared<Nest>(lower(region));
    if (nest->buffers.back().elements == elements) edit(*nest);
    return std::shared_ptr<const Nest>(std::move(nest));
  };
}

constexpr const char* kDonated = "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }\n";

/// y in the bytes of x, element over element.
Program over_its_operand() {
  return planned(std::string(kDonated) +
                 "ENTRY main {\n x = f32[64,8] parameter(0)\n c = f32[] constant(3)\n b = f32[64,8] broadcast(c), "
                 "dimensions={}\n t = f32[64,8] tanh(x)\n ROOT y = f32[64,8] multiply(t, b)\n}\n");
}

TEST(Controls, ShiftedStores) {
  const Program program = over_its_operand();
  EXPECT_EQ(program.temp_bytes, 0);
  EXPECT_EQ(check_program(program, cpu_target(), INT64_MAX, with_edits(512, [](Nest&) {})), "");
  expect_refused(program, "writes over part of an operand",
                 with_edits(512, [](Nest& nest) { nest.stores[0].index.constant += 1; }));
}

TEST(Controls, LoopsTurnedRound) {
  const Program program = over_its_operand();
  expect_refused(program, "writes over part of an operand", with_edits(512, [](Nest& nest) {
                   Affine& index = nest.stores[0].index;
                   for (Affine::Term& term : index.terms) {
                     index.constant += term.coefficient * nest.nodes[term.atom].greatest;
                     term.coefficient = -term.coefficient;
                   }
                 }));
}

TEST(Controls, PiecesInAnotherOrder) {
  // Both sides come from inside, which stays: made first, they would be read where they were written.
  const Program program = planned(std::string(kDonated) + R"(ENTRY main {
  x = f32[20,32] parameter(0)
  inside = f32[20,28] slice(x), slice={[0:20], [2:30]}
  west = f32[20,2] slice(x), slice={[0:20], [28:30]}
  wests = f32[20,2] negate(west)
  east = f32[20,4] slice(x), slice={[0:20], [0:4]}
  easts = f32[20,2] slice(east), slice={[0:20], [0:2]}
  ROOT y = f32[20,32] concatenate(easts, inside, wests), dimensions={1}
})");
  ASSERT_EQ(program.temp_bytes, 0);
  expect_refused(program, "", with_edits(640, [](Nest& nest) {
                   for (Store& store : nest.stores) store.index.constant = (store.index.constant + 28) % 32;
                 }));
}

TEST(Controls, AnOverlapThatIsNotAllowed) {
  // The result can't lie over what is read in reverse; a plan in which it does.
  const std::string text = "ENTRY main {\n x = f32[64] parameter(0)\n r = f32[64] reverse(x), dimensions={0}\n";
  Program program = planned(kDonated + text + " ROOT y = f32[64] add(x, r)\n}\n");
  ProgramStep* kernel = find_step(program.steps, "y");
  ASSERT_TRUE(kernel);
  ASSERT_NE(kernel->reads, kernel->writes);
  kernel->writes = kernel->reads;
  std::erase_if(program.steps, [](const ProgramStep& step) { return step.kind == StepKind::kCopy; });
  expect_refused(program, "writes over part of an operand");
}

TEST(Controls, PiecesLeftOut) {
  Program program = over_its_operand();
  const auto leave_out = [&](std::vector<int32_t> idle) {
    find_step(program.steps, "y")->way = std::make_shared<const KernelWay>(KernelWay{std::move(idle), {}, {}});
  };
  leave_out({0});
  expect_refused(program, "leaves out");
  leave_out({7});
  expect_refused(program, "leaves out");
  find_step(program.steps, "y")->way = nullptr;
  find_step(program.steps, "y")->assembled = true;
  expect_refused(program, "isn't made");
}

/// An update in place of x, of which others read the rest after it.
Program read_beside() {
  return planned(std::string(kDonated) + R"(
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[64] parameter(0)
  z = s32[] constant(0)
  o = s32[] constant(16)
  zero = f32[] constant(0)
  u = f32[16] iota(), iota_dimension=0
  first = f32[64] dynamic-update-slice(x, u, z)
  most = f32[] reduce(first, zero), dimensions={0}, to_apply=add
  mosts = f32[8] broadcast(most), dimensions={}
  rest = f32[8] slice(x), slice={[40:48]}
  v = f32[8] multiply(mosts, rest)
  ROOT y = f32[64] dynamic-update-slice(first, v, o)
})");
}

TEST(Controls, BoxesThatMeet) {
  const Program program = read_beside();
  ASSERT_LE(program.temp_bytes, 256) << "x is updated where it lies";
  // What reads x after the update has x's bytes; where it reads within what was updated, the checker sees it.
  const auto edited = [](int64_t shift) {
    return [=](const Region& region) {
      auto nest = std::make_shared<Nest>(lower(region));
      for (Node& node : nest->nodes) {
        if (node.kind == NodeKind::kLoad && node.affine.constant == 40) node.affine.constant += shift;
      }
      return std::shared_ptr<const Nest>(std::move(nest));
    };
  };
  EXPECT_EQ(check_program(program, cpu_target(), INT64_MAX, edited(0)), "");
  EXPECT_EQ(check_program(program, cpu_target(), INT64_MAX, edited(-8)), "");
  expect_refused(program, "", edited(-30));
  EXPECT_NE(check_program(program, cpu_target(), INT64_MAX, edited(-30)), "");
}

constexpr const char* kLoop = R"(HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }
condition {
  p = (s32[], f32[64], f32[64]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT more = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], f32[64], f32[64]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[64] get-tuple-element(p), index=1
  y = f32[64] get-tuple-element(p), index=2
  a = f32[64] cosine(x)
  b = f32[64] reverse(a), dimensions={0}
  c = f32[64] multiply(b, y)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT r = (s32[], f32[64], f32[64]) tuple(next, c, a)
}
ENTRY main {
  x = f32[64] parameter(0)
  y = f32[64] negate(x)
  zero = s32[] constant(0)
  t = (s32[], f32[64], f32[64]) tuple(zero, x, y)
  w = (s32[], f32[64], f32[64]) while(t), condition=condition, body=body
  a = f32[64] get-tuple-element(w), index=1
  b = f32[64] get-tuple-element(w), index=2
  ROOT r = (f32[64], f32[64]) tuple(a, b)
}
)";

/// Takes each step out, and lets each change places with the next one: how many of these plans hold. None that changes
/// what anybody reads does.
void count_without(std::vector<ProgramStep>& steps, Program& program, int& dropped, int& swapped) {
  for (size_t k = 0; k < steps.size(); ++k) {
    const std::vector<ProgramStep> whole = steps;
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(k));
    dropped += check_program(program, cpu_target()).empty();
    steps = whole;
    if (k + 1 < steps.size()) {
      std::swap(steps[k], steps[k + 1]);
      swapped += check_program(program, cpu_target()).empty();
      steps = whole;
    }
    for (auto& block : steps[k].blocks) count_without(block, program, dropped, swapped);
  }
}

TEST(Controls, StepsThatAreNeeded) {
  Program program = planned(kLoop);
  int dropped = 0, swapped = 0;
  count_without(program.steps, program, dropped, swapped);
  EXPECT_EQ(dropped, 0) << "a step is missed by nobody";
  Program chain = over_its_operand();
  Program two = read_beside();
  swapped = 0;
  count_without(two.steps, two, dropped, swapped);
  EXPECT_EQ(dropped, 0);
  EXPECT_EQ(swapped, 0) << "each step of this program needs the one before it";
}

TEST(Controls, EverySlotCounts) {
  // Any operand or result elsewhere than it lies.
  const Program right = planned(kLoop);
  int held = 0, tried = 0;
  const std::function<void(std::vector<ProgramStep>&, Program&)> each = [&](std::vector<ProgramStep>& steps,
                                                                            Program& program) {
    for (ProgramStep& step : steps) {
      for (auto* slots : {&step.reads, &step.writes, &step.from, &step.to, &step.settle}) {
        for (int32_t& slot : *slots) {
          const int32_t was = slot;
          for (slot = 0; slot < std::ssize(program.slots); ++slot) {
            if (slot == was) continue;
            ++tried;
            held += check_program(program, cpu_target()).empty();
          }
          slot = was;
        }
      }
      for (auto& block : step.blocks) each(block, program);
    }
  };
  Program program = right;
  each(program.steps, program);
  EXPECT_GT(tried, 50);
  EXPECT_EQ(held, 0);
}

TEST(Controls, Memory) {
  const Program right = planned(kLoop);
  const auto refused = [&](const std::function<void(Program&)>& edit, const std::string& reason) {
    Program program = right;
    edit(program);
    expect_refused(program, reason);
  };
  const auto some = [](Program& p, StorageKind kind) -> Storage& {
    return *std::ranges::find_if(p.storages, [&](const Storage& s) { return s.kind == kind && s.bytes > 0; });
  };
  refused([](Program& p) { p.temp_bytes -= 1; }, "outside of the arena");
  refused([](Program& p) { p.argument_bytes -= 1; }, "more memory than it says");
  refused([](Program& p) { p.alias_bytes += 1; }, "more memory than it says");
  refused([&](Program& p) { some(p, StorageKind::kTemporary).offset += 4; }, "");
  refused([](Program& p) { p.slots[p.output_slots[1]].bytes -= 4; }, "size");
  refused([](Program& p) { std::swap(p.output_slots[0], p.output_slots[1]); }, "result 0");
  refused([](Program& p) { find_step(p.steps, "", StepKind::kWhile)->trip_count += 1; }, "as often");
  const Program kept = planned(
      "HloModule m\nENTRY main {\n x = f32[64] parameter(0)\n t = f32[64] tanh(x)\n ROOT y = f32[64] sine(t)\n}\n");
  Program taken = kept;
  some(taken, StorageKind::kArgument).donated = true;
  expect_refused(taken, "isn't donated");
}

TEST(Controls, Routines) {
  const Program right = planned(
      "HloModule m\nless {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = pred[] compare(a, b), "
      "direction=LT, type=TOTALORDER\n}\nENTRY main {\n x = f32[300,200] parameter(0)\n s = f32[300,200] sort(x), "
      "dimensions={0}, to_apply=less\n w = f32[200,90] parameter(1)\n d = f32[300,90] dot(s, w), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n ROOT n = f32[300,90] negate(d)\n}\n");
  Program program = right;
  ProgramStep* dot = find_step(program.steps, "d", StepKind::kLibrary);
  ASSERT_TRUE(dot);
  dot->writes[0] = dot->reads[0];
  EXPECT_NE(check_program(program, cpu_target()), "");
  program = right;
  ProgramStep* sort = find_step(program.steps, "s", StepKind::kLibrary);
  ASSERT_TRUE(sort);
  if (sort->scratch != kNoId) {
    program.slots[sort->scratch].bytes /= 2;
    expect_refused(program, "too little scratch");
  }
}

TEST(Controls, KernelsAreProvedHoweverLongTheWayIs) {
  Program program = over_its_operand();
  find_step(program.steps, "y")->assembled = true;
  EXPECT_NE(check_program(program, cpu_target(), 0), "");
}

}  // namespace
}  // namespace lowtide::engine
