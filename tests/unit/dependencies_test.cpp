// Which steps wait for which: what conflicts is ordered, nothing else is, and no dependency follows from others. The
// checker proves the same for itself, and notices each one that is missing.

#include "schedule/dependencies.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "schedule/check/check_program.h"
#include "schedule/check/order_proof.h"
#include "schedule/implied_edges.h"
#include "support/sanitized.h"
#include "target/cpu.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

using Edges = std::vector<std::vector<int32_t>>;

Program planned_with_dependencies(const std::string& text) {
  auto parsed = parse_hlo(std::make_shared<const Source>(Source{"test.hlo", text}));
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  Program program = schedule(std::shared_ptr<const Module>(parsed.take()), cpu_target(), {});
  EXPECT_EQ(check_program(program, cpu_target()), "");
  find_dependencies(program);
  EXPECT_EQ(fault_of_order(program), "");
  return program;
}

Edges edges_of(const std::vector<ProgramStep>& steps) {
  Edges edges;
  for (const ProgramStep& step : steps) edges.push_back(step.after);
  return edges;
}

/// A program by hand: slots of 64 bytes side by side in the arena.
struct HandMade {
  Program program;

  HandMade() {
    auto module = parse_hlo(std::make_shared<const Source>(
        Source{"test.hlo", "HloModule m\nENTRY main {\n ROOT x = f32[16] parameter(0)\n}\n"}));
    program.module = module.take();
  }
  int32_t slot(int64_t offset, int64_t bytes = 64) {
    program.storages.push_back({.bytes = bytes, .offset = offset});
    program.slots.push_back({static_cast<int32_t>(program.storages.size()) - 1, 0, bytes});
    return static_cast<int32_t>(program.slots.size()) - 1;
  }
  ProgramStep step(std::vector<int32_t> reads, std::vector<int32_t> writes) const {
    ProgramStep s;
    s.kind = StepKind::kCopy;
    s.instruction = program.module->entry->root;
    s.reads = std::move(reads);
    s.writes = std::move(writes);
    return s;
  }
};

TEST(Dependencies, ReadsAfterWritesAndWritesAfterReads) {
  HandMade hand;
  const int32_t a = hand.slot(0), b = hand.slot(64), c = hand.slot(128), half = hand.slot(32);
  hand.program.steps = {hand.step({}, {a}), hand.step({}, {c}), hand.step({a}, {b}), hand.step({a, c}, {}),
                        hand.step({}, {half})};
  find_dependencies(hand.program);
  // The last one writes over halves of a, which two have read, and of b, which one of them wrote.
  EXPECT_EQ(edges_of(hand.program.steps), (Edges{{}, {}, {0}, {0, 1}, {2, 3}}));
  EXPECT_EQ(fault_of_order(hand.program), "");
}

TEST(Dependencies, WhatRotatesIsFollowed) {
  HandMade hand;
  const int32_t a = hand.slot(0), b = hand.slot(64), c = hand.slot(128), over_b = hand.slot(64), more = hand.slot(256);
  ProgramStep rotate = hand.step({}, {});
  rotate.kind = StepKind::kRotate;
  rotate.from = {a, b}, rotate.to = {b, a};
  ProgramStep loop = hand.step({}, {});
  loop.kind = StepKind::kWhile;
  loop.predicate = more;
  loop.settle = {a, b};
  // In every other trip a lies where b began, and there the second step writes.
  loop.blocks = {{hand.step({}, {more})}, {hand.step({a}, {c}), hand.step({}, {over_b}), rotate}};
  hand.program.steps = {loop};
  find_dependencies(hand.program);
  EXPECT_EQ(edges_of(hand.program.steps[0].blocks[1]), (Edges{{}, {0}, {}}));
  hand.program.steps[0].trip_count = 1;
  find_dependencies(hand.program);
  EXPECT_EQ(edges_of(hand.program.steps[0].blocks[1]), (Edges{{}, {}, {}}));
  EXPECT_EQ(fault_of_order(hand.program), "");
  hand.program.steps[0].trip_count = 2;
  EXPECT_NE(fault_of_order(hand.program), "");
}

TEST(Dependencies, RotationsThatDoNotComeBack) {
  // Of lengths 3, 5 and 7: after 105 trips.
  HandMade hand;
  ProgramStep rotate = hand.step({}, {});
  rotate.kind = StepKind::kRotate;
  for (const int length : {3, 5, 7}) {
    std::vector<int32_t> slots;
    for (int k = 0; k < length; ++k) slots.push_back(hand.slot(64 * std::ssize(hand.program.slots)));
    for (int k = 0; k < length; ++k) {
      rotate.from.push_back(slots[k]);
      rotate.to.push_back(slots[(k + 1) % length]);
    }
  }
  ProgramStep loop = hand.step({}, {});
  loop.kind = StepKind::kWhile;
  loop.predicate = hand.slot(4096);
  loop.settle = rotate.to;
  loop.blocks = {{}, {hand.step({0}, {}), hand.step({4}, {}), hand.step({9}, {}), rotate}};
  hand.program.steps = {loop};
  find_dependencies(hand.program);
  EXPECT_EQ(edges_of(hand.program.steps[0].blocks[1]), (Edges{{}, {0}, {1}, {2}}));
  EXPECT_EQ(fault_of_order(hand.program), "");
  hand.program.steps[0].blocks[1][1].after.clear();
  EXPECT_NE(fault_of_order(hand.program), "");
}

