#include "lowtide/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

#include "base/memory.h"
#include "compile/load.h"
#include "runtime/runnable.h"
#include "session/call.h"
#include "session/guard.h"
#include "session/make_run.h"
#include "session/prepare.h"
#include "session/state.h"

namespace lowtide {

using engine::guarded;

namespace {

/// An array among the leaves of the program's arguments or results.
struct Leaf {
  size_t number = 0;
  int64_t bytes = 0;
  int64_t alignment = 1;  ///< of one element
};

std::vector<Leaf> leaves_of(const engine::Shape& shape, size_t& number) {
  std::vector<Leaf> leaves;
  engine::for_each_leaf(shape, [&](const engine::ShapeIndex&, const engine::Shape& leaf) {
    if (leaf.is_array()) {
      const engine::Shape one = engine::Shape::scalar(leaf.type);
      leaves.push_back({number, engine::logical_bytes(leaf), std::min<int64_t>(8, engine::logical_bytes(one))});
    }
    ++number;
  });
  return leaves;
}

struct Range {
  const std::byte* begin = nullptr;
  int64_t bytes = 0;
  bool meets(const Range& o) const {
    return bytes > 0 && o.bytes > 0 && begin < o.begin + o.bytes && o.begin < begin + bytes;
  }
};

Error usage(std::string message) { return {ErrorKind::kUsage, std::move(message)}; }

}  // namespace

struct Executable::State {
  std::shared_ptr<Session::State> session;
  std::vector<ProgramArray> arguments, results;
  std::vector<Leaf> argument_leaves, result_leaves;
  size_t all_arguments = 0, all_results = 0;  ///< leaves, arrays or not
  std::vector<const engine::Storage*> taken;  ///< by argument: its storage if the program may overwrite it, else null
  std::vector<int64_t> lives_in;              ///< by result: the argument that it aliases; -1: none
  std::mutex mutex;
  std::vector<std::unique_ptr<engine::LoadedProgram>> all;  ///< one per concurrent run
  std::vector<engine::LoadedProgram*> idle;

  const engine::Program& program() const { return *made_for; }
  std::shared_ptr<const engine::Program> made_for;

  void add(std::unique_ptr<engine::LoadedProgram> one) {
    idle.push_back(one.get());
    all.push_back(std::move(one));
  }
  /// An idle program, borrowed until the last copy of the returned pointer is gone.
  static std::shared_ptr<engine::LoadedProgram> borrow(const std::shared_ptr<State>& state) {
    engine::LoadedProgram* one = nullptr;
    {
      const std::lock_guard lock(state->mutex);
      if (state->idle.empty()) state->add(state->all.front()->another());
      one = state->idle.back();
      state->idle.pop_back();
    }
    return {one, [state](engine::LoadedProgram* back) {
              const std::lock_guard lock(state->mutex);
              state->idle.push_back(back);
            }};
  }

  void find_leaves() {
    const engine::Program& p = program();
    for (const engine::Instruction* parameter : p.module->entry->parameters()) {
      if (!parameter) continue;
      for (const Leaf& leaf : leaves_of(parameter->shape, all_arguments)) argument_leaves.push_back(leaf);
    }
    result_leaves = leaves_of(p.module->entry->root->shape, all_results);
    taken.assign(argument_leaves.size(), nullptr);
    lives_in.assign(result_leaves.size(), -1);
    for (size_t a = 0; a < argument_leaves.size(); ++a) {
      for (const engine::Storage& storage : p.storages) {
        if (storage.kind != engine::StorageKind::kArgument || !storage.donated) continue;
        if (storage.number == static_cast<int64_t>(argument_leaves[a].number)) taken[a] = &storage;
      }
      if (!taken[a]) continue;
      for (size_t r = 0; r < result_leaves.size(); ++r) {
        const engine::Slot& slot = p.slots[p.output_slots[result_leaves[r].number]];
        if (slot.storage >= 0 && &p.storages[slot.storage] == taken[a]) lives_in[r] = static_cast<int64_t>(a);
      }
    }
  }

