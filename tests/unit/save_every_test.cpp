#include "passes/recompute/save_every.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "checked_in_small.h"
#include "compile/check_fit.h"
#include "compile/compile.h"
#include "compile/next_steps.h"
#include "target/cpu.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

/// A loop whose trips begin with x, which it stacks, and a later one that reads the stack from its end (or beginning)
/// and adds up gradients of the weights.
std::unique_ptr<Module> pair_of_loops(int trips, bool backwards = true) {
  const std::string x = "f32[96,32]", w = "f32[32,32]", stack = fmt::format("f32[{},96,32]", trips),
                    weights = fmt::format("f32[{},32,32]", trips);
  const auto loop = [&](const std::string& name, const std::string& types, const std::string& body) {
    return fmt::format(
        "{0} {{\n  p = {1} parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  zero = s32[] constant(0)\n"
        "  one = s32[] constant(1)\n  next = s32[] add(i, one)\n{2}}}\n"
        "{0}.test {{\n  p = {1} parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant({3})\n"
        "  ROOT less = pred[] compare(i, n), direction=LT\n}}\n",
        name, types, body, trips);
  };
  const auto slice = [](const std::string& name, const std::string& shape, const std::string& dims,
                        const std::string& of, const std::string& at) {
    return fmt::format(
        "  {0}.1 = f32[1,{2}] dynamic-slice({3}, {4}, zero, zero), dynamic_slice_sizes={{1,{2}}}\n"
        "  {0} = {1} reshape({0}.1)\n",
        name, shape, dims, of, at);
  };
  const std::string made = fmt::format("(s32[], {}, {}, {})", x, stack, weights);
  const std::string read = fmt::format("(s32[], {}, {}, {}, {})", x, stack, weights, w);
  const std::string text =
      "HloModule m\n" +
      loop("forwards", made,
           fmt::format("  x = {0} get-tuple-element(p), index=1\n  xs = {1} get-tuple-element(p), index=2\n"
                       "  ws = {2} get-tuple-element(p), index=3\n  slot = f32[1,96,32] reshape(x)\n"
                       "  all = {1} dynamic-update-slice(xs, slot, i, zero, zero)\n",
                       x, stack, weights) +
               slice("w", w, "32,32", "ws", "i") +
               fmt::format("  h = {0} dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
                           "  y = {0} sine(h)\n  ROOT r = {1} tuple(next, y, all, ws)\n",
                           x, made)) +
      loop("later", read,
           fmt::format("  d = {0} get-tuple-element(p), index=1\n  xs = {1} get-tuple-element(p), index=2\n"
                       "  ws = {2} get-tuple-element(p), index=3\n  sum = {3} get-tuple-element(p), index=4\n"
                       "  last = s32[] constant({4})\n  at = s32[] {5}\n",
                       x, stack, weights, w, trips - 1, backwards ? "subtract(last, i)" : "copy(i)") +
               slice("x", x, "96,32", "xs", "at") + slice("w", w, "32,32", "ws", "at") +
               fmt::format("  g = {0} multiply(x, d)\n"
                           "  e = {0} dot(g, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}\n"
                           "  dw = {1} dot(x, g), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}\n"
                           "  more = {1} add(sum, dw)\n  t = {0} tanh(e)\n"
                           "  ROOT r = {2} tuple(next, t, xs, ws, more)\n",
                           x, w, read)) +
      fmt::format(
          "ENTRY main {{\n  x = {0} parameter(0)\n  ws = {1} parameter(1)\n  zero = s32[] constant(0)\n"
          "  nought = f32[] constant(0)\n  empty = {2} broadcast(nought), dimensions={{}}\n"
          "  none = {3} broadcast(nought), dimensions={{}}\n  t = {4} tuple(zero, x, empty, ws)\n"
          "  f = {4} while(t), condition=forwards.test, body=forwards\n"
          "  y = {0} get-tuple-element(f), index=1\n  xs = {2} get-tuple-element(f), index=2\n"
          "  u = {5} tuple(zero, y, xs, ws, none)\n  l = {5} while(u), condition=later.test, body=later\n"
          "  d = {0} get-tuple-element(l), index=1\n  sum = {3} get-tuple-element(l), index=4\n"
          "  ROOT r = ({0}, {3}) tuple(d, sum)\n}}\n",
          x, weights, stack, w, made, read);
  auto module = parse_hlo(std::make_shared<const Source>(Source{"test.hlo", text}));
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.take();
}

int64_t temp_with(const Module& module, const Decisions& first) {
  Decisions decisions = without_streams();
  decisions.insert(decisions.begin(), first.begin(), first.end());
  const auto compiled = compile_plan(module, cpu_target(), decisions);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  const auto checked = check_fit(module, *compiled, cpu_backend());
  EXPECT_TRUE(checked.ok()) << checked.status().message();
  EXPECT_EQ(checked->exercised(), std::ssize(first));
  return compiled->program->temp_bytes;
}

