// What the command is made of, by the headers of the public face alone.
#include <gtest/gtest.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "lowtide/files.h"
#include "lowtide/passes.h"
#include "lowtide/peak_comparison.h"
#include "lowtide/session.h"
#include "lowtide/words.h"

namespace lowtide {
namespace {

namespace fs = std::filesystem;

/// y = 2 x over a donated x, with the sum of y and an argument that is passed on.
constexpr const char* kDoubled = R"(HloModule doubled, input_output_alias={ {0}: (0, {}, may-alias) }
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[256,64] parameter(0), metadata={op_name="x"}
  n = s32[5] parameter(1), metadata={op_name="state[\'n\']"}
  two = f32[] constant(2)
  twos = f32[256,64] broadcast(two), dimensions={}
  y = f32[256,64] multiply(x, twos)
  zero = f32[] constant(0)
  s = f32[] reduce(y, zero), dimensions={0,1}, to_apply=add
  ROOT r = (f32[256,64], f32[], s32[5]) tuple(y, s, n)
}
)";

/// Many rows of pairwise weights: hundreds of plans to try.
std::string weights(int64_t blocks) {
  std::string text =
      "HloModule weights\nadd { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
      " ROOT s = f32[] add(a, b) }\nENTRY main {\n z = f32[] constant(0)\n";
  std::string results, shapes;
  for (int64_t k = 0; k < blocks; ++k) {
    const std::string i = std::to_string(k), n = std::to_string(512 + 8 * k);
    const std::string thin = "f32[" + n + ",16]", wide = "f32[" + n + "," + n + "]";
    text += " q" + i + " = " + thin + " parameter(" + i + ")\n s" + i + " = " + wide + " dot(q" + i + ", q" + i +
            "), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n e" + i + " = " + wide + " exponential(s" + i +
            ")\n o" + i + " = " + thin + " dot(e" + i + ", q" + i +
            "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";
    results += (k ? ", o" : "o") + i;
    shapes += (k ? ", " : "") + thin;
  }
  return text + " ROOT r = (" + shapes + ") tuple(" + results + ")\n}\n";
}

template <class T>
T taken(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.error().message;
  return std::move(result).value();
}

