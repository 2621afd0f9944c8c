#include "arrays/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "arrays/lowering.h"
#include "lowtide/transforms.h"

namespace lowtide::lazy {
namespace {

bool is_kept_whole(const array::State& state) { return state.trace && state.trace->live; }

/// A graph prepared for evaluation: its steps in order, its leaves (computed arrays), and its outputs.
class Graph {
 public:
  Graph(Runtime& runtime, const std::vector<array>& outputs) : runtime_(runtime) {
    for (const array& a : outputs) add_output(a);
    steps_ = steps_below(outputs_);
    number_all();
    find_what_dies();
    keep_what_was_computed();
  }

  bool is_empty() const { return outputs_.empty(); }

  std::string key() const {
    Key key;
    for (size_t l = 0; l < leaves_.size(); ++l) {
      key.value(leaves_[l]->shape, leaves_[l]->dtype);
      key.number(dies_[l]);
    }
    for (const auto& step : steps_) {
      key.text(step->primitive->name());
      step->primitive->describe(key);
      for (const array& input : step->inputs) key.number(input.state()->number);
      for (const Spec& spec : step->specs) key.value(spec.shape, spec.dtype);
    }
    key.number(-1);
    for (const array& output : outputs_) key.number(output.state()->number);
    return key.take();
  }

  Module module(const Session& session) const {
    LoweredModule module("arrays");
    Lowering to(module, module.builder.entry());
    std::vector<array> from;
    std::vector<Term> inputs;
    for (const auto& leaf : leaves_) {
      from.push_back(array(leaf));
      inputs.push_back(to.parameter(leaf->shape, leaf->dtype));
    }
    to.finish(to.inlined(from, outputs_, inputs));
    auto built = session.build(module.builder);
    if (!built.ok()) throw std::logic_error("a graph became no program: " + built.error().message);
    Module made = *built;
    for (size_t l = 0; l < leaves_.size(); ++l) {
      if (!dies_[l]) continue;
      auto giving = made.giving(static_cast<int64_t>(l));
      if (!giving.ok()) throw_error(giving.error());
      made = *giving;
    }
    return made;
  }

  /// Bytes of live arrays that aren't leaves of the graph: they stay allocated with any plan.
  int64_t bytes_beside() const {
    std::unordered_set<const Block*> blocks;
    int64_t own = 0;
    for (const auto& leaf : leaves_) {
      if (blocks.insert(leaf->data.get()).second) own += leaf->data->bytes;
    }
    return runtime_.memory.active() - own;
  }

  /// Allocates the outputs' memory and starts the run. here: on this thread, if the stream is idle.
  std::shared_ptr<Pending> run(const PlannedGraph& plan, bool here) {
    struct Work {
      Executable executable;
      std::vector<Argument> arguments;
      std::vector<void*> results;
      std::vector<std::shared_ptr<Block>> blocks;
      std::vector<std::shared_ptr<Pending>> before;
      std::shared_ptr<Block> arena;
      std::shared_ptr<Pending> pending = std::make_shared<Pending>();
      std::exception_ptr operator()() {
        std::exception_ptr fault;
        try {
          for (const auto& other : before) other->wait();
          const auto ran = executable.run(arguments, results, {arena->data, arena->capacity});
          if (!ran.ok()) throw_error(ran.error());
        } catch (...) {
          fault = std::current_exception();
        }
        blocks.clear();  // before done(), so that the memory statistics are up to date for whoever waits
        arena.reset();
        before.clear();
        pending->done(fault);
        return fault;
      }
    };
    auto work = std::make_shared<Work>(Work{.executable = plan.executable});
    for (size_t l = 0; l < leaves_.size(); ++l) {
      const auto& leaf = leaves_[l];
      work->arguments.push_back({leaf->data->data, dies_[l] != 0});
      work->blocks.push_back(leaf->data);
      if (leaf->pending && !leaf->pending->is_done()) work->before.push_back(leaf->pending);
      if (leaf->pending && leaf->pending->is_done()) leaf->pending->wait();  // rethrows its error
    }
    std::vector<std::shared_ptr<Block>> results;
    const std::vector<int64_t>& homes = plan.executable.result_homes();
    std::vector<std::shared_ptr<Block>> homes_of(outputs_.size());
    for (size_t r = 0; r < outputs_.size(); ++r) {
      const int64_t home = homes[r];
      const bool stays = home >= 0 && dies_[home];
      results.push_back(stays ? leaves_[home]->data
                              : runtime_.memory.allocate(static_cast<int64_t>(outputs_[r].nbytes())));
      work->results.push_back(results.back()->data);
      work->blocks.push_back(results.back());
    }
    work->arena = runtime_.memory.allocate(plan.executable.arena_bytes());
    const auto pending = work->pending;
    const int stream = outputs_.front().state()->stream;
    const auto worker = runtime_.worker(stream);
    const bool inline_run = here && work->before.empty() && worker->is_idle();
    if (inline_run) {
      (*work)();
      pending->wait();  // throws before anything is changed
    }
    work->blocks.shrink_to_fit();
    for (size_t r = 0; r < outputs_.size(); ++r) {
      array::State& state = *outputs_[r].state();
      state.data = results[r];
      state.pending = inline_run ? nullptr : pending;
      if (!is_kept_whole(state)) state.step.reset();
    }
    if (!inline_run) {
      worker->add([work, worker] {
        if (const auto fault = (*work)()) worker->keep(fault);
      });
    }
    return pending;
  }

