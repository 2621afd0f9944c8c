#include "passes/recompute/recompute.h"
#include "read_module.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "checked_in_small.h"
#include "compile/check_fit.h"
#include "compile/compile.h"
#include "compile/planner.h"
#include "compile/source_words.h"
#include "passes/canonicalise/remove_dead_code.h"
#include "passes/recompute/lives.h"
#include "passes/recompute/order.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

/// Dense layers, unrolled, and the gradients of their weights: what each layer made is read again on the way back.
std::string layers(int count, int rows = 2048, int width = 64) {
  const std::string tall = fmt::format("f32[{},{}]", rows, width), square = fmt::format("f32[{0},{0}]", width);
  std::string text = "HloModule layers\nENTRY main {\n  a.0 = " + tall + " parameter(0)\n", results, shapes;
  for (int k = 1; k <= count; ++k) text += fmt::format("  w.{} = {} parameter({})\n", k, square, k);
  const auto product = [&](const std::string& name, const std::string& shape, const std::string& a, int da,
                           const std::string& b, int db) {
    text += fmt::format("  {} = {} dot({}, {}), lhs_contracting_dims={{{}}}, rhs_contracting_dims={{{}}}\n", name,
                        shape, a, b, da, db);
  };
  for (int k = 1; k <= count; ++k) {
    product(fmt::format("h.{}", k), tall, fmt::format("a.{}", k - 1), 1, fmt::format("w.{}", k), 0);
    text += fmt::format("  a.{0} = {1} tanh(h.{0})\n", k, tall);
  }
  text += fmt::format("  d.{0} = {1} negate(a.{0})\n", count, tall);
  for (int k = count; k >= 1; --k) {
    text += fmt::format("  c.{0} = {1} cosine(h.{0})\n  g.{0} = {1} multiply(c.{0}, d.{0})\n", k, tall);
    product(fmt::format("dw.{}", k), square, fmt::format("a.{}", k - 1), 0, fmt::format("g.{}", k), 0);
    if (k > 1) product(fmt::format("d.{}", k - 1), tall, fmt::format("g.{}", k), 1, fmt::format("w.{}", k), 1);
    results += fmt::format("{}dw.{}", results.empty() ? "" : ", ", k);
    shapes += (shapes.empty() ? "" : ", ") + square;
  }
  return text + "  ROOT r = (" + shapes + ") tuple(" + results + ")\n}\n";
}

int64_t made_again(const Module& module) {
  return std::ranges::count_if(module.entry->instructions(),
                               [](const auto& i) { return i->name.find(".again") != std::string::npos; });
}

TEST(Recompute, OffersLessMemoryForMoreTime) {
  const auto offers = recompute_offers(*read(layers(8)), cpu_target());
  ASSERT_GE(offers.size(), 2u);
  for (size_t k = 1; k < offers.size(); ++k) {
    const bool is_plain = offers[k].price.in_room == 0 && offers[k - 1].price.in_room == 0;
    if (is_plain) {
      EXPECT_GT(offers[k].price.ns_per_byte, offers[k - 1].price.ns_per_byte);
    }
    EXPECT_GT(offers[k].ns, offers[k - 1].ns);
    EXPECT_LT(offers[k].most, offers[k - 1].most);
  }
  EXPECT_GT(offers.back().ns, offers.front().ns);
  EXPECT_TRUE(recompute_offers(*read(layers(1)), cpu_target()).empty()) << "the control: one layer is read at once";
}

TEST(Recompute, PlansHoldLessAndGiveTheSame) {
  const auto module = read(layers(12));
  const auto whole = compile_plan(*module, cpu_target(), without_streams());
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  const auto offers = recompute_offers(*module, cpu_target());
  ASSERT_FALSE(offers.empty());
  Decisions decisions = without_streams();
  decisions.insert(decisions.begin(), Recompute{offers.back().price});
  const auto less = compile_plan(*module, cpu_target(), decisions);
  ASSERT_TRUE(less.ok()) << less.status().message();
  EXPECT_LT(2 * less->program->temp_bytes, whole->program->temp_bytes);
  const auto checked = check_fit(*module, *less, cpu_backend());
  ASSERT_TRUE(checked.ok()) << checked.status().message();
  EXPECT_EQ(checked->exercised(), 1);
}