TEST(Dependencies, EffectsKeepTheirOrder) {
  Program program = planned_with_dependencies(R"(HloModule m
ENTRY main {
  x = f32[64] parameter(0)
  y = f32[64] parameter(1)
  a = f32[64] custom-call(x), custom_call_target="first", custom_call_has_side_effect=true
  b = f32[64] custom-call(y), custom_call_target="second", custom_call_has_side_effect=true
  c = f32[64] custom-call(y), custom_call_target="pure"
  ROOT r = (f32[64], f32[64], f32[64]) tuple(a, b, c)
})");
  int waiting = 0;
  for (const ProgramStep& step : program.steps) {
    if (step.kind == StepKind::kOther) waiting += !step.after.empty();
  }
  EXPECT_EQ(waiting, 1);
  EXPECT_EQ(fault_of_order(program), "");
  for (ProgramStep& step : program.steps) {
    if (step.kind == StepKind::kOther) step.after.clear();
  }
  EXPECT_NE(fault_of_order(program), "");
}

TEST(Dependencies, NoneFollowsFromOthers) {
  Edges edges = {{}, {0}, {0, 1}, {0, 2}, {1, 3}};
  remove_implied_edges(edges);
  EXPECT_EQ(edges, (Edges{{}, {0}, {1}, {2}, {3}}));
  // Beyond one panel, against a search.
  std::mt19937 random(7);
  Edges many(1500);
  for (size_t v = 1; v < many.size(); ++v) {
    for (int k = 0; k < 4; ++k) many[v].push_back(static_cast<int32_t>(random() % v));
    std::ranges::sort(many[v]);
    many[v].erase(std::unique(many[v].begin(), many[v].end()), many[v].end());
  }
  const auto reached = [](const Edges& graph) {
    std::vector<std::vector<bool>> all(graph.size());
    for (size_t v = 0; v < graph.size(); ++v) {
      all[v].resize(graph.size());
      for (const int32_t e : graph[v]) {
        all[v][e] = true;
        for (size_t k = 0; k < v; ++k) all[v][k] = all[v][k] || all[e][k];
      }
    }
    return all;
  };
  const auto before = reached(many);
  remove_implied_edges(many);
  EXPECT_EQ(reached(many), before);
  for (size_t v = 0; v < many.size(); ++v) {
    for (const int32_t e : many[v]) {
      for (const int32_t other : many[v]) EXPECT_FALSE(before[other][e]);
    }
  }
}

/// Step by step: b comes after a.
using Order = std::vector<std::vector<bool>>;

void close(Order& order) {
  for (size_t b = 0; b < order.size(); ++b) {
    for (size_t a = 0; a < b; ++a) {
      for (size_t k = 0; order[b][a] && k < a; ++k) order[b][k] = order[b][k] || order[a][k];
    }
    for (size_t a = b; a-- > 0;) {
      for (size_t k = 0; order[b][a] && k < a; ++k) order[b][k] = order[b][k] || order[a][k];
    }
  }
}

TEST(Dependencies, AreThoseOfAllConflicts) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    HandMade hand;
    const int slots = 3 + static_cast<int>(random() % 12);
    for (int k = 0; k < slots; ++k) (void)hand.slot(64 * static_cast<int64_t>(random() % 8), 64 * (1 + random() % 3));
    const auto some = [&] {
      std::vector<int32_t> list;
      for (auto k = random() % 3; k > 0; --k) list.push_back(static_cast<int32_t>(random()) % slots);
      for (int32_t& slot : list) slot = std::abs(slot);
      return list;
    };
    const size_t steps = 2 + random() % 30;
    for (size_t s = 0; s < steps; ++s) hand.program.steps.push_back(hand.step(some(), some()));
    const auto meet = [&](const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
      return std::ranges::any_of(a, [&](int32_t x) {
        return std::ranges::any_of(b, [&](int32_t y) {
          const auto &p = hand.program.storages[x], &q = hand.program.storages[y];
          return p.offset < q.offset + q.bytes && q.offset < p.offset + p.bytes;
        });
      });
    };
    Order wanted(steps, std::vector<bool>(steps)), found = wanted;
    for (size_t b = 0; b < steps; ++b) {
      for (size_t a = 0; a < b; ++a) {
        const ProgramStep &first = hand.program.steps[a], &second = hand.program.steps[b];
        wanted[b][a] =
            meet(first.writes, second.reads) || meet(first.reads, second.writes) || meet(first.writes, second.writes);
      }
    }
    find_dependencies(hand.program);
    ASSERT_EQ(fault_of_order(hand.program), "");
    for (size_t b = 0; b < steps; ++b) {
      for (const int32_t a : hand.program.steps[b].after) {
        EXPECT_TRUE(wanted[b][a]) << "no conflict";
        found[b][a] = true;
      }
    }
    close(wanted);
    close(found);
    ASSERT_EQ(found, wanted);
    for (ProgramStep& step : hand.program.steps) {
      const std::vector<int32_t> whole = step.after;
      for (size_t k = 0; k < whole.size(); ++k) {
        step.after.erase(step.after.begin() + static_cast<std::ptrdiff_t>(k));
        EXPECT_NE(fault_of_order(hand.program), "");
        step.after = whole;
      }
    }
  }
}

