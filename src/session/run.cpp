#include "lowtide/run.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <numeric>

#include "base/clock.h"
#include "report/tensor_names.h"
#include "runtime/bindings.h"
#include "session/call.h"
#include "session/guard.h"
#include "session/make_run.h"
#include "session/profile.h"
#include "session/run_state.h"
#include "session/tensor_state.h"

namespace lowtide {

using engine::guarded;

namespace {

Result<void> check_results(const Run::State& state) {
  if (state.is_over()) return Error{ErrorKind::kUsage, "the results are in their file, which was committed"};
  if (!state.has_run) return Error{ErrorKind::kUsage, "there are no results before a run"};
  return {};
}

}  // namespace

Run::Run(std::shared_ptr<State> state) : state_(std::move(state)) {}

Result<std::vector<double>> Run::run(int64_t times) {
  return guarded([&]() -> Result<std::vector<double>> {
    const engine::Call call(*state_->session, state_->context());
    engine::Stage stage(call.context()->progress(), state_->stage(), static_cast<double>(times));
    if (state_->is_over()) return check_results(*state_).error();
    std::vector<double> seconds;
    for (int64_t i = 0; i < times; ++i) {
      if (state_->has_begun) LT_PASS(state_->restore());
      state_->has_begun = true;
      const auto start = std::chrono::steady_clock::now();
      state_->has_run = false;
      LT_PASS(state_->run());
      state_->has_run = true;
      seconds.push_back(engine::seconds_since(start));
    }
    return seconds;
  });
}

Result<Profile> Run::profile(int64_t times, int64_t spans) {
  return guarded([&]() -> Result<Profile> {
    engine::StepTimes steps(state_->session->context->pool(), static_cast<size_t>(std::max<int64_t>(0, spans)));
    if (!state_->watch(&steps)) return Error{ErrorKind::kUsage, "what is interpreted has no steps to be timed"};
    auto ran = run(times);
    state_->watch(nullptr);
    if (!ran.ok()) return ran.error();
    return state_->profile(steps, times, std::accumulate(ran->begin(), ran->end(), 0.0));
  });
}

const std::vector<ProgramArray>& Run::results() const { return state_->results; }
const void* Run::result(size_t number) const { return check_results(*state_).ok() ? state_->result(number) : nullptr; }
std::optional<int64_t> Run::touched_bytes() const { return state_->touched_bytes(); }

Result<ResultsComparison> Run::compare(const TensorFile& expected, std::optional<double> rtol,
                                       std::optional<double> atol_of_max) const {
  return guarded([&]() -> Result<ResultsComparison> {
    if (const auto there = check_results(*state_); !there.ok()) return there.error();
    LT_TAKE(ResultsComparison comparison, engine::compare_with_file(*state_, expected, rtol, atol_of_max));
    return comparison;
  });
}

Result<std::vector<std::string>> Run::summary(int64_t most) const {
  return guarded([&]() -> Result<std::vector<std::string>> {
    if (const auto there = check_results(*state_); !there.ok()) return there.error();
    std::vector<std::string> lines;
    const auto all = static_cast<int64_t>(state_->results.size());
    for (int64_t i = 0; i < std::min(all, most); ++i)
      lines.push_back(engine::summary_of(*state_, static_cast<size_t>(i)));
    if (all > most) lines.push_back(fmt::format("  and {} more", all - most));
    return lines;
  });
}

Result<void> Run::collect() {
  return guarded([&]() -> Result<void> {
    if (const auto there = check_results(*state_); !there.ok()) return there.error();
    state_->collect();
    return {};
  });
}

namespace engine {
namespace {

class CompiledRun final : public Run::State {
 public:
  std::shared_ptr<LoadedProgram> loaded;
  std::optional<TensorFile> arguments;  ///< the file's arguments, named by number
  std::optional<Bindings> bindings;

  const std::shared_ptr<Context>& context() const override { return loaded->program().module->shared_context(); }
  const char* stage() const override { return "running"; }
  Status restore() override { return bindings->restore(pool()); }
  Status run() override { return loaded->run(bindings->memory(), pool()); }
  const std::byte* result(size_t number) const override {
    return static_cast<const std::byte*>(loaded->result(leaves[number]));
  }
  bool watch(StepTimes* times) override { return loaded->watch(times); }
  Profile profile(const StepTimes& times, int64_t runs, double seconds) const override {
    return profile_of(loaded->program(), times, session->target().cost(), runs, seconds, pool().threads());
  }
  std::optional<int64_t> touched_bytes() const override {
    return loaded->arena_touched_bytes() + bindings->touched_bytes();
  }
  void collect() override {
    std::vector<const void*> addresses;
    for (size_t leaf = 0; leaf < all_leaves; ++leaf) addresses.push_back(loaded->result(leaf));
    bindings->collect(addresses, pool());
  }
  void find_leaves() {
    for_each_leaf(loaded->program().module->entry->root->shape, [&](const ShapeIndex&, const Shape& shape) {
      if (shape.is_array()) {
        leaves.push_back(all_leaves);
        shapes.push_back(shape);
      }
      ++all_leaves;
    });
  }

 private:
  ThreadPool& pool() const { return session->context->pool(); }
  std::vector<size_t> leaves;  ///< by result: its number among all leaves
  size_t all_leaves = 0;
};

}  // namespace

Status name_by_number(TensorFile& file, const std::string& prefix, const std::vector<ProgramArray>& arrays) {
  std::vector<std::string> paths;
  for (const ProgramArray& array : arrays) paths.push_back(array.path);
  return name_by_number(file, prefix, paths);
}

lowtide::Result<void> check_room(const std::vector<ProgramArray>& results, const RunFiles& files) {
  if (!files.results) return {};
  const std::vector<int64_t>& room = files.results->state().bytes;
  bool fits = room.size() == results.size() && !files.results->state().is_committed;
  for (size_t i = 0; fits && i < room.size(); ++i) fits = room[i] == results[i].bytes;
  if (fits) return {};
  return Error{ErrorKind::kUsage, "RunFiles::results: expected a file made for the results of this program"};
}

lowtide::Result<Run> bind_run(std::shared_ptr<Session::State> session, std::shared_ptr<LoadedProgram> loaded,
                              const std::vector<ProgramArray>& arguments, const std::vector<ProgramArray>& results,
                              RunFiles files) {
  if (const auto room = check_room(results, files); !room.ok()) return room.error();
  auto run = std::make_shared<CompiledRun>();
  run->session = std::move(session);
  run->results = results;
  run->loaded = std::move(loaded);
  run->files = std::move(files);
  run->find_leaves();
  BindingSources sources{.seed = run->files.seed};
  if (run->files.arguments) {
    run->arguments = run->files.arguments->state().file;
    LT_PASS(name_by_number(*run->arguments, "arg", arguments));
    sources.inputs = &*run->arguments;
  }
  if (run->files.results) sources.outputs = &run->files.results->state().writer;
  LT_TAKE(Bindings bindings, Bindings::make(run->loaded->program(), sources, run->session->context->pool()));
  run->bindings.emplace(std::move(bindings));
  return Run(std::move(run));
}

}  // namespace engine
}  // namespace lowtide