/// The same layers under a loss of a wide product, whose gradient starts the way back: more than all that layers keep.
std::string layers_and_loss(int count, int rows, int width, int words) {
  std::string text = layers(count, rows, width);
  const std::string start = fmt::format("  d.{0} = f32[{1},{2}] negate(a.{0})\n", count, rows, width);
  const std::string wide = fmt::format("f32[{},{}]", rows, words);
  const std::string loss = fmt::format(
      "  u = f32[{2},{4}] parameter({5})\n"
      "  l = {3} dot(a.{0}, u), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
      "  e = {3} exponential(l)\n"
      "  d.{0} = f32[{1},{2}] dot(e, u), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}\n",
      count, rows, width, wide, words, count + 1);
  return text.replace(text.find(start), start.size(), loss);
}

TEST(Recompute, MakesAgainWhatStreamsLeaveWhereItStandsAfterThem) {
  const auto module = read(layers_and_loss(8, 2048, 64, 4096));
  const Planner planner = Planner::of_shared(module->clone(), cpu_target());
  const auto temp_of = [&](const Decisions& decisions) {
    const auto plan = planner.plan(decisions);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return plan.ok() ? plan->program->temp_bytes : -1;
  };
  const auto stream = parse_stream_decision("stream main e dimension=0 tile=64");
  ASSERT_TRUE(stream.ok()) << stream.status().message();
  Decisions streamed = without_streams();
  streamed.emplace_back(*stream);
  const auto left = planner.streamed(streamed);
  ASSERT_TRUE(left.ok()) << left.status().message();
  const auto offers = recompute_offers(**left, cpu_target());
  ASSERT_FALSE(offers.empty());
  Decisions after = streamed, before = streamed;
  after.emplace_back(Recompute{offers.back().price});
  before.insert(before.begin(), Recompute{offers.back().price});
  EXPECT_EQ(first_stream(after), 2u);
  EXPECT_EQ(first_stream(before), 3u);
  EXPECT_LT(4 * temp_of(after), 3 * temp_of(streamed));
  EXPECT_NE(temp_of(after), temp_of(before)) << "the control: at the fullest moment without the stream stands the loss";

  // The plan's file keeps the order in which they stand.
  const auto compiled = compile_plan(*module, cpu_target(), after);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  const auto replayed = parse_plan(print_plan(*module, compiled->replay), *module);
  ASSERT_TRUE(replayed.ok()) << replayed.status().message();
  const auto again = compile_plan(*module, cpu_target(), replayed->decisions);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->program->temp_bytes, compiled->program->temp_bytes);
  for (const bool only_small : {false, true}) {
    const auto checked = check_fit(*module, *compiled, cpu_backend(), {.only_small = only_small});
    ASSERT_TRUE(checked.ok()) << checked.status().message();
    EXPECT_EQ(checked->exercised(), std::ssize(checked->rows));
  }
}

/// The offer that also uses the room of later moments and holds least; null: there is none.
const RecomputeOffer* in_room(const std::vector<RecomputeOffer>& offers) {
  const RecomputeOffer* least = nullptr;
  for (const RecomputeOffer& offer : offers) {
    if (offer.price.in_room > 0 && (least == nullptr || offer.most < least->most)) least = &offer;
  }
  return least;
}