  const std::vector<array>& outputs() const { return outputs_; }
  /// For a message: the graph's first leaves with their sizes.
  std::string live_set() const {
    std::vector<std::string> rows;
    for (const auto& leaf : leaves_) {
      rows.push_back(
          fmt::format("{} {} of {} bytes", dtype_to_string(leaf->dtype), to_string(leaf->shape), leaf->data->bytes));
    }
    if (rows.size() > 8) rows.resize(8);
    return fmt::format("{}", fmt::join(rows, ", "));
  }

 private:
  void add_output(const array& a) {
    const auto known = std::ranges::find(outputs_, a.state(), [](const array& o) { return o.state(); });
    if (known != outputs_.end()) return;
    array::State& state = *a.state();
    while (!state.stands() && state.step && state.step->primitive->is_view() &&
           state.step->inputs[0].state()->stands()) {  // a view of a computed array shares its data
      array::State& below = *state.step->inputs[0].state();
      state.pending = below.pending;
      state.data = below.data;
      if (!is_kept_whole(state)) state.step.reset();
    }
    if (!state.stands()) outputs_.push_back(a);
  }

  void number_all() {
    const uint64_t mark = ++runtime_.mark;
    int64_t number = 0;
    const auto give = [&](array::State& state) {
      state.mark = mark;
      state.number = number++;
    };
    std::vector<array> tops;
    const auto leaf = [&](const array& a) {
      array::State& state = *a.state();
      if (state.mark == mark) return;
      if (!state.stands()) {
        throw std::invalid_argument(fmt::format(
            "eval: found an array of shape {} that stands for an argument while a function is transformed (vmap, "
            "compile); it has no elements",
            to_string(state.shape)));
      }
      leaves_.push_back(a.state());
      give(state);
    };
    for (const array& output : outputs_) {
      if (!output.state()->step) leaf(output);
    }
    for (const auto& step : steps_) {
      for (const array& input : step->inputs) leaf(input);
      for (const auto& output : step->outputs) {
        if (const auto state = output.lock(); state && state->mark != mark) give(*state);
      }
    }
    // Steps are visited before their users, so outputs of steps are already numbered and aren't taken for leaves.
    std::erase_if(leaves_, [](const auto& state) { return !state->stands(); });
  }

