// Functions of the host's that programs call, by the public face.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "lowtide/passes.h"
#include "lowtide/session.h"

namespace lowtide {
namespace {

/// Every call's config, and the first number that it was given.
struct Heard {
  std::mutex mutex;
  std::vector<std::string> all;
  void add(const HostCall& call) {
    const std::lock_guard lock(mutex);
    std::string line(call.config);
    if (!call.operands.empty()) {
      const HostOperand& first = call.operands[0];
      line += first.type == "s32" ? " " + std::to_string(*static_cast<const int32_t*>(first.data))
                                  : " " + std::to_string(static_cast<int>(*static_cast<const float*>(first.data)));
    }
    all.push_back(std::move(line));
  }
};

Options with_functions(Heard& heard) {
  Options options;
  options.threads = 2;
  options.host_functions["tell"] = [&heard](const HostCall& call) -> Result<void> {
    heard.add(call);
    return {};
  };
  /// Adds one to whatever floats there are, and says how many of them.
  options.host_functions["bump"] = [&heard](const HostCall& call) -> Result<void> {
    heard.add(call);
    const HostOperand& from = call.operands[0];
    const auto count = from.bytes / static_cast<int64_t>(sizeof(float));
    for (int64_t i = 0; i < count; ++i) {
      static_cast<float*>(call.results[0].data)[i] = static_cast<const float*>(from.data)[i] + 1;
    }
    if (call.results.size() > 1) *static_cast<int32_t*>(call.results[1].data) = static_cast<int32_t>(count);
    return {};
  };
  options.host_functions["refuse"] = [](const HostCall&) -> Result<void> {
    return Error{ErrorKind::kLimit, "not today"};
  };
  options.host_functions["throw"] = [](const HostCall&) -> Result<void> { throw std::runtime_error("thrown over"); };
  return options;
}

/// Floats given and floats back: one argument, one result that is read.
Result<std::vector<float>> run(const Session& session, const std::string& text, std::vector<float> x, size_t results) {
  const Result<Module> module = session.parse(text, "calls.hlo");
  if (!module.ok()) return module.error();
  const Result<Plan> plan = session.plan(*module);
  if (!plan.ok()) return plan.error();
  const Result<Executable> executable = session.compile(*plan);
  if (!executable.ok()) return executable.error();
  std::vector<float> y(results);
  const Argument argument{x.data()};
  void* const place = y.data();
  const Result<void> ran = executable->run({&argument, 1}, {&place, 1});
  if (!ran.ok()) return ran.error();
  return y;
}

std::string entry(const std::string& body) { return "HloModule calls\nENTRY main {\n" + body + "}\n"; }

TEST(HostCall, TakesAndGivesWholeArrays) {
  Heard heard;
  const Session session = Session::open(with_functions(heard)).value();
  const auto y = run(session, entry(R"(  x = f32[2,3] parameter(0)
  both = (f32[2,3], s32[]) custom-call(x), custom_call_target="lowtide.host.bump", backend_config="by \"one\""
  z = f32[2,3] get-tuple-element(both), index=0
  n = s32[] get-tuple-element(both), index=1
  m = f32[] convert(n)
  ms = f32[2,3] broadcast(m), dimensions={}
  ROOT r = f32[2,3] multiply(z, ms)
)"),
                     {1, 2, 3, 4, 5, 6}, 6);
  ASSERT_TRUE(y.ok()) << y.error().message;
  EXPECT_EQ(*y, (std::vector<float>{12, 18, 24, 30, 36, 42}));
  EXPECT_EQ(heard.all, std::vector<std::string>{"by \"one\" 1"});
}

TEST(HostCall, SaysWhatArraysAre) {
  Options options;
  std::vector<std::string> seen;
  options.host_functions["look"] = [&](const HostCall& call) -> Result<void> {
    const auto say = [&](const auto& array) {
      seen.push_back(std::string(array.type) + " " + std::to_string(array.dims.size()) + " " +
                     std::to_string(array.bytes));
    };
    seen.emplace_back(call.name);
    for (const HostOperand& operand : call.operands) say(operand);
    for (const HostResult& result : call.results) {
      say(result);
      std::memset(result.data, 0, static_cast<size_t>(result.bytes));
    }
    return {};
  };
  const Session session = Session::open(options).value();
  const auto y = run(session, entry(R"(  x = f32[4] parameter(0)
  b = bf16[4] convert(x)
  z = f32[4] constant({0, 0, 0, 0})
  p = pred[4] compare(x, z), direction=GT
  t = token[] after-all()
  pair = (bf16[4], pred[4]) tuple(b, p)
  r = (token[], c64[2,2], f32[4]) custom-call(t, pair, x), custom_call_target="lowtide.host.look"
  ROOT g = f32[4] get-tuple-element(r), index=2
)"),
                     {1, 2, 3, 4}, 4);
  ASSERT_TRUE(y.ok()) << y.error().message;
  const std::vector<std::string> expected = {"look", "bf16 1 8", "pred 1 4", "f32 1 16", "c64 2 32", "f32 1 16"};
  EXPECT_EQ(seen, expected);
}

/// Effects: in loops, branches, and where nobody reads what they give.
const std::string kEffects = R"(HloModule effects
body { c = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  v = f32[4] get-tuple-element(c), index=1
  one = s32[] constant(1)
  t = () custom-call(i), custom_call_target="lowtide.host.tell", custom_call_has_side_effect=true, backend_config="trip"
  same = () custom-call(one), custom_call_target="lowtide.host.tell", custom_call_has_side_effect=true, backend_config="same"
  again = () custom-call(one), custom_call_target="lowtide.host.tell", custom_call_has_side_effect=true, backend_config="same"
  unread = f32[4] custom-call(v), custom_call_target="lowtide.host.bump", custom_call_has_side_effect=true, backend_config="unread"
  n = s32[] add(i, one)
  w = f32[4] add(v, v)
  ROOT r = (s32[], f32[4]) tuple(n, w) }
test { c = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  most = s32[] constant(3)
  ROOT r = pred[] compare(i, most), direction=LT }
taken { x = f32[4] parameter(0)
  t = () custom-call(x), custom_call_target="lowtide.host.tell", custom_call_has_side_effect=true, backend_config="taken"
  ROOT r = f32[4] negate(x) }
other { x = f32[4] parameter(0)
  t = () custom-call(x), custom_call_target="lowtide.host.tell", custom_call_has_side_effect=true, backend_config="other"
  ROOT r = f32[4] copy(x) }
ENTRY main {
  x = f32[4] parameter(0)
  first = () custom-call(x), custom_call_target="lowtide.host.tell", custom_call_has_side_effect=true, backend_config="first"
  zero = s32[] constant(0)
  c = (s32[], f32[4]) tuple(zero, x)
  loop = (s32[], f32[4]) while(c), condition=test, body=body
  i = s32[] get-tuple-element(loop), index=0
  v = f32[4] get-tuple-element(loop), index=1
  three = s32[] constant(3)
  p = pred[] compare(i, three), direction=EQ
  d = f32[4] conditional(p, v, v), true_computation=taken, false_computation=other
  last = () custom-call(d), custom_call_target="lowtide.host.tell", custom_call_has_side_effect=true, backend_config="last"
  ROOT r = f32[4] add(d, x)
}
)";
const std::vector<std::string> kEffectsHeard = {"first 1", "trip 0", "same 1",   "same 1",   "unread 1",
                                                "trip 1",  "same 1", "same 1",   "unread 2", "trip 2",
                                                "same 1",  "same 1", "unread 4", "taken 8",  "last -8"};

TEST(HostCall, EffectsComeAsOftenAndInTheOrderThatTheProgramSays) {
  for (const bool check : {false, true}) {
    Heard heard;
    Options options = with_functions(heard);
    options.debugging.check = options.debugging.poison = check;
    const Session session = Session::open(options).value();
    const auto y = run(session, kEffects, {1, 2, 3, 4}, 4);
    ASSERT_TRUE(y.ok()) << y.error().message;
    EXPECT_EQ(*y, (std::vector<float>{-7, -14, -21, -28}));
    EXPECT_EQ(heard.all, kEffectsHeard);
  }
}

TEST(HostCall, TheInterpreterMakesTheSameCalls) {
  Heard heard;
  const Session session = Session::open(with_functions(heard)).value();
  auto calls = session.interpret(session.parse(kEffects, "effects.hlo").value(), {.seed = 1});
  ASSERT_TRUE(calls.ok()) << calls.error().message;
  ASSERT_TRUE(calls->run().ok());
  ASSERT_EQ(heard.all.size(), kEffectsHeard.size());
  const auto word = [](const std::string& line) { return line.substr(0, line.find(' ')); };
  for (size_t k = 0; k < heard.all.size(); ++k) EXPECT_EQ(word(heard.all[k]), word(kEffectsHeard[k]));
}

TEST(HostCall, PureCallsThatNobodyReadsMayGo) {
  Heard heard;
  const Session session = Session::open(with_functions(heard)).value();
  const std::string call = "custom-call(x), custom_call_target=\"lowtide.host.bump\"";
  const std::string body = "  x = f32[4] parameter(0)\n  a = f32[4] " + call + "\n  b = f32[4] " + call +
                           ", backend_config=\"unread\"\n  ROOT r = f32[4] add(a, x)\n";
  ASSERT_TRUE(run(session, entry(body), {1, 2, 3, 4}, 4).ok());
  EXPECT_EQ(heard.all, std::vector<std::string>{" 1"});
}

#if defined(__x86_64__) || defined(__aarch64__)
/// Programs flush denormals, as under XLA:CPU; the host's functions see C's numbers.
TEST(HostCall, KeepsDenormalsWhereProgramsFlushThem) {
  Options options;
  options.threads = 2;
  float least = 0;
  options.host_functions["halve"] = [&least](const HostCall& call) -> Result<void> {
    const volatile float small = std::numeric_limits<float>::min();
    least = small / 2;
    std::memcpy(call.results[0].data, call.operands[0].data, sizeof(float) * 4);
    return {};
  };
  const Session session = Session::open(options).value();
  const std::string halved =
      "  x = f32[4] parameter(0)\n  c = f32[4] custom-call(x), custom_call_target=\"lowtide.host.halve\"\n"
      "  h = f32[] constant(0.5)\n  hs = f32[4] broadcast(h), dimensions={}\n  ROOT r = f32[4] multiply(c, hs)\n";
  const float normal = std::numeric_limits<float>::min();
  const auto ran = run(session, entry(halved), {normal, -normal, 4 * normal, 3}, 4);
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_EQ(*ran, (std::vector<float>{0, -0.0f, 2 * normal, 1.5f}));
  EXPECT_GT(least, 0);
}
#endif

/// Custom calls that Lowtide doesn't know, and those that it does, in a session that has a function for any target.
TEST(HostCall, UnknownTargetsAreAskedFor) {
  Options options;
  options.threads = 2;
  std::vector<std::string> asked;
  options.foreign_calls = [&asked](std::string_view target) -> HostFunction {
    asked.emplace_back(target);
    if (target != "triple") return {};
    return [](const HostCall& call) -> Result<void> {
      if (call.name != "triple" || call.config != "{by = 3 : i32}") return Error{ErrorKind::kInput, "another call"};
      const auto* from = static_cast<const float*>(call.operands[0].data);
      for (int k = 0; k < 4; ++k) static_cast<float*>(call.results[0].data)[k] = 3 * from[k];
      return {};
    };
  };
  const Session session = Session::open(options).value();
  const auto body = [](const std::string& target, const std::string& layout = "") {
    return entry(
        "  x = f32[4] parameter(0)\n  s = f32[4] custom-call(x), custom_call_target=\"Sharding\"\n  r = f32[2,2]" +
        layout + " custom-call(s), custom_call_target=\"" + target +
        "\", backend_config={by = 3 : i32}\n  ROOT y = f32[4] reshape(r)\n");
  };
  const auto tripled = run(session, body("triple"), {1, 2, 3, 4}, 4);
  ASSERT_TRUE(tripled.ok()) << tripled.error().message;
  EXPECT_EQ(*tripled, (std::vector<float>{3, 6, 9, 12}));
  EXPECT_EQ(asked, std::vector<std::string>{"triple"});
  EXPECT_EQ(session.parse(body("triple"), "calls.hlo")->host_calls().at(0).name, "triple");
  EXPECT_EQ(run(session, body("quadruple"), {1, 2, 3, 4}, 4).error().kind, ErrorKind::kUnsupported);
  const auto across = run(session, body("triple", "{0,1}"), {1, 2, 3, 4}, 4);  // the function fills column after column
  ASSERT_TRUE(across.ok()) << across.error().message;
  EXPECT_EQ(*across, (std::vector<float>{3, 9, 6, 12}));
}

/// Numbers the elements that it finds, so that their places are seen, into results of the same extents.
Options with_numbering() {
  Options options;
  options.threads = 2;
  options.foreign_calls = [](std::string_view target) -> HostFunction {
    if (target != "number") return {};
    return [](const HostCall& call) -> Result<void> {
      if (!std::ranges::equal(call.operands[0].dims, call.results[0].dims))
        return Error{ErrorKind::kInput, "other extents"};
      const int64_t count = call.operands[0].bytes / static_cast<int64_t>(sizeof(float));
      for (const HostResult& result : call.results) {
        for (int64_t k = 0; k < count; ++k) {
          const float from = static_cast<const float*>(call.operands[0].data)[k];
          static_cast<float*>(result.data)[k] = from + 10 * static_cast<float>(k);
        }
      }
      return {};
    };
  };
  return options;
}

TEST(HostCall, ForeignArraysInOtherOrders) {
  const Session session = Session::open(with_numbering()).value();
  const auto numbered = [&](const std::string& in, const std::string& out, const std::string& more = "") {
    return run(session,
               entry("  x = f32[6] parameter(0)\n  a = f32[2,3] reshape(x)\n  r = f32[2,3]" + out +
                     " custom-call(a), custom_call_target=\"number\", operand_layout_constraints={f32[2,3]" + in + "}" +
                     more + "\n  ROOT y = f32[6] reshape(r)\n"),
               {1, 2, 3, 4, 5, 6}, 6);
  };
  using Floats = std::vector<float>;
  EXPECT_EQ(numbered("{1,0}", "{1,0}").value(), (Floats{1, 12, 23, 34, 45, 56}));
  EXPECT_EQ(numbered("{0,1}", "{0,1}").value(), (Floats{1, 22, 43, 14, 35, 56}));
  // Columns as they are found, row by row: 1 4 2 5 3 6.
  EXPECT_EQ(numbered("{0,1}", "{1,0}").value(), (Floats{1, 14, 22, 35, 43, 56}));
  EXPECT_EQ(numbered("{1,0}", "{0,1}").value(), (Floats{1, 23, 45, 12, 34, 56}));
  const std::string shared = ", output_to_operand_aliasing={{}: (0, {})}";
  EXPECT_EQ(numbered("{0,1}", "{0,1}", shared).value(), (Floats{1, 22, 43, 14, 35, 56}));
  for (const auto& refused : {numbered("{0,1}", "{1,0}", shared), numbered("{0,1:T(2,128)}", "{1,0}")}) {
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::kUnsupported) << refused.error().message;
  }
  const auto several = run(session,
                           entry("  x = f32[6] parameter(0)\n  a = f32[2,3] reshape(x)\n"
                                 "  r = (f32[2,3]{0,1}, f32[2,3]{1,0}) custom-call(a), custom_call_target=\"number\"\n"
                                 "  p = f32[2,3] get-tuple-element(r), index=0\n"
                                 "  q = f32[2,3] get-tuple-element(r), index=1\n"
                                 "  d = f32[2,3] subtract(p, q)\n  ROOT y = f32[6] reshape(d)\n"),
                           {1, 2, 3, 4, 5, 6}, 6);
  EXPECT_EQ(several.value(), (Floats{0, 11, 22, -22, -11, 0}));
}

