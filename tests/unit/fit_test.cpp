#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "compile/check_fit.h"
#include "compile/frontier.h"
#include "read_module.h"
#include "schedule/check/check_program.h"
#include "target/cpu.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

std::string product(const std::string& factor) {
  return "HloModule m\nENTRY main {\n  x = f32[64] parameter(0)\n  c = f32[] constant(" + factor +
         ")\n  b = f32[64] broadcast(c), dimensions={}\n  ROOT y = f32[64] multiply(x, b)\n}\n";
}

/// 4 MiB of products of 2 x 256 KiB, folded at once.
constexpr const char* kPairs = R"(HloModule pairs
ENTRY main {
  x = f32[1024,64] parameter(0)
  y = f32[1024,64] parameter(1)
  s = f32[1024,1024] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  e = f32[1024,1024] exponential(s)
  ROOT z = f32[1024,64] dot(e, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

TEST(Decisions, ReadAsTheyPrint) {
  const auto module = read(product("2"));
  const Decisions decisions{WithoutPass{"stream-slices"},
                            PriceOfMemory{2.5},
                            SearchSteps{12},
                            StreamDecision{"main", "y", 0, 8, true},
                            StreamDecision{"main", "y", 1, 8, false, true},
                            StreamDecision{"main", "y", 0, 4, false, false, true},
                            StreamDecision{"main", "y", 1, 2, false, false, false, 3},
                            StreamDecision{"main", "y", 1, 2, false, false, false, 0, 0.25},
                            Rearrange{},
                            HoistLoopInvariants{},
                            UpdateInLoops{},
                            Recompute{0.0152},
                            SaveEvery{{8, 24}},
                            Packing{{0xfeedULL << 40, {.offsets = {0, 64, 4096}, .height = 5000}}},
                            TakeOrder{{3, InPlaceWays::kMoves}}};
  const auto again = parse_plan(print_plan(*module, decisions), *module);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->decisions, decisions);
  EXPECT_FALSE(again->exact);
  EXPECT_FALSE(parse_plan(print_plan(*module, decisions), *read(product("3"))).ok());
  EXPECT_FALSE(parse_plan("", *module).ok());
  EXPECT_FALSE(parse_plan("lowtide-plan 1\n", *module).ok());
  EXPECT_TRUE(parse_plan(print_plan(*module, {}), *module).ok()) << "the control";
}

/// A constant of many elements stands in no text there, and yet each of its elements counts.
TEST(Decisions, AreOfOneProgramWithItsConstants) {
  const auto with = [](std::string_view last) {
    std::string numbers;
    for (int i = 0; i < 4999; ++i) numbers += std::to_string(i) + ", ";
    return read("HloModule m\n\nENTRY main {\n  x = s32[5000]{0} parameter(0)\n  c = s32[5000]{0} constant({" +
                numbers + std::string(last) + "})\n  ROOT y = s32[5000]{0} add(x, c)\n}\n");
  };
  const std::string plan = print_plan(*with("7"), {});
  EXPECT_TRUE(parse_plan(plan, *with("7")).ok()) << "the control";
  EXPECT_FALSE(parse_plan(plan, *with("8")).ok());
}

TEST(Decisions, NamePlacesThatAreWrong) {
  const auto module = read(product("2"));
  for (const std::string line : {"sequence", "sequence main 0 -1", "order", "order 1", "order -1 kernels",
                                 "order 1 magic", "packing 12", "search-steps 1000000000000", "overlaps 12 0over1"}) {
    const auto plan = parse_plan(print_plan(*module, {}) + line + "\n", *module);
    ASSERT_FALSE(plan.ok()) << line;
    EXPECT_NE(plan.status().message().find("line 3: `" + line), std::string::npos) << plan.status().message();
  }
}

/// What was kept of another program's plan is passed over.
TEST(Decisions, OfAnotherProgramAreNoUse) {
  const auto module = read(kPairs);
  const auto plain = compile_plan(*module, cpu_target());
  ASSERT_TRUE(plain.ok());
  Decisions wrong = plain->replay;
  std::erase_if(wrong, [](const Decision& d) { return std::holds_alternative<TakeOrder>(d); });
  wrong.emplace_back(TakeOrder{{99, InPlaceWays::kKernels}});
  wrong.emplace_back(Packing{{1, {.offsets = {0}, .height = 1}}});
  const auto again = compile_plan(*module, cpu_target(), wrong);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->program->temp_bytes, plain->program->temp_bytes);
}

