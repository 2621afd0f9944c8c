// Equal layers of a network that isn't written as a loop: found by their roles, and streamed all at once.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

#include "analysis/roles.h"
#include "backend/cpu/cpu_backend.h"
#include "compile/check_fit.h"
#include "compile/next_steps.h"
#include "passes/stream/stream.h"
#include "read_module.h"
#include "streamed_in_tiles.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

/// So many layers of attention over `rows` rows, each with weights of its own. No stream along the rows goes past
/// the sort between two of them.
std::string attention_layers(int layers, int rows, int width) {
  const std::string x = fmt::format("f32[{},{}]", rows, width), s = fmt::format("f32[{0},{0}]", rows);
  const std::string w = fmt::format("f32[{0},{0}]", width), r = fmt::format("f32[{}]", rows);
  std::string text = fmt::format(R"(HloModule m
plus {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }}
less {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER }}
ENTRY main {{
  x.0 = {0} parameter(0)
  zero = f32[] constant(0)
  mask = {1} parameter({2})
)",
                                 x, s, layers + 1);
  for (int l = 0; l < layers; ++l) {
    text += fmt::format(R"(  w.{0} = {3} parameter({1})
  q.{0} = {2} dot(x.{0}, w.{0}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  s.{0} = {4} dot(q.{0}, x.{0}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
  m.{0} = {4} multiply(mask, s.{0})
  e.{0} = {4} exponential(m.{0})
  n.{0} = {5} reduce(e.{0}, zero), dimensions={{1}}, to_apply=plus
  y.{0} = {2} dot(e.{0}, q.{0}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  b.{0} = {2} broadcast(n.{0}), dimensions={{0}}
  d.{0} = {2} divide(y.{0}, b.{0})
  t.{0} = {2} tanh(d.{0})
  a.{0} = {2} add(x.{0}, t.{0})
  x.{1} = {2} sort(a.{0}), dimensions={{0}}, is_stable=true, to_apply=less
)",
                        l, l + 1, x, w, s, r);
  }
  return text + fmt::format("  ROOT out = {0} negate(x.{1})\n}}\n", x, layers);
}

const Instruction& named(const Module& module, std::string_view name) {
  for (const auto& i : module.entry->instructions()) {
    if (i->name == name) return *i;
  }
  ADD_FAILURE() << name;
  return *module.entry->root;
}

std::vector<std::string> names_with_role_of(const Module& module, std::string_view name) {
  std::vector<std::string> names;
  for (const Instruction* i : with_same_role(named(module, name))) names.push_back(i->name);
  return names;
}

TEST(Roles, AreThoseOfEqualPlacesInEqualLayers) {
  const auto module = read(attention_layers(9, 6, 2));
  const std::vector<std::string> inner = names_with_role_of(*module, "e.4");
  EXPECT_EQ(inner.size(), 9u);
  EXPECT_TRUE(std::ranges::all_of(inner, [](const std::string& name) { return name.starts_with("e."); }));
  // Products of equal shapes that are read otherwise have other roles.
  const std::vector<std::string> products = names_with_role_of(*module, "q.4");
  EXPECT_TRUE(std::ranges::all_of(products, [](const std::string& name) { return name.starts_with("q."); }));
  EXPECT_EQ(names_with_role_of(*module, "mask"), std::vector<std::string>{"mask"});
}

TEST(Roles, OfOperandsInAnotherOrderAndOfOtherAttributesDiffer) {
  const auto module = read(R"(HloModule m
ENTRY main {
  x = f32[4,4] parameter(0)
  y = f32[4,4] parameter(1)
  a = f32[4,4] subtract(x, y)
  b = f32[4,4] subtract(y, x)
  p = f32[4,4] transpose(a), dimensions={1,0}
  q = f32[4,4] transpose(b), dimensions={0,1}
  c = f32[4,4] cosine(p)
  d = f32[4,4] cosine(q)
  ROOT r = (f32[4,4], f32[4,4]) tuple(c, d)
})");
  EXPECT_EQ(names_with_role_of(*module, "p"), std::vector<std::string>{"p"});
  EXPECT_EQ(names_with_role_of(*module, "a"), std::vector<std::string>{"a"});
}

TEST(StreamLayers, StreamsEachWithTheSameBits) {
  const auto module = read(attention_layers(9, 12, 4));
  StreamDecision decision{.computation = "main", .seed = "e.4", .dimension = 0, .tile = 4};
  const auto alone = module->clone();
  const auto one = stream(*alone, cpu_target(), decision);
  ASSERT_TRUE(one.ok()) << one.status().message();
  decision.all_layers = true;
  const auto tiled = module->clone();
  const auto all = stream(*tiled, cpu_target(), decision);
  ASSERT_TRUE(all.ok()) << all.status().message();
  EXPECT_GE(all->count, 4 * one->count);
  const auto loops =
      std::ranges::count_if(tiled->entry->instructions(), [](const auto& i) { return i->opcode == Opcode::kWhile; });
  EXPECT_GE(loops, 5);
  expect_tiles_are_the_whole(*module, decision, {1, 3, 5});
}

TEST(StreamLayers, SaysWhatItCantDo) {
  const auto module = read(attention_layers(9, 12, 4));
  const StreamDecision none{.computation = "main", .seed = "n.4", .dimension = 0, .tile = 12, .all_layers = true};
  const auto refused = stream(*module->clone(), cpu_target(), none);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("a tile of at least one slice"), std::string::npos);
  const StreamDecision given{.computation = "main", .seed = "w.4", .dimension = 0, .tile = 2, .all_layers = true};
  const auto argument = stream(*module->clone(), cpu_target(), given);
  ASSERT_FALSE(argument.ok());
  EXPECT_NE(argument.status().message().find("in all layers"), std::string::npos) << argument.status().message();
}