Decisions decisions_of(const std::vector<Grouping>& levels) {
  Decisions all;
  for (const Grouping& g : levels) all.emplace_back(SaveEvery{g});
  return all;
}

TEST(SaveEvery, AnyGroupsGiveTheSameInLess) {
  for (const bool backwards : {true, false}) {
    for (const int trips : {16, 23}) {
      const auto module = pair_of_loops(trips, backwards);
      const int64_t whole = temp_with(*module, {});
      const std::vector<Grouping> all = groupings(*module);
      ASSERT_GE(all.size(), 4u);
      EXPECT_TRUE(std::ranges::any_of(all, [](const Grouping& g) { return g.of > 0; }));
      EXPECT_TRUE(std::ranges::any_of(all, [](const Grouping& g) { return g.of == 0; }));
      for (const Grouping& g : all)
        EXPECT_LT(temp_with(*module, {SaveEvery{g}}), whole) << trips << " trips: " << g.k << " of " << g.of;
      EXPECT_LT(temp_with(*module, {SaveEvery{all.back()}}), whole * 3 / 4);
    }
  }
}

TEST(SaveEvery, GroupsOfGroupsGiveTheSameInLess) {
  for (const bool backwards : {true, false}) {
    const int trips = backwards ? 256 : 300;
    const auto module = pair_of_loops(trips, backwards);
    int64_t least = temp_with(*module, {SaveEvery{groupings(*module).back()}});
    const std::vector<std::vector<Grouping>> nested = nested_groupings(*module);
    ASSERT_EQ(nested.size(), 2u);
    for (const std::vector<Grouping>& levels : nested) {
      const int64_t temp = temp_with(*module, decisions_of(levels));
      EXPECT_LT(temp, least) << trips << " trips, " << levels.size() << " groupings";
      least = temp;
    }
  }
  EXPECT_TRUE(nested_groupings(*pair_of_loops(8)).empty()) << "eight iterations are too few";
}

/// The most groupings in one of the plans that the search would try after the one without streams.
int64_t most_groupings_tried(const Planner& planner, bool is_free_found) {
  Measured plan = planner.measure(without_streams()).take();
  Trial trial;
  trial.point = {plan.peak_bytes, plan.temp_bytes, plan.ns, without_streams()};
  trial.potential = plan.potential;
  trial.at_peak = std::move(plan.at_peak);
  NextSteps next(planner);
  next.state.is_free_found = is_free_found;
  next.state.most_ns = 4 * plan.ns;
  int64_t most = 0;
  for (const Series& series : next.from(trial)) {
    for (const Decisions& decisions : series.steps)
      most = std::max<int64_t>(most, std::ranges::count_if(decisions, [](const Decision& d) {
                                 return std::holds_alternative<SaveEvery>(d);
                               }));
  }
  return most;
}

TEST(SaveEvery, OnlySingleGroupsAreTriedForTheFreePlan) {
  const auto module = pair_of_loops(256);
  const auto planner = Planner::make(*module, cpu_target());
  ASSERT_TRUE(planner.ok()) << planner.status().message();
  EXPECT_EQ(most_groupings_tried(*planner, false), 1);
  EXPECT_EQ(most_groupings_tried(*planner, true), 3);
}

TEST(SaveEvery, LeavesWhatGroupsWouldNotSave) {
  const auto module = pair_of_loops(16);
  for (const Grouping& g : {Grouping{1, 0}, Grouping{16, 0}, Grouping{8, 8}, Grouping{20, 0}}) {
    const auto result = save_every(*module, g);
    ASSERT_TRUE(result.ok());
    EXPECT_FALSE(result->changed) << g.k << " of " << g.of;
  }
  const auto control = save_every(*module, {4, 8});
  EXPECT_TRUE(control.ok() && control->changed) << "the control";
}

TEST(SaveEvery, IsCheckedInSmall) {
  const auto module = pair_of_loops(40);
  for (const Grouping& g : {Grouping{5, 0}, Grouping{4, 24}}) {
    const auto compiled = compile_plan(*module, cpu_target(), {SaveEvery{g}});
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    expect_checked_in_small(*module, *compiled);
  }
}

TEST(SaveEvery, CopiesAreToldWhatTheOriginalWasTold) {
  for (const Grouping& g : {Grouping{4, 0}, Grouping{4, 8}}) {
    const auto module = pair_of_loops(16);
    const auto each_sine = [&](const auto& take) {
      int count = 0;
      for (const auto& computation : module->computations()) {
        for (const auto& i : computation->instructions()) {
          if (i->opcode != Opcode::kSine) continue;
          take(*i);
          ++count;
        }
      }
      return count;
    };
    EXPECT_EQ(each_sine([](Instruction& i) { i.backend_config = "{\"rows\":96}"; }), 1);
    ASSERT_TRUE(save_every(*module, g).ok());
    const int copies = each_sine([](const Instruction& i) { EXPECT_EQ(i.backend_config, "{\"rows\":96}"); });
    EXPECT_GT(copies, 1);
  }
}

}  // namespace
}  // namespace lowtide::engine
