// The public face, by its headers alone.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "lowtide/session.h"

namespace lowtide {
namespace {

/// y = x * 2 over a donated x, and the sum of y.
constexpr const char* kDoubled = R"(HloModule doubled, input_output_alias={ {0}: (0, {}, may-alias) }
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[256,64] parameter(0)
  two = f32[] constant(2)
  twos = f32[256,64] broadcast(two), dimensions={}
  y = f32[256,64] multiply(x, twos)
  zero = f32[] constant(0)
  s = f32[] reduce(y, zero), dimensions={0,1}, to_apply=add
  ROOT r = (f32[256,64], f32[]) tuple(y, s)
}
)";

/// Softmax of rows times a matrix: something to stream.
std::string attention(int64_t rows) {
  const std::string n = std::to_string(rows), square = "f32[" + n + "," + n + "]", thin = "f32[" + n + ",16]";
  const std::string line = "f32[" + n + "]";
  return "HloModule attention\nadd { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
         "max { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] maximum(a, b) }\nENTRY main {\n"
         " q = " +
         thin + " parameter(0)\n k = " + thin + " parameter(1)\n v = " + thin +
         " parameter(2)\n"
         " s = " +
         square +
         " dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
         " low = f32[] constant(-inf)\n m = " +
         line +
         " reduce(s, low), dimensions={1}, to_apply=max\n"
         " mb = " +
         square + " broadcast(m), dimensions={0}\n d = " + square +
         " subtract(s, mb)\n"
         " e = " +
         square +
         " exponential(d)\n zero = f32[] constant(0)\n"
         " t = " +
         line +
         " reduce(e, zero), dimensions={1}, to_apply=add\n"
         " tb = " +
         square + " broadcast(t), dimensions={0}\n p = " + square +
         " divide(e, tb)\n"
         " ROOT o = " +
         thin + " dot(p, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";
}

Session open(Options options = {}) {
  auto session = Session::open(std::move(options));
  EXPECT_TRUE(session.ok()) << session.error().message;
  return std::move(session).value();
}

template <class T>
T taken(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.error().message;
  return std::move(result).value();
}

TEST(Session, ReadsExplainsPlansAndRuns) {
  const Session session = open();
  const Module module = taken(session.parse(kDoubled, "doubled.hlo"));
  EXPECT_EQ(module.name(), "doubled");
  ASSERT_EQ(module.arguments().size(), 1u);
  EXPECT_EQ(module.arguments()[0].type, "f32");
  EXPECT_EQ(module.arguments()[0].bytes, 256 * 64 * 4);
  EXPECT_TRUE(module.arguments()[0].can_be_donated);
  ASSERT_EQ(module.results().size(), 2u);

  const Explanation explanation = taken(session.explain(module));
  EXPECT_EQ(explanation.ours.arguments, 256 * 64 * 4);
  EXPECT_NE(explanation.json().find("\"peak_bytes\""), std::string::npos);
  EXPECT_NE(explanation.text().find("doubled"), std::string::npos);

  const Plan plan = taken(session.plan(module));
  EXPECT_EQ(plan.peak_bytes(), explanation.ours.peak);
  EXPECT_GE(plan.peak_bytes(), taken(plan.floor_of_any()).bytes);
  EXPECT_TRUE(plan.can_run().ok());
  for (const Buffer& buffer : plan.buffers()) EXPECT_LE(buffer.offset + buffer.bytes, plan.sizes().temp);

  const Executable executable = taken(session.compile(plan));
  std::vector<float> x(256 * 64, 1.5f), y(256 * 64, -1);
  float sum = 0;
  const Result<void> ran = executable.run(std::vector<Argument>{{x.data()}}, std::vector<void*>{y.data(), &sum});
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_EQ(x[7], 1.5f) << "it wasn't donated";
  EXPECT_EQ(y[7], 3.f);
  EXPECT_EQ(sum, 3.f * 256 * 64);
}

TEST(Session, DonationIsChosenPerCall) {
  const Session session = open();
  const Executable executable = taken(session.compile(taken(session.plan(taken(session.parse(kDoubled))))));
  std::vector<float> x(256 * 64, 1.f), y(256 * 64, -1);
  float sum = 0;
  ASSERT_TRUE(executable.run(std::vector<Argument>{{x.data(), true}}, std::vector<void*>{nullptr, &sum}).ok());
  EXPECT_EQ(x[0], 2.f) << "the result lives in the argument";
  ASSERT_TRUE(executable.run(std::vector<Argument>{{x.data(), true}}, std::vector<void*>{x.data(), &sum}).ok());
  EXPECT_EQ(x[0], 4.f);
  ASSERT_TRUE(executable.run(std::vector<Argument>{{x.data(), true}}, std::vector<void*>{y.data(), &sum}).ok());
  EXPECT_EQ(y[0], 8.f) << "or is brought elsewhere";
  x.assign(x.size(), 1.f);
  ASSERT_TRUE(executable.run(std::vector<Argument>{{x.data()}}, std::vector<void*>{y.data(), &sum}).ok());
  EXPECT_EQ(x[0], 1.f);
  EXPECT_EQ(y[0], 2.f);
}