TEST(StreamLayers, AreReadAndWrittenAsText) {
  for (const char* text : {"stream main e dimension=1 tile=64 all-layers",
                           "stream main e dimension=1 tile=64 one_pass store=0.5 all-layers"}) {
    const auto decision = parse_stream_decision(text);
    ASSERT_TRUE(decision.ok()) << decision.status().message();
    EXPECT_TRUE(decision->all_layers);
    EXPECT_EQ(to_text(*decision), text);
  }
  EXPECT_FALSE(parse_stream_decision("stream main e dimension=1 tile=64")->all_layers);
  EXPECT_FALSE(parse_stream_decision("stream main e dimension=1 tile=64 windows all-layers").ok());
}

bool is_of_all_layers(const Decision& decision) {
  const auto* stream = std::get_if<StreamDecision>(&decision);
  return stream != nullptr && stream->all_layers;
}

/// The streams that the search would try next after the plan without streams.
std::vector<Decision> next_streams(const Planner& planner, bool has_few_plans) {
  Measured plan = planner.measure(without_streams()).take();
  Trial trial;
  trial.point = {plan.peak_bytes, plan.temp_bytes, plan.ns, without_streams()};
  trial.potential = plan.potential;
  trial.at_peak = std::move(plan.at_peak);
  NextSteps next(planner);
  next.state.has_few_plans = has_few_plans;
  next.state.most_ns = 100 * plan.ns;
  std::vector<Series> steps;
  next.add_streams(trial, steps);
  std::vector<Decision> streams;
  for (const Series& series : steps) {
    for (const Decisions& decisions : series.steps) streams.push_back(decisions.back());
  }
  return streams;
}

TEST(StreamLayers, AreTriedIfPlansAreFew) {
  const auto module = read(attention_layers(12, 512, 16));
  const auto planner = Planner::make(*module, cpu_target());
  ASSERT_TRUE(planner.ok()) << planner.status().message();
  EXPECT_TRUE(std::ranges::none_of(next_streams(*planner, false), is_of_all_layers));
  const std::vector<Decision> streams = next_streams(*planner, true);
  const auto found = std::ranges::find_if(streams, is_of_all_layers);
  ASSERT_NE(found, streams.end());

  Decisions all = without_streams(), one = without_streams();
  all.push_back(*found);
  one.push_back(*found);
  std::get<StreamDecision>(one.back()).all_layers = false;
  const auto in_all = compile_plan(*module, cpu_target(), all), in_one = compile_plan(*module, cpu_target(), one);
  ASSERT_TRUE(in_all.ok() && in_one.ok());
  EXPECT_LT(3 * in_all->program->temp_bytes, in_one->program->temp_bytes);
  const auto checked = check_fit(*module, *in_all, cpu_backend(), {});
  ASSERT_TRUE(checked.ok()) << checked.status().message();
}

}  // namespace
}  // namespace lowtide::engine