TEST(HostCall, ResultsInAnOperandsMemoryBeginWithItsElements) {
  Options options;
  options.threads = 2;
  options.host_functions["touch"] = [](const HostCall& call) -> Result<void> {
    static_cast<float*>(call.results[1].data)[0] += 10;
    std::memset(call.results[0].data, 0, static_cast<size_t>(call.results[0].bytes));
    return {};
  };
  const Session session = Session::open(options).value();
  const auto y = run(session, entry(R"(  x = f32[4] parameter(0)
  n = f32[4] negate(x)
  pair = (f32[4], f32[4]) tuple(x, n)
  t = token[] after-all()
  r = (f32[2], f32[4]) custom-call(t, pair), custom_call_target="lowtide.host.touch", output_to_operand_aliasing={{1}: (1, {1})}
  e = f32[4] get-tuple-element(r), index=1
  ROOT s = f32[4] add(e, n)
)"),
                     {1, 2, 3, 4}, 4);
  ASSERT_TRUE(y.ok()) << y.error().message;
  EXPECT_EQ(*y, (std::vector<float>{8, -4, -6, -8}));
}

TEST(HostCall, FaultsOfTheFunctionAreTheRuns) {
  Heard heard;
  const Session session = Session::open(with_functions(heard)).value();
  const auto calling = [&](const std::string& name) {
    return run(session,
               entry("  x = f32[4] parameter(0)\n  ROOT r = f32[4] custom-call(x), custom_call_target=\"lowtide.host." +
                     name + "\"\n"),
               {1, 2, 3, 4}, 4);
  };
  const auto refused = calling("refuse"), thrown = calling("throw"), missing = calling("bumb");
  ASSERT_FALSE(refused.ok() || thrown.ok() || missing.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kLimit);
  EXPECT_EQ(refused.error().message, "not today");
  EXPECT_EQ(thrown.error().kind, ErrorKind::kInternal);
  EXPECT_NE(thrown.error().message.find("\"throw\" threw: thrown over"), std::string::npos) << thrown.error().message;
  EXPECT_EQ(missing.error().kind, ErrorKind::kInput);
  EXPECT_NE(missing.error().message.find("no function named \"bumb\"; did you mean bump"), std::string::npos)
      << missing.error().message;
  ASSERT_TRUE(missing.error().place);
  EXPECT_EQ(missing.error().place->line, 4);
  EXPECT_TRUE(calling("bump").ok());  // and all goes on
}