TEST(RecomputeInRoom, HoldsLessThanTheSamePriceWithout) {
  const auto module = read(layers_and_loss(24, 2048, 64, 4096));
  const auto offers = recompute_offers(*module, cpu_target());
  const RecomputeOffer* offer = in_room(offers);
  ASSERT_NE(offer, nullptr);
  const auto plan = [&](const RecomputePrice& price) {
    Decisions decisions = without_streams();
    decisions.emplace_back(Recompute{price});
    return compile_plan(*module, cpu_target(), decisions);
  };
  const auto with = plan(offer->price), without = plan({offer->price.ns_per_byte});
  ASSERT_TRUE(with.ok() && without.ok());
  EXPECT_LT(10 * with->program->temp_bytes, 9 * without->program->temp_bytes);

  // The plan's file has both prices, and the results are those of the program as given.
  const auto replayed = parse_plan(print_plan(*module, with->replay), *module);
  ASSERT_TRUE(replayed.ok()) << replayed.status().message();
  EXPECT_EQ(replayed->decisions, with->replay);
  const auto checked = check_fit(*module, *with, cpu_backend());
  ASSERT_TRUE(checked.ok()) << checked.status().message();
  EXPECT_EQ(checked->exercised(), std::ssize(checked->rows));
  expect_checked_in_small(*module, *with);
}

TEST(RecomputeInRoom, NeverMakesAnotherMomentFuller) {
  const auto module = read(layers_and_loss(24, 2048, 64, 4096));
  const auto most = [](const Module& m) { return Lives(*m.entry, find_virtual_values(m)).most(); };
  ASSERT_TRUE(
      recompute(*module, cpu_target(), {recompute_offers(*module, cpu_target()).front().price.ns_per_byte}).ok());
  ASSERT_TRUE(remove_dead_code(*module).ok());
  const int64_t before = most(*module);
  const std::unique_ptr<Module> same = module->clone();
  EXPECT_TRUE(recompute_in_room(*same->entry, cpu_target(), 1e-9).steps.empty()) << "the control: nothing is so cheap";
  EXPECT_EQ(most(*same), before);

  const InRoom done = recompute_in_room(*module->entry, cpu_target(), 1e9);
  ASSERT_FALSE(done.steps.empty());
  EXPECT_EQ(most(*module), done.points.back().most);
  int64_t least = before;
  for (const RoomPoint& point : done.points) {
    EXPECT_LE(point.most, least);
    least = point.most;
  }
  EXPECT_LT(least, before);
}

TEST(RecomputeInRoom, NamesAloneDontMakeACopy) {
  std::string text = layers_and_loss(10, 256, 32, 1024);
  for (int k = 2; k <= 10; ++k) {  // what is called like a copy of the layer before is something else
    const std::string reader = fmt::format("  c.{} = f32[256,32] cosine(h.{})\n", k, k);
    const std::string other = fmt::format(
        "  h.{1}.again = f32[256,32] sine(d.{0})\n  s.{0} = f32[256,32] add(h.{0}, h.{1}.again)\n"
        "  c.{0} = f32[256,32] cosine(s.{0})\n",
        k, k - 1);
    ASSERT_NE(text.find(reader), std::string::npos);
    text.replace(text.find(reader), reader.size(), other);
  }
  const auto module = read(text);
  for (const RecomputeOffer& offer : recompute_offers(*module, cpu_target())) {
    Decisions decisions = without_streams();
    decisions.emplace_back(Recompute{offer.price});
    const auto plan = compile_plan(*module, cpu_target(), decisions);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    const auto checked = check_fit(*module, *plan, cpu_backend());
    EXPECT_TRUE(checked.ok()) << checked.status().message();
  }
}

TEST(RecomputeInRoom, WrongPricesAreRefused) {
  const auto module = read(layers(4));
  const std::string head = print_plan(*module, {});
  EXPECT_TRUE(parse_plan(head + "recompute 2 in-room=3\n", *module).ok());
  for (const char* wrong : {"recompute 2 in-room=0", "recompute 2 in-room=x", "recompute 2 in-room", "recompute 2 3",
                            "recompute 2 in-room=-1", "recompute 2 in-room=1e300"}) {
    EXPECT_FALSE(parse_plan(head + wrong + "\n", *module).ok()) << wrong;
  }
}