  Result<void> check(std::span<const Argument> given, std::span<void* const> results_of_caller, Arena arena) const {
    if (given.size() != arguments.size())
      return usage(fmt::format("found {} arguments, expected {}", given.size(), arguments.size()));
    if (results_of_caller.size() != results.size())
      return usage(fmt::format("found memory for {} results, expected {}", results_of_caller.size(), results.size()));
    const auto fault = [](const char* what, size_t number, const void* data, const Leaf& leaf) -> std::string {
      if (leaf.bytes == 0) return {};
      if (data == nullptr) return fmt::format("{} {} has no memory, expected {} bytes", what, number, leaf.bytes);
      if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(leaf.alignment) != 0)
        return fmt::format("{} {} isn't aligned to {} bytes", what, number, leaf.alignment);
      return {};
    };
    std::vector<Range> ranges;
    for (size_t a = 0; a < given.size(); ++a) {
      if (std::string why = fault("argument", a, given[a].data, argument_leaves[a]); !why.empty()) return usage(why);
      ranges.push_back({static_cast<const std::byte*>(given[a].data), argument_leaves[a].bytes});
    }
    for (size_t a = 0; a < given.size(); ++a) {
      if (!given[a].donated || !taken[a]) continue;
      for (size_t b = 0; b < given.size(); ++b) {
        if (a != b && ranges[a].meets(ranges[b]))
          return usage(fmt::format("argument {} is donated, and argument {} lies in the same memory", a, b));
      }
    }
    std::vector<Range> written;
    for (size_t r = 0; r < results.size(); ++r) {
      void* const data = results_of_caller[r];
      const bool stays = lives_in[r] >= 0 && given[lives_in[r]].donated;
      if (stays && data == nullptr) continue;
      if (std::string why = fault("result", r, data, result_leaves[r]); !why.empty()) return usage(why);
      const Range range{static_cast<const std::byte*>(data), result_leaves[r].bytes};
      for (size_t a = 0; a < given.size(); ++a) {
        const bool own = stays && lives_in[r] == static_cast<int64_t>(a) && range.begin == ranges[a].begin;
        if (!own && range.meets(ranges[a]))
          return usage(fmt::format("result {} lies in the memory of argument {}, in which it can't live", r, a));
      }
      for (const Range& other : written) {
        if (range.meets(other)) return usage(fmt::format("result {} lies in the memory of another", r));
      }
      written.push_back(range);
    }
    if (arena.data != nullptr && (arena.bytes < program().temp_bytes || reinterpret_cast<uintptr_t>(arena.data) % 64))
      return usage(fmt::format("the arena needs {} bytes, aligned to 64", program().temp_bytes));
    return {};
  }

  Result<void> run(engine::LoadedProgram& one, std::span<const Argument> given,
                   std::span<void* const> results_of_caller, Arena arena) const {
    engine::RunMemory memory;
    memory.arguments.assign(all_arguments, nullptr);
    memory.outputs.assign(all_results, nullptr);
    memory.arena = static_cast<std::byte*>(arena.data);
    for (size_t r = 0; r < results.size(); ++r) {
      if (lives_in[r] < 0) memory.outputs[result_leaves[r].number] = results_of_caller[r];
    }
    std::vector<engine::Pages> copies;
    for (size_t a = 0; a < given.size(); ++a) {
      void*& place = memory.arguments[argument_leaves[a].number];
      place = given[a].data;
      if (!taken[a] || given[a].donated || argument_leaves[a].bytes == 0) continue;
      // The program would overwrite the argument: copy it to where the result goes, or to separate memory.
      const auto result = std::ranges::find(lives_in, static_cast<int64_t>(a));
      const auto r = static_cast<size_t>(result - lives_in.begin());
      if (result != lives_in.end() && result_leaves[r].bytes == argument_leaves[a].bytes) {
        place = results_of_caller[r];
      } else {
        LT_TAKE(engine::Pages copy, engine::Pages::make(argument_leaves[a].bytes, "a copy of an argument"));
        place = copies.emplace_back(std::move(copy)).data();
      }
      std::memcpy(place, given[a].data, static_cast<size_t>(argument_leaves[a].bytes));
    }
    const engine::Status status = one.run(memory, session->context->pool());
    if (status.ok()) {
      for (size_t r = 0; r < results.size(); ++r) {
        const void* const from = one.result(result_leaves[r].number);
        void* const to = results_of_caller[r];
        if (to && from != to && result_leaves[r].bytes > 0)
          std::memmove(to, from, static_cast<size_t>(result_leaves[r].bytes));
      }
    }
    if (!status.ok()) return engine::error_of(status);
    return {};
  }
};