class Face : public testing::Test {
 protected:
  Face() : folder_(fs::temp_directory_path() / ("lowtide_face_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~Face() override { fs::remove_all(folder_); }
  std::string at(const std::string& name) const { return folder_ / name; }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(at(name)) << text;
    return at(name);
  }
  const Session session_ = taken(Session::open());

 private:
  fs::path folder_;
};

TEST_F(Face, WordsAreReadAndWritten) {
  EXPECT_EQ(taken(parse_size("8GB")), 8'000'000'000);
  EXPECT_EQ(parse_size("8 apples").error().kind, ErrorKind::kUsage);
  EXPECT_EQ(format_bytes(640 << 20), "640 MiB");
  EXPECT_EQ(format_count(4'294'967'296), "4,294,967,296");
  EXPECT_EQ(did_you_mean("explian", {"explain", "fit"}), "; did you mean explain?");
  EXPECT_EQ(did_you_mean("zzz", {"explain", "fit"}), "");
}

TEST_F(Face, ProgressIsASentence) {
  const Progress progress{.stage = "searching for plans", .done = 5, .total = 20, .seconds = 4, .best_peak = 64 << 20};
  EXPECT_EQ(progress.share(), 0.25);
  EXPECT_EQ(progress.text(), "searching for plans: 25 %, 5 of 20, about 12 s left, lowest peak 64.0 MiB");
  EXPECT_EQ(Progress{.stage = "reading"}.share(), 0);
}

/// Runs and files tell their progress as searches do.
TEST_F(Face, RunsTellTheirProgress) {
  std::mutex mutex;
  std::set<std::string> stages;
  Options options{.progress_interval = 0.001};
  options.progress = [&](const Progress& progress) {
    const std::lock_guard lock(mutex);
    stages.insert(progress.stage);
  };
  const Session session = taken(Session::open(options));
  const Executable executable = taken(session.compile(taken(session.plan(taken(session.parse(kDoubled))))));
  lowtide::Run program = taken(executable.bind());
  EXPECT_EQ(taken(program.run(2000)).size(), 2000u);
  EXPECT_TRUE(stages.contains("running"));
}

TEST_F(Face, FilesOfAnInputAreKnownByOtherNames) {
  const std::string program = write("m.hlo", kDoubled);
  fs::create_hard_link(program, at("hard.hlo"));
  fs::create_symlink(program, at("link.hlo"));
  for (const char* name : {"m.hlo", "hard.hlo", "link.hlo"}) EXPECT_TRUE(is_read_of(program, at(name))) << name;
  EXPECT_TRUE(is_read_of(program + "#main", at("link.hlo")));
  EXPECT_FALSE(is_read_of(program, write("other.hlo", kDoubled)));
  EXPECT_FALSE(is_read_of(program, at("nothing")));
  EXPECT_EQ(taken(read_file(program)), kDoubled);
  EXPECT_EQ(read_file(at("nothing")).error().kind, ErrorKind::kInput);
}

TEST_F(Face, ErrorsHavePlacesAndPeaks) {
  const auto parsed = session_.parse("HloModule m\nENTRY main {\n  ROOT a = f32[8] paramter(0)\n}\n", "typo.hlo");
  ASSERT_TRUE(parsed.error().place.has_value());
  EXPECT_EQ(parsed.error().place->file, "typo.hlo");
  EXPECT_EQ(parsed.error().place->line, 3);
  const Session hopeless = taken(Session::open({.limit = 1000}));
  const auto none = hopeless.plan(taken(hopeless.parse(weights(1))));
  ASSERT_EQ(none.error().kind, ErrorKind::kLimit);
  EXPECT_EQ(none.error().lowest_peak, taken(session_.fit(taken(session_.parse(weights(1))))).report.ours.peak);
}

TEST_F(Face, PassesAreListedAndRun) {
  const std::vector<Pipeline> all = pipelines();
  ASSERT_EQ(all.size(), 3u);
  for (const Pipeline& pipeline : all) {
    EXPECT_TRUE(pipeline.text().starts_with(pipeline.purpose + "\n"));
    for (const PassInfo& pass : pipeline.passes) EXPECT_TRUE(check_passes({pass.name}).ok()) << pass.name;
  }
  const auto unknown = check_passes({"remove-dead-code", "remove-dead-cod"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message, "there is no pass `remove-dead-cod`; did you mean remove-dead-code?");
  const Module module =
      taken(session_.parse("HloModule m\nENTRY main {\n x = f32[8] parameter(0)\n"
                           " y = f32[8] sine(x)\n ROOT z = f32[8] cosine(x)\n}\n"));
  EXPECT_EQ(taken(session_.rewrite(module, {{}})).hlo(), module.hlo()) << "no pass changes nothing";
  EXPECT_EQ(taken(session_.rewrite(module, {{"remove-dead-code"}})).instructions(), 2);
  EXPECT_EQ(taken(session_.rewrite(module)).instructions(), 2);
  EXPECT_EQ(module.instructions(), 3) << "what was given stays";
  EXPECT_EQ(session_.rewrite(module, {{"no-such"}}).error().kind, ErrorKind::kUsage);
}

TEST_F(Face, BuffersArePacked) {
  const Packing packing = taken(session_.pack("id,lower,upper,size\na,0,2,64\nb,1,3,64\nc,2,4,64\n"));
  EXPECT_EQ(packing.peak, 128);
  EXPECT_EQ(packing.load, 128);
  ASSERT_EQ(packing.offsets.size(), 3u);
  EXPECT_EQ(packing.offsets[0], packing.offsets[2]);
  EXPECT_TRUE(packing.table.starts_with("id,lower,upper,size,offset\na,0,2,64,")) << packing.table;
  const auto wrong = session_.pack("id,lower,upper,size\na,0,two,64\n", 0, "b.csv");
  EXPECT_EQ(wrong.error().kind, ErrorKind::kInput);
  EXPECT_NE(wrong.error().message.find("b.csv:2"), std::string::npos) << wrong.error().message;
  EXPECT_EQ(session_.pack("id,lower,upper,size\n", -1).error().kind, ErrorKind::kUsage);
}

TEST_F(Face, PeaksAreCompared) {
  const Explanation small = taken(session_.explain(taken(session_.parse(weights(1)))));
  const Explanation large = taken(session_.explain(taken(session_.parse(weights(3)))));
  const PeakComparison grown = compare_peaks(small, large);
  EXPECT_GT(grown.growth_percent(), 0);
  EXPECT_FALSE(grown.differences.empty());
  EXPECT_NE(grown.json().find("\"schema_version\""), std::string::npos);
  EXPECT_NE(grown.text().find("peak"), std::string::npos);
  EXPECT_TRUE(compare_peaks(small, small).differences.empty());
}

TEST_F(Face, ThePlanIsToldBeforeTheReport) {
  const Module module = taken(session_.parse(weights(1)));
  std::string told;
  const Fit fit = taken(session_.fit(module, {}, [&](const std::string& plan) {
    told = plan;
    return Result<void>();
  }));
  EXPECT_EQ(taken(session_.replay(module, told)).peak_bytes(), fit.plan.peak_bytes());
  const auto refused = session_.fit(
      module, {}, [](const std::string&) { return Result<void>(Error{ErrorKind::kUsage, "the disk is full"}); });
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(refused.error().message, "the disk is full");
}

TEST_F(Face, PlansAreChecked) {
  const Fit fit = taken(session_.fit(taken(session_.parse(weights(1)))));
  const CheckedFit checked = taken(session_.check(fit.plan));
  EXPECT_EQ(checked.how, CheckedFit::How::kWhole);
  EXPECT_FALSE(checked.rows.empty());
  const auto spoiled = session_.check(fit.plan, {.control = 1});
  ASSERT_FALSE(spoiled.ok());
  EXPECT_EQ(spoiled.error().kind, ErrorKind::kWrongValues);
}

TEST_F(Face, FilesOfTensorsAreWrittenWholeAndReadAgain) {
  const std::vector<ProgramArray> arrays = {{.path = "w['a']", .type = "f32", .dims = {2, 3}, .bytes = 24},
                                            {.path = "", .type = "s8", .dims = {5}, .bytes = 5}};
  const std::vector<float> floats = {1, 2, 3, 4, 5, 6};
  {
    TensorWriter writer = taken(session_.create_tensors(at("t"), arrays, "arg"));
    std::memcpy(writer.data(0), floats.data(), 24);
    std::memcpy(writer.data(1), "abcde", 5);
    EXPECT_FALSE(fs::exists(at("t"))) << "not before it is whole";
    ASSERT_TRUE(writer.commit().ok());
  }
  const TensorFile file = taken(session_.open_tensors(at("t")));
  EXPECT_EQ(file.path(), at("t"));
  EXPECT_EQ(file.names(), (std::vector<std::string>{"arg0", "arg1"}));
  EXPECT_EQ(file.metadata().at("arg0"), "w['a']");
  const ProgramArray array = taken(file.array("arg0"));
  EXPECT_EQ(array.type, "f32");
  EXPECT_EQ(array.dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(array.bytes, 24);
  std::vector<float> read(6);
  ASSERT_TRUE(file.read("arg0", read.data()).ok());
  EXPECT_EQ(read, floats);
  EXPECT_EQ(file.array("arg2").error().kind, ErrorKind::kInput);
  EXPECT_EQ(file.read("arg2", read.data()).error().kind, ErrorKind::kInput);
  EXPECT_TRUE(file.check_unchanged().ok());
  fs::resize_file(at("t"), 100);
  EXPECT_EQ(file.check_unchanged().error().kind, ErrorKind::kInput);
  EXPECT_EQ(session_.create_tensors(at("no/such"), arrays).error().kind, ErrorKind::kInput);
  EXPECT_EQ(session_.create_tensors(at("t"), {{{.type = "f33"}}}).error().kind, ErrorKind::kUnsupported);
}

/// What a signal handler asks of the session, and of none other.
TEST_F(Face, HandlersRemoveWhatIsUnfinished) {
  const Session other = taken(Session::open());
  const std::vector<ProgramArray> arrays = {{.path = "", .type = "f32", .dims = {1000}, .bytes = 4000}};
  const TensorWriter writer = taken(session_.create_tensors(at("t"), arrays));
  EXPECT_EQ(files(), 1u) << "under another name";
  EXPECT_STREQ(session_.file_mapped_at(writer.data(0)), at("t").c_str());
  EXPECT_EQ(other.file_mapped_at(writer.data(0)), nullptr);
  EXPECT_EQ(session_.file_mapped_at(this), nullptr);
  other.remove_unfinished_files();
  EXPECT_EQ(files(), 1u);
  session_.remove_unfinished_files();
  EXPECT_EQ(files(), 0u);
  ASSERT_TRUE(session_.write_file(at("text"), "whole").ok());
  session_.remove_unfinished_files();
  EXPECT_EQ(taken(read_file(at("text"))), "whole");
  EXPECT_EQ(session_.write_file(at("no/such"), "text").error().kind, ErrorKind::kUsage);
}

const Session* interrupted_session = nullptr;

TEST_F(Face, HandlersCancel) {
  interrupted_session = &session_;
  const auto before = std::signal(SIGALRM, [](int) { interrupted_session->cancel(); });
  const itimerval soon{.it_interval = {.tv_sec = 0, .tv_usec = 1000}, .it_value = {.tv_sec = 0, .tv_usec = 1000}};
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &soon, nullptr);
  const auto fit = session_.fit(taken(session_.parse(weights(24))));
  ::setitimer(ITIMER_REAL, &never, nullptr);
  std::signal(SIGALRM, before);
  if (fit.ok()) {
    EXPECT_TRUE(fit->report.interrupted);
  } else {
    EXPECT_EQ(fit.error().kind, ErrorKind::kInterrupted);
  }
}

TEST_F(Face, CancelReachesAllOfManyCalls) {
  constexpr int kCalls = 40;
  std::atomic<int> interrupted{0}, ended{0};
  const Module module = taken(session_.parse(weights(12)));
  std::vector<std::thread> threads;
  for (int i = 0; i < kCalls; ++i) {
    threads.emplace_back([&] {
      const auto fit = session_.fit(module);
      interrupted += fit.ok() ? fit->report.interrupted : fit.error().kind == ErrorKind::kInterrupted;
      ++ended;
    });
  }
  while (ended < kCalls) {
    session_.cancel();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(interrupted, kCalls);
}

TEST_F(Face, CountsOperationsOnNumbers) {
  EXPECT_EQ(taken(session_.parse(kDoubled)).flops(), 2.0 * 256 * 64) << "of the products and of their sum";
  // Ten rounds of a product and a sum, then a branch, of which the dearer counts.
  const char* const nested = R"(HloModule nested
less { p = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(10)
  ROOT c = pred[] compare(i, n), direction=LT }
round { p = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[8,8] get-tuple-element(p), index=1
  d = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (s32[], f32[8,8]) tuple(j, d) }
twice { x = f32[8,8] parameter(0)
  a = f32[8,8] add(x, x)
  ROOT b = f32[8,8] add(a, x) }
same { ROOT x = f32[8,8] parameter(0) }
ENTRY main { x = f32[8,8] parameter(0)
  which = pred[] parameter(1)
  zero = s32[] constant(0)
  start = (s32[], f32[8,8]) tuple(zero, x)
  loop = (s32[], f32[8,8]) while(start), condition=less, body=round
  y = f32[8,8] get-tuple-element(loop), index=1
  ROOT z = f32[8,8] conditional(which, y, y), true_computation=twice, false_computation=same }
)";
  constexpr double kRound = 2 * 8 * 8 * 8 + 1 + 1;  // with the counter's sum and comparison
  EXPECT_EQ(taken(session_.parse(nested)).flops(), 10 * kRound + 2 * 8 * 8);
}

TEST_F(Face, RunsReadFilesAndWriteThem) {
  const Module module = taken(session_.parse(kDoubled));
  const Executable executable = taken(session_.compile(taken(session_.plan(module))));
  {
    TensorWriter inputs = taken(session_.create_tensors(at("in"), executable.arguments(), "arg"));
    for (int i = 0; i < 256 * 64; ++i) static_cast<float*>(inputs.data(0))[i] = 1.5f;
    for (int i = 0; i < 5; ++i) static_cast<int32_t*>(inputs.data(1))[i] = i;
    ASSERT_TRUE(inputs.commit().ok());
  }
  TensorWriter outputs = taken(session_.create_tensors(at("out"), executable.results()));
  const TensorFile arguments = taken(session_.open_tensors(at("in")));
  lowtide::Run run = taken(executable.bind({.arguments = arguments, .results = outputs}));
  EXPECT_EQ(run.summary().error().kind, ErrorKind::kUsage) << "nothing has been run";
  EXPECT_EQ(run.collect().error().kind, ErrorKind::kUsage);
  EXPECT_EQ(taken(run.run(3)).size(), 3u);
  EXPECT_EQ(static_cast<const float*>(run.result(0))[9], 3.f) << "each time on the arguments as they were given";
  EXPECT_EQ(static_cast<const float*>(run.result(1))[0], 3.f * 256 * 64);
  EXPECT_EQ(run.result(0), outputs.data(0)) << "there is no second copy";
  EXPECT_GE(run.touched_bytes().value_or(0), 256 * 64 * 4);
  EXPECT_EQ(taken(run.summary(2)).size(), 3u);
  ASSERT_TRUE(run.collect().ok());
  ASSERT_TRUE(outputs.commit().ok());
  EXPECT_EQ(outputs.data(0), nullptr);
  EXPECT_EQ(run.result(0), nullptr) << "its pages went with the file";
  for (const ErrorKind kind : {outputs.commit().error().kind, run.run().error().kind, run.collect().error().kind,
                               executable.bind({.results = outputs}).error().kind})
    EXPECT_EQ(kind, ErrorKind::kUsage);
  std::vector<int32_t> passed_on(5);
  const TensorFile results = taken(session_.open_tensors(at("out")));
  ASSERT_TRUE(results.read("out2", passed_on.data()).ok());
  EXPECT_EQ(passed_on, (std::vector<int32_t>{0, 1, 2, 3, 4}));

  // The same by the definitions; and what isn't the same.
  lowtide::Run defined = taken(session_.interpret(module, {.arguments = arguments}));
  EXPECT_EQ(taken(defined.run()).size(), 1u);
  EXPECT_FALSE(defined.touched_bytes().has_value());
  EXPECT_TRUE(taken(defined.compare(results)).all.agrees());
  lowtide::Run seeded = taken(executable.bind({.seed = 7}));
  ASSERT_TRUE(seeded.run().ok());
  const ResultsComparison wrong = taken(seeded.compare(results));
  EXPECT_FALSE(wrong.all.agrees());
  EXPECT_EQ(wrong.differences.front().name, "out0");
  EXPECT_EQ(wrong.differences.front().shape, "f32[256,64]");
  EXPECT_TRUE(taken(seeded.compare(results, 10, 10)).differences.back().name == "out2") << "integers are exact";
  EXPECT_EQ(taken(session_.open_tensors(at("in"))).check_unchanged().ok(), true) << "donated from a copy";
  const auto misfit =
      executable.bind({.results = taken(session_.create_tensors(at("one"), {{executable.results()[0]}}))});
  EXPECT_EQ(misfit.error().kind, ErrorKind::kUsage);
}

TEST_F(Face, ArraysAreCompared) {
  const ProgramArray array{.type = "f32", .dims = {3}, .bytes = 12};
  const std::vector<float> one = {1, 2, NAN}, other = {1, 2.25, NAN};
  EXPECT_TRUE(taken(compare(array, one.data(), one.data(), {})).agrees());
  const Comparison comparison = taken(compare(array, one.data(), other.data(), {}, "y"));
  EXPECT_EQ(comparison.mismatches, 1);
  EXPECT_EQ(comparison.max_abs_error, 0.25);
  EXPECT_TRUE(comparison.first.starts_with("y{1}")) << comparison.first;
  EXPECT_TRUE(taken(compare(array, one.data(), other.data(), {.rtol = 0.2})).agrees());
  EXPECT_EQ(compare({.type = "f33"}, nullptr, nullptr, {}).error().kind, ErrorKind::kUsage);
}

TEST_F(Face, ProgramsThatFailAreMadeSmaller) {
  const Module module = taken(session_.parse(kDoubled));
  EXPECT_TRUE(session_.check(module).ok()) << "compiled it gives what its operations are defined to";
  const auto fails = [](const Module& candidate) { return candidate.hlo().find("multiply(") != std::string::npos; };
  const Module smallest = taken(session_.shrink(module, fails));
  EXPECT_LT(smallest.instructions(), module.instructions());
  EXPECT_TRUE(fails(smallest));
  int tried = 0;
  (void)taken(session_.shrink(module, [&](const Module& candidate) { return ++tried, fails(candidate); }, 3));
  EXPECT_LE(tried, 4);
}

TEST_F(Face, ModulesSayWhatTheyNeedAsTheyStand) {
  const Module module = taken(session_.parse(weights(1)));
  const Explanation explanation = taken(session_.explain(module));
  EXPECT_EQ(taken(module.as_given()).peak, explanation.given.peak);
  EXPECT_EQ(taken(module.floor_of_order()).bytes, explanation.floor_order.bytes);
  EXPECT_EQ(taken(module.floor_of_any()).bytes, explanation.floor_any.bytes);
  EXPECT_TRUE(module.can_run().ok());
  const Module unknown = taken(session_.parse("HloModule m\nENTRY main {\n ROOT c = f32[99] constant({...})\n}\n"));
  EXPECT_EQ(unknown.has_all_values().error().kind, ErrorKind::kInput);
  EXPECT_EQ(unknown.can_run().error().kind, ErrorKind::kInput);
  EXPECT_FALSE(session_.interpret(unknown).ok());
}

/// A module that is moved into a call, and that nobody else has, is not copied there; all others stay as they are.
TEST_F(Face, MovedModulesAreTakenOver) {
  Module module = taken(session_.parse(weights(1)));
  const Module kept = module;
  const int64_t peak = taken(session_.plan(std::move(module))).peak_bytes();
  EXPECT_EQ(kept.arguments().size(), 1u);
  EXPECT_EQ(taken(session_.plan(kept)).peak_bytes(), peak);
  Module last = taken(session_.parse(weights(1)));
  EXPECT_EQ(taken(session_.plan(std::move(last))).peak_bytes(), peak);
}

/// An argument that the program doesn't give away itself.
TEST_F(Face, ArgumentsAreGivenAway) {
  const Module module =
      taken(session_.parse("HloModule m\nENTRY main {\n a = f32[512] parameter(0)\n b = f32[512] parameter(1)\n ROOT c "
                           "= f32[512] add(a, b)\n}\n"));
  EXPECT_FALSE(module.arguments()[1].can_be_donated);
  const Module giving = taken(module.giving(1));
  EXPECT_TRUE(giving.arguments()[1].can_be_donated && !giving.arguments()[0].can_be_donated);
  EXPECT_FALSE(module.arguments()[1].can_be_donated);
  const Plan plan = taken(session_.plan(giving));
  EXPECT_EQ(plan.peak_bytes() + 512 * 4, taken(session_.plan(module)).peak_bytes());
  EXPECT_EQ(taken(session_.compile(plan)).result_homes(), std::vector<int64_t>{1});
  EXPECT_EQ(module.giving(2).error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace lowtide