TEST(Decisions, SayThatTheyAreExact) {
  const auto module = read(product("2"));
  module->sums_in_order = true;
  const std::string text = print_plan(*module, {SearchSteps{12}});
  EXPECT_NE(text.find("\nexact\n"), std::string::npos) << text;
  const auto again = parse_plan(text, *read(product("2")));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_TRUE(again->exact);
  EXPECT_EQ(again->decisions, Decisions{SearchSteps{12}});
}

TEST(Frontier, LeavesSumsInOrder) {
  const auto module = read(kPairs);
  const StreamDecision across{"main", "e", 1, 64}, along{"main", "e", 0, 64};
  const Decisions none = without_streams();
  for (const bool in_order : {false, true}) {
    module->sums_in_order = in_order;
    Decisions partial = none, rows = none;
    partial.emplace_back(across), rows.emplace_back(along);
    const auto plain = compile_plan(*module, cpu_target(), none);
    ASSERT_TRUE(plain.ok());
    for (const Decisions& decisions : {rows, partial}) {
      const auto lower = compile_plan(*module, cpu_target(), decisions);
      ASSERT_TRUE(lower.ok()) << lower.status().message();
      EXPECT_LT(lower->program->temp_bytes, plain->program->temp_bytes / 2);
    }
  }
}

/// Everything into one number: along the inner one of both dimensions, sums of tiles would be parts.
TEST(Frontier, RefusesPartsOfSums) {
  const auto module = read(R"(HloModule total
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[1024,64] parameter(0)
  y = f32[1024,64] parameter(1)
  s = f32[1024,1024] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  zero = f32[] constant(0)
  ROOT z = f32[] reduce(s, zero), dimensions={0,1}, to_apply=add
}
)");
  for (const bool in_order : {false, true}) {
    module->sums_in_order = in_order;
    const auto planner = Planner::make(*module, cpu_target());
    ASSERT_TRUE(planner.ok());
    const auto frontier = find_frontier(*planner);
    ASSERT_TRUE(frontier.ok());
    EXPECT_EQ(frontier->tightest().temp_bytes < 1 << 20, !in_order) << frontier->tightest().temp_bytes;
  }
}

TEST(CheckFit, SeesOtherResults) {
  const auto twice = read(product("2")), thrice = read(product("3"));
  const auto compiled = compile_plan(*twice, cpu_target()), other = compile_plan(*thrice, cpu_target());
  ASSERT_TRUE(compiled.ok() && other.ok());
  EXPECT_TRUE(check_fit(*twice, *compiled, cpu_backend()).ok());
  const auto wrong = check_fit(*twice, *other, cpu_backend());
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.status().fault(), Fault::kWrongValues);
}

TEST(CheckFit, ExercisesDecisionsInSmall) {
  const auto module = read(kPairs);
  const Decisions decisions{WithoutPass{"stream-slices"}, StreamDecision{"main", "s", 0, 192}, SearchSteps{10}};
  const auto compiled = compile_plan(*module, cpu_target(), decisions);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const auto checked = check_fit(*module, *compiled, cpu_backend(), {.only_small = true});
  ASSERT_TRUE(checked.ok()) << checked.status().message();
  EXPECT_EQ(checked->how, CheckedFit::How::kSmall);
  ASSERT_EQ(checked->rows.size(), 2u);
  EXPECT_EQ(checked->exercised(), 2);
  EXPECT_EQ(checked->rows[0].decision, "stream main s dimension=0 tile=192");
  EXPECT_NE(checked->rows[0].as, checked->rows[0].decision);
}

TEST(CheckFit, NamesTheDecisionThatIsSpoilt) {
  const auto module = read(kPairs);
  const Decisions decisions{WithoutPass{"stream-slices"}, SearchSteps{10}, StreamDecision{"main", "s", 0, 64}};
  const auto compiled = compile_plan(*module, cpu_target(), decisions);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  for (const bool only_small : {false, true}) {
    const auto spoilt = check_fit(*module, *compiled, cpu_backend(), {.control = 2, .only_small = only_small});
    ASSERT_FALSE(spoilt.ok());
    EXPECT_EQ(spoilt.status().fault(), Fault::kWrongValues);
    EXPECT_NE(spoilt.status().message().find("`stream main s dimension=0 tile=64`"), std::string::npos)
        << spoilt.status().message();
  }
}