  /// Finds the leaves that nothing refers to once the graph is computed: the run may overwrite them. Values of steps
  /// that other references keep alive are survivors.
  void find_what_dies() {
    std::unordered_map<const array::State*, int64_t> of_dying_steps;
    std::unordered_set<const array::State*> wanted;
    for (const array& output : outputs_) wanted.insert(output.state().get());
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      int64_t gone = 0;
      for (const auto& output : (*step)->outputs) {
        const auto state = output.lock();
        if (!state || !state->step) continue;  // the step has several outputs, and this one is already computed
        const bool is_wanted = wanted.contains(state.get());
        const bool dies = !is_wanted && state.use_count() - 1 == of_dying_steps[state.get()];
        if (is_wanted ? !is_kept_whole(*state) : dies) ++gone;
        if (!is_wanted && !dies) survivors_.push_back(state);
      }
      if ((*step).use_count() - 1 != gone) continue;
      for (const array& input : (*step)->inputs) ++of_dying_steps[input.state().get()];
    }
    for (const auto& leaf : leaves_) {  // leaves_ itself holds one more reference
      const bool dies = leaf.use_count() - 1 == of_dying_steps[leaf.get()] && leaf->data.use_count() == 1 &&
                        !leaf->data->deleter && (!leaf->pending || leaf->pending->is_done());
      dies_.push_back(dies);
    }
  }

  /// Keeps a survivor that an earlier evaluation already computed without keeping it, so that it isn't computed a third
  /// time, unless it is larger than its sources. This bounds the graph of a sum that grows with every evaluation.
  void keep_what_was_computed() {
    constexpr size_t kSmall = 1 << 20;
    for (const auto& state : survivors_) {
      const bool inner = std::ranges::all_of(state->step->outputs, [](const auto& o) { return o.expired(); });
      if (state->was_computed && !inner && !is_kept_whole(*state)) {
        const array a(state);
        if (a.nbytes() <= std::max(state->largest_source, kSmall)) outputs_.push_back(a);
      }
      state->was_computed = true;
    }
    survivors_.clear();
  }

  Runtime& runtime_;
  std::vector<array> outputs_;
  std::vector<std::shared_ptr<Step>> steps_;
  std::vector<std::shared_ptr<array::State>> leaves_, survivors_;
  std::vector<char> dies_;  ///< per leaf: the run may overwrite it
};

PlannedGraph plan_graph(const Session& session, const Module& module, std::optional<int64_t> most,
                        const std::string& live) {
  const auto compiled = [&](const Plan& plan) {
    auto executable = session.compile(plan);
    if (!executable.ok()) throw_error(executable.error());
    return PlannedGraph{plan.peak_bytes(), module.instructions(), *executable};
  };
  auto free = session.plan(module);
  if (!free.ok()) throw_error(free.error());
  if (!most || free->peak_bytes() <= *most) return compiled(*free);
  auto fit = session.fit(module, most);
  if (!fit.ok()) throw_error(fit.error());
  if (fit->report.met) return compiled(fit->plan);
  const auto floor = fit->plan.floor_of_any();
  const int64_t peak = fit->plan.peak_bytes();
  std::string largest;
  int64_t bytes = 0;
  for (const Buffer& buffer : fit->plan.buffers()) {
    if (buffer.bytes > bytes) {
      bytes = buffer.bytes;
      largest = fmt::format("; its largest buffer, {} bytes, is of {}", bytes, buffer.value);
    }
  }
  throw limit_error(
      fmt::format("eval: the lowest plan found needs {} bytes, expected at most {}; no executor needs less than {}{}; "
                  "it starts from {}. With {} bytes more it runs",
                  peak, *most, floor.ok() ? floor->bytes : 0, largest, live.empty() ? "nothing" : live, peak - *most),
      peak, *most);
}

}  // namespace