TEST(Recompute, IsSaidInTheWordsOfTheSource) {
  std::string text = layers(6);
  const std::string_view call = " tanh(";
  for (size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) {
    text.insert(text.find('\n', at),
                ", metadata={op_name=\"jit(f)/mlp/act/tanh\" source_file=\"/x/model.py\" source_line=42}");
  }
  const auto words = [](const std::string& program) {
    const auto module = read(program);
    const auto offers = recompute_offers(*module, cpu_target());
    EXPECT_FALSE(offers.empty());
    const auto said = source_words(Planner::of_shared(module->clone(), cpu_target()), {Recompute{offers.back().price}});
    EXPECT_TRUE(said.ok()) << said.status().message();
    return said.ok() && !said->empty() ? said->front() : "";
  };
  EXPECT_EQ(words(text), "") << "the control: whoever wrote this didn't write JAX";
  text.replace(0, 16, "HloModule jit_layers");
  const std::string said = words(text);
  EXPECT_NE(said.find("save_anything_except_these_names(\"act_42\")"), std::string::npos) << said;
  EXPECT_NE(said.find("checkpoint_name(x, \"act_42\") at model.py:42 (f32[2048,64], "), std::string::npos) << said;
}

TEST(Recompute, IsCheckedInSmall) {
  const auto module = read(layers(6));
  const auto offers = recompute_offers(*module, cpu_target());
  ASSERT_FALSE(offers.empty());
  const Decisions decisions{Recompute{offers.back().price}};
  const auto compiled = compile_plan(*module, cpu_target(), decisions);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  expect_checked_in_small(*module, *compiled);
}

TEST(Recompute, IsDoneAlikeInOtherExtents) {
  const auto large = read(layers(6)), small = read(layers(6, 16, 4)), other = read(layers(5, 16, 4));
  Recomputed done;
  const auto result = recompute(*large, cpu_target(), recompute_offers(*large, cpu_target()).back().price, &done);
  ASSERT_TRUE(result.ok() && result->changed);
  EXPECT_TRUE(recompute_alike(*small, cpu_target(), done));
  EXPECT_EQ(made_again(*small), made_again(*large));
  EXPECT_FALSE(recompute_alike(*other, cpu_target(), done)) << "the control: it has other layers";
  EXPECT_EQ(made_again(*other), 0);
}

TEST(Recompute, IsDoneAlikeWhereALittleMoreStands) {
  const auto large = read(layers(6));
  std::string text = layers(6, 16, 4);
  text.replace(text.find("  h.1 ="), 0, "  more = f32[16,4] negate(a.0)\n  idle = f32[16,4] sine(more)\n");
  const auto small = read(text);
  Recomputed done;
  const auto result = recompute(*large, cpu_target(), recompute_offers(*large, cpu_target()).back().price, &done);
  ASSERT_TRUE(result.ok() && result->changed);
  EXPECT_TRUE(recompute_alike(*small, cpu_target(), done));
  EXPECT_EQ(made_again(*small), made_again(*large));
}