TEST(HostCall, IsPlannedWithoutTheFunctionAndNotRepeatedToBeCompared) {
  const Session session = Session::open({}).value();
  const Module module = session.parse(kEffects, "effects.hlo").value();
  const Result<Plan> plan = session.plan(module);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_TRUE(session.explain(module).ok());
  EXPECT_GT(plan->modelled_seconds(), 1e-4);  // what a host takes, nobody repeats for nothing
  EXPECT_EQ(session.compile(*plan).error().kind, ErrorKind::kInput);
  EXPECT_EQ(session.interpret(module).error().kind, ErrorKind::kInput);
  const Result<CheckedFit> checked = session.check(*plan);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().kind, ErrorKind::kUnsupported);
  EXPECT_TRUE(session.check(module).ok());
  const std::vector<HostCallSite> calls = module.host_calls();
  ASSERT_EQ(calls.size(), 7u);  // the two equal ones are one
  EXPECT_TRUE(calls[0].has_effect);
}

TEST(HostCall, MayRunProgramsItselfAndFromSeveralThreads) {
  Options options;
  options.threads = 2;
  std::optional<Executable> executable;
  std::atomic<int> deepest = 0;
  /// x -> x + f(x - 1), down to 0: the program that calls it runs within itself.
  options.host_functions["recurse"] = [&](const HostCall& call) -> Result<void> {
    float x = *static_cast<const float*>(call.operands[0].data) - 1;
    deepest = std::max(deepest.load(), static_cast<int>(x) + 1);
    if (x < 0) {
      *static_cast<float*>(call.results[0].data) = 0;
      return {};
    }
    const Argument argument{&x};
    void* const place = call.results[0].data;
    return executable->run({&argument, 1}, {&place, 1});
  };
  const Session session = Session::open(options).value();
  const Module module = session
                            .parse(entry(R"(  x = f32[] parameter(0)
  below = f32[] custom-call(x), custom_call_target="lowtide.host.recurse"
  ROOT r = f32[] add(x, below)
)"),
                                   "recursive.hlo")
                            .value();
  executable = session.compile(session.plan(module).value()).value();
  std::vector<std::thread> threads;
  std::array<float, 4> sums = {};
  for (size_t t = 0; t < sums.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int again = 0; again < 20; ++again) {
        float x = static_cast<float>(t) + 5;
        const Argument argument{&x};
        void* const place = &sums[t];
        ASSERT_TRUE(executable->run({&argument, 1}, {&place, 1}).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sums, (std::array<float, 4>{15, 21, 28, 36}));
  EXPECT_EQ(deepest, 8);
}

TEST(HostCall, TokensOfTheEntryMayBeArrays) {
  Heard heard;
  const Session session = Session::open(with_functions(heard)).value();
  const Module module = session
                            .parse(entry(R"(  t = token[] parameter(0)
  x = f32[4] parameter(1)
  u = token[] custom-call(t, x), custom_call_target="lowtide.host.tell", custom_call_has_side_effect=true, backend_config="a"
  y = f32[4] add(x, x)
  w = token[] custom-call(u, y), custom_call_target="lowtide.host.tell", custom_call_has_side_effect=true, backend_config="b"
  ROOT r = (token[], f32[4], token[]) tuple(w, y, t)
)"),
                                   "tokens.hlo")
                            .value();
  EXPECT_EQ(module.arguments().size(), 1u);
  EXPECT_EQ(module.results().size(), 1u);
  const Module arrays = module.with_tokens_as_arrays().value();
  ASSERT_EQ(arrays.arguments().size(), 2u);
  ASSERT_EQ(arrays.results().size(), 3u);
  EXPECT_EQ(arrays.arguments()[0].type, "pred");
  EXPECT_EQ(arrays.results()[2].bytes, 0);
  const Executable executable = session.compile(session.plan(arrays).value()).value();
  std::array<float, 4> x = {1, 2, 3, 4}, y = {};
  const std::array<Argument, 2> arguments = {Argument{}, Argument{x.data()}};
  const std::array<void*, 3> places = {nullptr, y.data(), nullptr};
  const Result<void> ran = executable.run(arguments, places);
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_EQ(y, (std::array<float, 4>{2, 4, 6, 8}));
  EXPECT_EQ(heard.all, (std::vector<std::string>{"a 1", "b 2"}));
}

TEST(HostCall, RefusesArraysThatDontLieRowByRow) {
  const Session session = Session::open({}).value();
  const auto parsed = [&](const std::string& result, const std::string& rest) {
    return session.parse(entry("  x = f32[2,3] parameter(0)\n  ROOT r = f32[2,3]" + result +
                               " custom-call(x), custom_call_target=\"lowtide.host.f\"" + rest + "\n"),
                         "layouts.hlo");
  };
  EXPECT_TRUE(parsed("{1,0}", ", operand_layout_constraints={f32[2,3]{1,0}}").ok());
  const auto operand = parsed("", ", operand_layout_constraints={f32[2,3]{0,1}}"), result = parsed("{0,1}", "");
  ASSERT_FALSE(operand.ok() || result.ok());
  EXPECT_NE(operand.error().message.find("operand 0 doesn't lie row by row (C6)"), std::string::npos);
  EXPECT_NE(result.error().message.find("result 0 doesn't lie row by row (C6)"), std::string::npos);
}

}  // namespace
}  // namespace lowtide