TEST(Session, RefusesMemoryThatCantBe) {
  const Session session = open();
  const Executable executable = taken(session.compile(taken(session.plan(taken(session.parse(kDoubled))))));
  std::vector<float> x(256 * 64 + 1, 1.f), y(256 * 64, -1);
  float sum = 0;
  const auto fault = [&](std::vector<Argument> arguments, std::vector<void*> results, Arena arena = {}) {
    const Result<void> ran = executable.run(arguments, results, arena);
    EXPECT_FALSE(ran.ok());
    if (!ran.ok()) {
      EXPECT_EQ(ran.error().kind, ErrorKind::kUsage) << ran.error().message;
    }
    return ran.ok() ? "" : ran.error().message;
  };
  EXPECT_EQ(fault({}, {y.data(), &sum}), "found 0 arguments, expected 1");
  EXPECT_EQ(fault({{x.data()}}, {y.data()}), "found memory for 1 results, expected 2");
  EXPECT_EQ(fault({{nullptr}}, {y.data(), &sum}), "argument 0 has no memory, expected 65536 bytes");
  EXPECT_EQ(fault({{x.data()}}, {nullptr, &sum}), "result 0 has no memory, expected 65536 bytes");
  EXPECT_EQ(fault({{reinterpret_cast<std::byte*>(x.data()) + 1}}, {y.data(), &sum}),
            "argument 0 isn't aligned to 4 bytes");
  EXPECT_EQ(fault({{x.data()}}, {x.data(), &sum}), "result 0 lies in the memory of argument 0, in which it can't live");
  EXPECT_EQ(fault({{x.data(), true}}, {x.data() + 1, &sum}),
            "result 0 lies in the memory of argument 0, in which it can't live");
  EXPECT_EQ(fault({{x.data()}}, {y.data(), y.data() + 5}), "result 1 lies in the memory of another");
}

TEST(Session, RunsInAnArenaOfTheCallers) {
  const Session session = open();
  const Executable executable = taken(session.compile(taken(session.plan(taken(session.parse(attention(96)))))));
  ASSERT_GT(executable.arena_bytes(), 0);
  std::vector<float> q(96 * 16, 0.25f), o(96 * 16), again(96 * 16);
  const std::vector<Argument> arguments = {{q.data()}, {q.data()}, {q.data()}};
  ASSERT_TRUE(executable.run(arguments, std::vector<void*>{o.data()}).ok());
  const size_t bytes = static_cast<size_t>(executable.arena_bytes());
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64));
  ASSERT_TRUE(executable.run(arguments, std::vector<void*>{again.data()}, {memory, executable.arena_bytes()}).ok());
  EXPECT_EQ(o, again);
  EXPECT_FALSE(
      executable.run(arguments, std::vector<void*>{again.data()}, {memory, executable.arena_bytes() - 1}).ok());
  std::free(memory);
}

TEST(Session, MeetsALimitOrSaysWhatItFound) {
  const Session session = open();
  const Module module = taken(session.parse(attention(512)));
  const Plan free = taken(session.plan(module));
  const Fit fit = taken(session.fit(module));
  EXPECT_LE(fit.plan.peak_bytes(), free.peak_bytes());
  EXPECT_EQ(fit.report.ours.peak, fit.plan.peak_bytes());
  EXPECT_TRUE(fit.report.met);

  const int64_t tight = fit.plan.peak_bytes();
  EXPECT_LE(taken(open({.limit = tight}).plan(taken(open().parse(attention(512))))).peak_bytes(), tight);
  const Session hopeless = open({.limit = 1000});
  const Result<Plan> none = hopeless.plan(taken(hopeless.parse(attention(512))));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::kLimit);
  const Fit best = taken(hopeless.fit(taken(hopeless.parse(attention(512))), 1000));
  EXPECT_FALSE(best.report.met);
  EXPECT_EQ(best.plan.peak_bytes(), tight);
}