TEST(CheckFit, ForgivesWhatRoundingDecides) {
  // Numbers that cancel but for their rounding: in f32 nothing of them is left to compare.
  const auto module = read(R"(HloModule cancels
ENTRY main {
  x = f32[256] parameter(0)
  h = f32[] constant(1e9)
  b = f32[256] broadcast(h), dimensions={}
  s = f32[256] add(x, b)
  d = f32[256] subtract(s, b)
  e = f32[256] subtract(d, x)
  ROOT y = f32[256] multiply(e, b)
}
)");
  const auto compiled = compile_plan(*module, cpu_target());
  ASSERT_TRUE(compiled.ok());
  const auto checked = check_fit(*module, *compiled, cpu_backend());
  ASSERT_TRUE(checked.ok()) << checked.status().message();
  EXPECT_EQ(checked->how, CheckedFit::How::kNothing) << checked->sentence();
}

/// 2 MiB that a loop makes, rounds, and adds to its state: tiles of them are added where the state lies.
TEST(Frontier, AddsTilesToTheStateOfALoop) {
  const auto module = read(R"(HloModule gradients
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }
body {
  p = (s32[], f32[512,1024], f32[6,128,512], f32[6,128,1024]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  sum = f32[512,1024] get-tuple-element(p), index=1
  xs = f32[6,128,512] get-tuple-element(p), index=2
  gs = f32[6,128,1024] get-tuple-element(p), index=3
  zero = s32[] constant(0)
  one = s32[] constant(1)
  x1 = f32[1,128,512] dynamic-slice(xs, i, zero, zero), dynamic_slice_sizes={1,128,512}
  x = f32[128,512] reshape(x1)
  g1 = f32[1,128,1024] dynamic-slice(gs, i, zero, zero), dynamic_slice_sizes={1,128,1024}
  g = f32[128,1024] reshape(g1)
  sorted = f32[128,1024] sort(g), dimensions={0}, to_apply=less
  d = f32[512,1024] dot(x, sorted), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  rounded = bf16[512,1024] convert(d)
  wide = f32[512,1024] convert(rounded)
  more = f32[512,1024] add(sum, wide)
  next = s32[] add(i, one)
  ROOT r = (s32[], f32[512,1024], f32[6,128,512], f32[6,128,1024]) tuple(next, more, xs, gs)
}
condition {
  p = (s32[], f32[512,1024], f32[6,128,512], f32[6,128,1024]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(6)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY main {
  xs = f32[6,128,512] parameter(0)
  gs = f32[6,128,1024] parameter(1)
  zero = s32[] constant(0)
  nothing = f32[] constant(0)
  none = f32[512,1024] broadcast(nothing), dimensions={}
  start = (s32[], f32[512,1024], f32[6,128,512], f32[6,128,1024]) tuple(zero, none, xs, gs)
  loop = (s32[], f32[512,1024], f32[6,128,512], f32[6,128,1024]) while(start), condition=condition, body=body
  ROOT r = f32[512,1024] get-tuple-element(loop), index=1
}
)");
  const auto planner = Planner::make(*module, cpu_target());
  ASSERT_TRUE(planner.ok());
  const auto frontier = find_frontier(*planner);
  ASSERT_TRUE(frontier.ok());
  EXPECT_LT(frontier->tightest().temp_bytes, 1 << 20);
}

/// The free plan computes what takes long and doesn't vary before the loop; the tightest computes it in each iteration.
/// The control: a loop that changes what the product reads.
TEST(Frontier, HoistsWhatTakesLongInTheFreePlan) {
  const auto found = [](const std::string& next_e) {
    const auto module = read(R"(HloModule decode
body {
  p = (s32[], f32[8,512], f32[4096,64], f32[64,512]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[8,512] get-tuple-element(p), index=1
  e = f32[4096,64] get-tuple-element(p), index=2
  w = f32[64,512] get-tuple-element(p), index=3
  one = s32[] constant(1)
  k = f32[4096,512] dot(e, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[8,4096] dot(x, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  y = f32[8,512] dot(s, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[8,512] tanh(y)
  negated = f32[4096,64] negate(e)
  next = s32[] add(i, one)
  ROOT r = (s32[], f32[8,512], f32[4096,64], f32[64,512]) tuple(next, z, )" +
                             next_e + R"(, w)
}
condition {
  p = (s32[], f32[8,512], f32[4096,64], f32[64,512]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(24)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[8,512] parameter(0)
  e = f32[4096,64] parameter(1)
  w = f32[64,512] parameter(2)
  zero = s32[] constant(0)
  start = (s32[], f32[8,512], f32[4096,64], f32[64,512]) tuple(zero, x, e, w)
  loop = (s32[], f32[8,512], f32[4096,64], f32[64,512]) while(start), condition=condition, body=body
  ROOT r = f32[8,512] get-tuple-element(loop), index=1
}
)");
    const auto planner = Planner::make(*module, cpu_target());
    auto frontier = find_frontier(*planner);
    EXPECT_TRUE(frontier.ok());
    return frontier.take();
  };
  const Frontier frontier = found("e");
  EXPECT_TRUE(has<HoistLoopInvariants>(frontier.free.decisions));
  EXPECT_FALSE(has<HoistLoopInvariants>(frontier.tightest().decisions));
  constexpr int64_t kKeys = int64_t{4} * 4096 * 512;
  EXPECT_GE(frontier.free.temp_bytes, kKeys);
  EXPECT_LT(frontier.tightest().temp_bytes, kKeys / 4);
  EXPECT_FALSE(has<HoistLoopInvariants>(found("negated").free.decisions));
}

TEST(Frontier, LowerPeaksTakeLonger) {
  const auto module = read(kPairs);
  const auto planner = Planner::make(*module, cpu_target());
  ASSERT_TRUE(planner.ok());
  const auto frontier = find_frontier(*planner);
  ASSERT_TRUE(frontier.ok());
  ASSERT_GE(frontier->points.size(), 2u);
  for (size_t k = 1; k < frontier->points.size(); ++k) {
    EXPECT_LT(frontier->points[k].peak_bytes, frontier->points[k - 1].peak_bytes);
    EXPECT_GE(frontier->points[k].ns, frontier->points[k - 1].ns);
  }
  EXPECT_LT(frontier->tightest().temp_bytes, 1 << 20);
  EXPECT_EQ(frontier->within(frontier->tightest().peak_bytes - 1), nullptr);
  EXPECT_EQ(frontier->within(frontier->tightest().peak_bytes), &frontier->tightest());
}

TEST(Frontier, PlansAreWhatTheFrontierSays) {
  const auto module = read(kPairs);
  const auto planner = Planner::make(*module, cpu_target());
  ASSERT_TRUE(planner.ok());
  const auto frontier = find_frontier(*planner);
  ASSERT_TRUE(frontier.ok());
  for (const FrontierPoint& point : frontier->points) {
    const auto compiled = compile_plan(*module, cpu_target(), point.decisions);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    EXPECT_EQ(compiled->program->peak_bytes(), point.peak_bytes);
    EXPECT_EQ(check_program(*compiled->program, *compiled->target), "");
  }
}

/// A brief search for the free plan ends where little is left to save, whatever the number of threads; one for all
/// points is what it is without the setting.
TEST(Frontier, BriefSearchesEndEarly) {
  const auto with_rows = [](int64_t rows) {
    std::string text = kPairs;
    for (size_t at = 0; (at = text.find("1024", at)) != std::string::npos; ++at)
      text.replace(at, 4, std::to_string(rows));
    return text;
  };
  const auto found = [&](int64_t rows, bool brief, bool only_free, int threads = 0) {
    Settings settings;
    settings.brief_search = brief;
    settings.threads = threads;
    auto module = parse_hlo(std::make_shared<const Source>(Source{"test.hlo", with_rows(rows)}),
                            std::make_shared<Context>(settings));
    EXPECT_TRUE(module.ok()) << module.status().message();
    const auto planner = Planner::make(**module, cpu_target());
    auto frontier = find_frontier(*planner, {.only_free = only_free});
    EXPECT_TRUE(frontier.ok());
    return frontier.take();
  };
  constexpr int64_t kFew = 2, kSmall = 1024, kLarge = 8192;  // 4 and 256 MiB
  EXPECT_LE(found(kSmall, true, true).plans, kFew) << "4 MiB aren't worth a search";
  EXPECT_GT(found(kSmall, false, true).plans, kFew) << "the control";
  const Frontier brief = found(kLarge, true, true), whole = found(kLarge, false, true);
  EXPECT_LT(brief.plans, whole.plans);
  EXPECT_LE(brief.free.temp_bytes, int64_t{16} << 20);
  EXPECT_EQ(found(kLarge, true, true, 1).free.decisions, brief.free.decisions);
  const Frontier all = found(kSmall, true, false), control = found(kSmall, false, false);
  ASSERT_EQ(all.points.size(), control.points.size());
  EXPECT_TRUE(all.tightest().equals(control.tightest()));
}

}  // namespace
}  // namespace lowtide::engine