/// Takes each dependency out in turn: how many there are, and how many the checker misses nothing without.
void count_missing(std::vector<ProgramStep>& steps, const Program& program, int& all, int& unnoticed) {
  for (ProgramStep& step : steps) {
    const std::vector<int32_t> whole = step.after;
    for (size_t k = 0; k < whole.size(); ++k) {
      step.after.erase(step.after.begin() + static_cast<std::ptrdiff_t>(k));
      ++all;
      unnoticed += fault_of_order(program).empty();
      step.after = whole;
    }
    for (auto& block : step.blocks) count_missing(block, program, all, unnoticed);
  }
}

TEST(Dependencies, TheCheckerMissesEachOne) {
  // Carries that rotate, an update in place, branches, a concatenation that stands.
  Program program = planned_with_dependencies(R"(HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
less { t = (s32[], f32[64], f32[64]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(5)
  ROOT l = pred[] compare(i, n), direction=LT }
body { t = (s32[], f32[64], f32[64]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  u = f32[64] get-tuple-element(t), index=1
  v = f32[64] get-tuple-element(t), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  r = f32[64] reverse(u), dimensions={0}
  w = f32[64] add(v, r)
  ROOT o = (s32[], f32[64], f32[64]) tuple(j, w, u) }
yes { p = f32[64] parameter(0)
  e = f32[64] exponential(p)
  s = f32[64] reverse(e), dimensions={0}
  ROOT m = f32[64] multiply(s, e) }
no { p = f32[64] parameter(0)
  ROOT s = f32[64] sort(p), dimensions={0}, to_apply=below }
below { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }
ENTRY main {
  x = f32[64] parameter(0)
  q = pred[] parameter(1)
  k = s32[] parameter(2)
  i = s32[] parameter(3)
  y = f32[64] negate(x)
  t = (s32[], f32[64], f32[64]) tuple(i, x, y)
  w = (s32[], f32[64], f32[64]) while(t), condition=less, body=body
  a = f32[64] get-tuple-element(w), index=1
  b = f32[64] get-tuple-element(w), index=2
  c = f32[64] conditional(q, a, b), true_computation=yes, false_computation=no
  zero = f32[] constant(0)
  all = f32[] reduce(c, zero), dimensions={0}, to_apply=add
  alls = f32[8] broadcast(all), dimensions={}
  up = f32[64] dynamic-update-slice(a, alls, k)
  cat = f32[128] concatenate(c, b), dimensions={0}
  ROOT r = (f32[64], f32[128]) tuple(up, cat)
})");
  int all = 0, unnoticed = 0;
  count_missing(program.steps, program, all, unnoticed);
  EXPECT_GT(all, 5);
  EXPECT_EQ(unnoticed, 0);
}

TEST(Dependencies, ManyStepsTakeNoTime) {
  // Two chains of which each step is read again much later, by either.
  HandMade hand;
  constexpr int32_t kSteps = kSanitized ? 10'000 : 100'000;
  for (int32_t k = 0; k < kSteps; ++k) (void)hand.slot(64 * k);
  for (int32_t k = 0; k < kSteps; ++k) {
    std::vector<int32_t> reads;
    if (k > 1) reads = {k - 2};
    if (k > kSteps / 2) reads.push_back(kSteps - k);
    hand.program.steps.push_back(hand.step(reads, {k}));
  }
  const auto start = std::chrono::steady_clock::now();
  find_dependencies(hand.program);
  const auto found = std::chrono::steady_clock::now();
  EXPECT_EQ(fault_of_order(hand.program), "");
  const auto proved = std::chrono::steady_clock::now();
  const auto ms = [](auto duration) { return std::chrono::duration<double, std::milli>(duration).count(); };
  RecordProperty("found_ms", static_cast<int>(ms(found - start)));
  RecordProperty("proved_ms", static_cast<int>(ms(proved - found)));
  EXPECT_LT(ms(proved - start), 20'000);  // well under a second where nothing else runs
  for (const ProgramStep& step : hand.program.steps) EXPECT_LE(step.after.size(), 2u);
}

}  // namespace
}  // namespace lowtide::engine