TEST(Session, PlansAreTextsThatMakeThemAgain) {
  const Session session = open();
  const Module module = taken(session.parse(attention(256)));
  const Plan plan = taken(session.fit(module)).plan;
  const Plan again = taken(session.replay(module, plan.text()));
  EXPECT_EQ(again.peak_bytes(), plan.peak_bytes());
  EXPECT_EQ(again.text(), plan.text());
  const Result<Plan> other = session.replay(taken(session.parse(kDoubled)), plan.text());
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().kind, ErrorKind::kInput);
  EXPECT_NE(taken(plan.module()).hlo().find("while"), std::string::npos) << "it streams";
}

/// Several threads, two sessions of different options, one executable each: everybody gets what is theirs.
TEST(Session, ManyRunAtOnce) {
  const Session one = open({.threads = 2}), other = open({.threads = 1, .exact = true, .without = {"stream-slices"}});
  std::atomic<int> wrong{0};
  const auto work = [&](const Session& session, float scale) {
    const auto module = session.parse(attention(64));
    const auto plan = module.ok() ? session.plan(*module) : module.error();
    const auto executable = plan.ok() ? session.compile(*plan) : plan.error();
    if (!executable.ok()) {
      ++wrong;
      return;
    }
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        const float value = scale * static_cast<float>(t + 1);
        std::vector<float> q(64 * 16, 0.5f), v(64 * 16, value), o(64 * 16);
        for (int i = 0; i < 20; ++i) {
          const auto ran =
              executable->run(std::vector<Argument>{{q.data()}, {q.data()}, {v.data()}}, std::vector<void*>{o.data()});
          if (!ran.ok() || std::abs(o[9] - value) > 1e-5f * value) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  };
  std::thread first([&] { work(one, 1); }), second([&] { work(other, 100); });
  first.join();
  second.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Session, StartsRunsAndWaits) {
  const Session session = open();
  const Executable executable = taken(session.compile(taken(session.plan(taken(session.parse(kDoubled))))));
  std::vector<float> x(256 * 64, 1.f), y(256 * 64);
  float sum = 0;
  const Event event = executable.start({{x.data()}}, {y.data(), &sum});
  ASSERT_TRUE(event.wait().ok());
  EXPECT_TRUE(event.is_done());
  EXPECT_EQ(y[3], 2.f);
  const Event wrong = executable.start({}, {});
  EXPECT_EQ(wrong.wait().error().kind, ErrorKind::kUsage);
}

TEST(Session, KeepsKernelsAndPlansWhereItIsTold) {
  const auto folder = std::filesystem::temp_directory_path() / ("lowtide_session_" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  const auto files = [&] {
    int64_t count = 0;
    if (std::filesystem::exists(folder))
      for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
    return count;
  };
  const auto make = [&](const Options& options) {
    const Session session = open(options);
    (void)taken(session.compile(taken(session.plan(taken(session.parse(attention(48)))))));
  };
  make({});
  EXPECT_EQ(files(), 0) << "nothing is kept unless asked for";
  make({.cache_directory = folder});
  const int64_t kept = files();
  EXPECT_GT(kept, 1);
  make({.cache_directory = folder});
  EXPECT_EQ(files(), kept) << "found again";
  make({.cache_directory = folder, .without = {"tables"}});
  EXPECT_GT(files(), kept) << "of other options others are kept";
  std::filesystem::remove_all(folder);
}

TEST(Session, OptionsThatMakeNoSenseAreRefused) {
  const auto fault = [](Options options) {
    const auto session = Session::open(std::move(options));
    EXPECT_FALSE(session.ok());
    return session.ok() ? "" : session.error().message;
  };
  EXPECT_EQ(fault({.threads = -1}), "Options::threads: expected a number from 0 on");
  EXPECT_EQ(fault({.limit = -5}), "Options::limit: expected bytes from 0 on");
  EXPECT_EQ(fault({.progress_interval = 0}), "Options::progress_interval: expected more than 0 seconds");
  EXPECT_EQ(fault({.without = {"no-such-pass"}}), "Options::without: there is no pass `no-such-pass`");
  EXPECT_EQ(fault({.instruction_set = "neon"}), "the instruction set is `neon`: expected avx2 or avx512");
}

TEST(Session, BadInputIsAnErrorWithItsPlace) {
  const Session session = open();
  const auto parsed = session.parse("HloModule m\nENTRY main {\n  ROOT a = f32[8] paramter(0)\n}\n", "typo.hlo");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().kind, ErrorKind::kInput);
  EXPECT_NE(parsed.error().message.find("typo.hlo:3:"), std::string::npos) << parsed.error().message;
  EXPECT_EQ(session.read("/nowhere/at/all.hlo").error().kind, ErrorKind::kInput);
  EXPECT_THROW((void)parsed.value(), std::logic_error);
}

TEST(Session, CancelEndsASearch) {
  Options options;
  std::atomic<int> told{0};
  options.progress = [&](const Progress& progress) { told += *progress.stage != 0; };
  const Session session = open(options);
  const Module module = taken(session.parse(attention(4096)));
  std::atomic<bool> done{false};
  std::thread canceller([&] {
    while (!done) {
      session.cancel();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const auto fit = session.fit(module);
  done = true;
  canceller.join();
  if (fit.ok()) {
    EXPECT_TRUE(fit->report.interrupted);
  } else {
    EXPECT_EQ(fit.error().kind, ErrorKind::kInterrupted);
  }
  EXPECT_TRUE(session.plan(module).ok()) << "the next call isn't cancelled";
}

TEST(ModuleBuilder, BuildsWhatTextsSay) {
  ModuleBuilder builder("doubled");
  auto& add = builder.function("add");
  const auto a = add.parameter("f32", {}), b = add.parameter("f32", {});
  add.result({add.add("add", {a, b})});
  auto& main = builder.entry();
  const auto x = main.parameter("f32", {256, 64});
  const float two = 2, zero = 0;
  const auto twos = main.add("broadcast", {main.constant("f32", {}, &two)}, {{"dimensions", "{}"}}, {"f32", {256, 64}});
  const auto y = main.add("multiply", {x, twos});
  const auto s =
      main.add("reduce", {y, main.constant("f32", {}, &zero)}, {{"dimensions", "{0,1}"}, {"to_apply", "add"}});
  main.result({y, s});
  builder.donate(0, 0);
  const Session session = open();
  const Module built = taken(session.build(builder));
  EXPECT_EQ(built.arguments()[0].bytes, 256 * 64 * 4);
  EXPECT_TRUE(built.arguments()[0].can_be_donated);
  const Module read = taken(session.parse(built.hlo(), "printed.hlo"));
  EXPECT_EQ(read.hlo(), built.hlo());
  EXPECT_EQ(taken(session.plan(built)).peak_bytes(), taken(session.plan(taken(session.parse(kDoubled)))).peak_bytes());
}

TEST(ModuleBuilder, SaysWhereAFaultIs) {
  const Session session = open();
  const auto fault = [&](auto&& build) {
    ModuleBuilder builder("faulty");
    build(builder.entry());
    const auto module = session.build(builder);
    EXPECT_FALSE(module.ok());
    return module.ok() ? "" : module.error().message;
  };
  using Function = ModuleBuilder::Function;
  EXPECT_EQ(fault([](Function&) {}), "function `main` has no result");
  EXPECT_EQ(fault([](Function& f) { f.result({f.add("ad", {f.parameter("f32", {})})}); }),
            "function `main`, operation 1 (ad): there is no such operation");
  EXPECT_EQ(fault([](Function& f) { f.result({f.parameter("f33", {})}); }),
            "function `main`, operation 0 (parameter): there is no element type `f33`");
  EXPECT_EQ(fault([](Function& f) { f.result({f.add("negate", {ModuleBuilder::Value{7}})}); }),
            "function `main`, operation 0 (negate): an operand is no value of this function");
  EXPECT_NE(fault([](Function& f) {
              f.result({f.add("add", {f.parameter("f32", {2}), f.parameter("f32", {3})})});
            }).find("operation 2 (add)"),
            std::string::npos);
  EXPECT_EQ(fault([](Function& f) { f.result({f.add("negate", {f.parameter("f32", {})}, {{"colour", "red"}})}); }),
            "function `main`, operation 1 (negate): it has no attribute `colour`");
}

TEST(Session, NamesMeanArraysByNumberOrPath) {
  const std::vector<ProgramArray> arrays = {{.path = "params['dense']['w']"}, {.path = "params['b']"}, {.path = "x"}};
  const auto places = [&](const std::vector<std::string>& names) { return match_names(names, arrays); };
  EXPECT_EQ(places({"x", "params/b", "dense/w"}).value(), (std::vector<size_t>{2, 1, 0}));
  EXPECT_EQ(places({"arg2", "arg0", "arg1", "more"}).value(), (std::vector<size_t>{1, 2, 0}));
  EXPECT_EQ(places({"x", "b", "w", "b2"}).error().kind, ErrorKind::kInput);
  EXPECT_NE(places({"x", "w"}).error().message.find("the arguments: no tensor arg1 (params['b'])"), std::string::npos);
}

}  // namespace
}  // namespace lowtide