TEST(Recompute, LeavesWhatHasEffectsOrAnOrder) {
  std::string text = layers(6);
  const auto turn = [&](const std::string& from, const std::string& to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  const auto free = read(text);
  const RecomputePrice price = recompute_offers(*free, cpu_target()).back().price;
  ASSERT_TRUE(recompute(*free, cpu_target(), price).ok());
  EXPECT_GT(made_again(*free), 0) << "the control";
  for (int k = 1; k <= 6; ++k) {
    turn(fmt::format("tanh(h.{})", k),
         fmt::format("custom-call(h.{}), custom_call_target=\"touch\", custom_call_has_side_effect=true", k));
  }
  const auto held = read(text);
  ASSERT_TRUE(recompute(*held, cpu_target(), price).ok());
  for (int k = 1; k <= 6; ++k)
    EXPECT_EQ(print_hlo(*held).find(fmt::format("a.{}.again", k)), std::string::npos) << print_hlo(*held);
}

TEST(Recompute, KeepsTheOrderOfEffects) {
  // Depth first less is alive, but what the result doesn't need comes last: the first call would be the second.
  std::string text = "HloModule m\nENTRY main {\n  x = f32[256,256] parameter(0)\n  y = f32[256,320] parameter(1)\n";
  const auto touch = [&](const std::string& name, const std::string& of) {
    text += fmt::format(
        "  {} = f32[256,256] custom-call({}), custom_call_target=\"touch\", custom_call_has_side_effect=true\n", name,
        of);
  };
  touch("first", "x");
  touch("second", "x");
  for (int k = 0; k < 8; ++k)
    text += fmt::format(
        "  t.{0} = f32[256,256] dot(second, x), lhs_contracting_dims={{{1}}}, rhs_contracting_dims={{{2}}}\n", k, k % 2,
        k / 2 % 2);
  std::string sum = "second";
  for (int k = 0; k < 8; ++k) {
    text += fmt::format(
        "  p.{0} = f32[256,320] dot(t.{0}, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n", k);
    text += fmt::format(
        "  q.{0} = f32[256,256] dot(p.{0}, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}\n", k);
    text += fmt::format(
        "  s.{0} = f32[256,256] dot(q.{0}, {1}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n", k, sum);
    sum = fmt::format("s.{}", k);
  }
  const auto module = read(text + "  ROOT r = f32[256,256] negate(" + sum + ")\n}\n");
  ASSERT_TRUE(recompute(*module, cpu_target(), {1}).ok());
  const std::string after = print_hlo(*module);
  EXPECT_LT(after.find("%first = "), after.find("%second = ")) << after;
}

TEST(GoodOrder, LastReadersComeEarly) {
  // `wide` has two readers, of which the second frees it: behind the first it is in time for what `more` needs.
  const auto module = read(R"(HloModule m
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }
ENTRY main {
  x = f32[64,256] parameter(0)
  v = f32[256,8] parameter(1)
  u = f32[8,512] parameter(2)
  w = f32[8,64] parameter(3)
  wide = f32[64,256] sort(x), dimensions={1}, to_apply=less
  first = f32[64,8] dot(wide, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  more = f32[64,512] dot(first, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sums = f32[8,512] dot(w, more), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  last = f32[8,256] dot(w, wide), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[512,256] dot(sums, last), lhs_contracting_dims={0}, rhs_contracting_dims={0}
})");
  put_in_good_order(*module->entry);
  const std::string after = print_hlo(*module);
  EXPECT_LT(after.find("%last = "), after.find("%more = ")) << after;
}

TEST(GoodOrder, ReadersThatFreeAValueTogetherComeEarly) {
  // After `first`, two small readers of `wide` are left: neither alone frees it, both do. Three readers of which one
  // waits for `sums` don't.
  const auto order_of = [](const char* second) {
    const auto module = read(fmt::format(R"(HloModule m
less {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }}
ENTRY main {{
  x = f32[64,256] parameter(0)
  v = f32[256,8] parameter(1)
  u = f32[8,512] parameter(2)
  w = f32[8,64] parameter(3)
  wide = f32[64,256] sort(x), dimensions={{1}}, to_apply=less
  first = f32[64,8] dot(wide, v), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  more = f32[64,512] dot(first, u), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  sums = f32[8,512] dot(w, more), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  few = f32[8,64] slice(sums), slice={{[0:8], [0:64]}}
  weight = f32[8,256] dot(w, wide), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  bias = f32[8,256] dot({}, wide), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  both = f32[8,256] add(weight, bias)
  ROOT r = f32[512,256] dot(sums, both), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}
}})",
                                         second));
    put_in_good_order(*module->entry);
    return print_hlo(*module);
  };
  const std::string together = order_of("w");
  EXPECT_LT(together.find("%weight = "), together.find("%more = ")) << together;
  EXPECT_LT(together.find("%bias = "), together.find("%more = ")) << together;
  const std::string apart = order_of("few");
  EXPECT_GT(apart.find("%bias = "), apart.find("%more = ")) << apart;
}

}  // namespace
}  // namespace lowtide::engine