struct Event::State {
  std::shared_future<Result<void>> outcome;
  std::thread thread;
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  /// Dropping the last copy of an event waits for it.
  ~State() {
    if (thread.joinable()) thread.join();
  }
};

Event::Event(std::shared_ptr<State> state) : state_(std::move(state)) {}

bool Event::is_done() const { return state_->outcome.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }

Result<void> Event::wait() const { return state_->outcome.get(); }

Executable::Executable(std::shared_ptr<State> state) : state_(std::move(state)) {}

const std::vector<ProgramArray>& Executable::arguments() const { return state_->arguments; }
const std::vector<ProgramArray>& Executable::results() const { return state_->results; }
const std::vector<int64_t>& Executable::result_homes() const { return state_->lives_in; }
int64_t Executable::arena_bytes() const { return state_->program().temp_bytes; }

Result<void> Executable::run(std::span<const Argument> arguments, std::span<void* const> results, Arena arena) const {
  return guarded([&]() -> Result<void> {
    if (auto checked = state_->check(arguments, results, arena); !checked.ok()) return checked;
    const auto one = State::borrow(state_);
    return state_->run(*one, arguments, results, arena);
  });
}

int64_t Executable::compiled() const {
  const engine::CompileRecord& record = state_->all.front()->compile_record();
  return record.distinct - record.from_cache;
}
int64_t Executable::interpreted() const { return state_->all.front()->interpreted(); }

Result<Run> Executable::bind(RunFiles files) const {
  return guarded([&]() -> Result<Run> {
    return engine::bind_run(state_->session, State::borrow(state_), state_->arguments, state_->results,
                            std::move(files));
  });
}

Event Executable::start(std::vector<Argument> arguments, std::vector<void*> results, Arena arena) const {
  auto event = std::make_shared<Event::State>();
  std::promise<Result<void>> promise;
  event->outcome = promise.get_future().share();
  const auto work = [executable = *this, arguments = std::move(arguments), results = std::move(results),
                     arena](std::promise<Result<void>> outcome) {
    outcome.set_value(executable.run(arguments, results, arena));
  };
  try {
    event->thread = std::thread(work, std::move(promise));
  } catch (const std::system_error&) {  // no thread can be started: this one does the work
    std::promise<Result<void>> here;
    event->outcome = here.get_future().share();
    work(std::move(here));
  }
  return Event(std::move(event));
}

Result<Executable> Session::compile(const Plan& plan) const {
  return guarded([&]() -> Result<Executable> {
    const engine::Compiled& compiled = plan.state().compiled;
    const std::shared_ptr<const engine::Program>& program = compiled.program;
    LT_PASS(engine::can_run(*plan.state().module, *program, *compiled.target));
    LT_PASS(engine::check_memory(*program));
    auto state = std::make_shared<Executable::State>();
    state->session = state_;
    const engine::Call call(*state_, program->module->shared_context());
    state->arguments = engine::arrays_of_arguments(*plan.state().module);
    state->results = engine::arrays_of_results(*plan.state().module);
    LT_TAKE(auto first, engine::load_program(compiled, *state_->backend));
    state->made_for = program;
    state->add(std::move(first));
    state->find_leaves();
    return Executable(std::move(state));
  });
}

}  // namespace lowtide