void evaluate(const std::vector<array>& outputs, bool wait, std::optional<int64_t> most) {
  Runtime& runtime = Runtime::get();
  std::vector<std::shared_ptr<Pending>> pending;
  {
    const std::lock_guard lock(runtime.graphs);
    Graph graph(runtime, outputs);
    if (!graph.is_empty()) {
      std::optional<int64_t> within = most;
      if (const size_t limit = runtime.memory.limit(); limit != SIZE_MAX) {
        const int64_t left = static_cast<int64_t>(limit) - graph.bytes_beside();
        within = std::min(within.value_or(INT64_MAX), left);
      }
      Runtime::Known& known = runtime.known(graph.key());
      const auto fitting =
          std::ranges::find_if(known.plans, [&](const auto& plan) { return !within || plan->peak_bytes <= *within; });
      std::shared_ptr<const PlannedGraph> plan;
      if (fitting != known.plans.end()) {
        plan = *fitting;
        ++runtime.plans.found;
      } else {
        const Session session = runtime.session();
        plan = std::make_shared<PlannedGraph>(
            plan_graph(session, graph.module(session), within, within ? graph.live_set() : ""));
        runtime.keep(known, plan);
        ++runtime.plans.made;
        runtime.plans.kernels += plan->executable.compiled();
      }
      pending.push_back(graph.run(*plan, wait));
    }
    for (const array& output : outputs) {
      if (const auto& other = output.state()->pending) pending.push_back(other);
    }
  }
  if (!wait) return;
  for (const auto& other : pending) other->wait();
}

std::string key_of(const std::vector<array>& inputs, const std::vector<array>& outputs) {
  Key key;
  std::unordered_map<const array::State*, int64_t> numbers;
  const auto number_of = [&](const array& a) {
    const auto [found, is_new] = numbers.try_emplace(a.state().get(), static_cast<int64_t>(numbers.size()));
    if (is_new) key.value(a.shape(), a.dtype());
    return found->second;
  };
  for (const array& input : inputs) number_of(input);
  for (const auto& step : steps_below(outputs, inputs)) {
    key.text(step->primitive->name());
    step->primitive->describe(key);
    for (const array& input : step->inputs) key.number(number_of(input));
    for (const auto& output : step->outputs) {
      if (const auto state = output.lock()) key.number(number_of(array(state)));
    }
  }
  for (const array& output : outputs) key.number(number_of(output));
  return key.take();
}

Module module_of(const Function& function, const std::string& name, const std::vector<array>& constants) {
  LoweredModule module(name);
  Lowering to(module, module.builder.entry());
  std::vector<Term> inputs;
  for (const array& input : function.inputs) {
    const size_t left = function.inputs.size() - inputs.size();
    if (left > constants.size()) {
      inputs.push_back(to.parameter(input.shape(), input.dtype()));
    } else {
      const array& known = constants[constants.size() - left];
      inputs.push_back(to.elements(known.state()->data->data, known.dtype(), known.shape()));
    }
  }
  to.finish(to.inlined(function.inputs, function.outputs, inputs));
  auto built = Runtime::get().session().build(module.builder);
  if (!built.ok()) throw std::logic_error("a graph became no program: " + built.error().message);
  return *built;
}

}  // namespace lowtide::lazy

namespace lowtide {

void eval(std::vector<array> outputs) { lazy::evaluate(outputs, true); }
void async_eval(std::vector<array> outputs) { lazy::evaluate(outputs, false); }

Plan plan(const std::function<std::vector<array>(const std::vector<array>&)>& fn, const std::vector<array>& args) {
  lazy::Runtime& runtime = lazy::Runtime::get();
  const std::lock_guard lock(runtime.graphs);
  lazy::Function function;
  for (const array& arg : args) function.inputs.push_back(lazy::placeholder(arg.shape(), arg.dtype()));
  function.outputs = fn(function.inputs);
  // Arrays that the function captures become arguments, too.
  for (const auto& step : lazy::steps_below(function.outputs, function.inputs)) {
    for (const array& input : step->inputs) {
      const auto same = [&](const array& known) { return known.id() == input.id(); };
      if (!input.state()->step && std::ranges::none_of(function.inputs, same)) function.inputs.push_back(input);
    }
  }
  auto planned = runtime.session().plan(lazy::module_of(function));
  if (!planned.ok()) lazy::throw_error(planned.error());
  return *planned;
}

std::function<std::vector<array>(const std::vector<array>&)> limit(
    std::function<std::vector<array>(const std::vector<array>&)> fn, size_t bytes) {
  return [fn = std::move(fn), bytes](const std::vector<array>& args) {
    std::vector<array> outputs = fn(args);
    lazy::evaluate(outputs, true, static_cast<int64_t>(bytes));
    return outputs;
  };
}

}  // namespace lowtide
