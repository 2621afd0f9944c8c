#include "accelerator.h"

#include <algorithm>
#include <cstring>

#include "base/context.h"
#include "device.h"
#include "runtime/interpreted.h"
#include "runtime/plain_nest.h"
#include "target/machines.h"

namespace lowtide::engine {
namespace {

constexpr GridMachine kGrid{.block_threads = 32, .tile_columns = 8, .thread_elements = 5, .most_blocks = 64};
constexpr auto kUnset = std::byte{0xff};  ///< in an arena before anything is written

using Block = std::vector<ProgramStep>;
using Slots = std::vector<DeviceAddress>;  ///< where each slot lies
using Grid = std::shared_ptr<const HostGrid>;

int64_t count_calls(const Block& block) {
  int64_t calls = 0;
  for (const ProgramStep& step : block) {
    calls += step.kind == StepKind::kLibrary || step.kind == StepKind::kOther;
    for (const Block& inner : step.blocks) calls += count_calls(inner);
  }
  return calls;
}

class AcceleratorProgram final : public LoadedProgram {
 public:
  AcceleratorProgram(std::shared_ptr<const Program> program, std::vector<Grid> kernels,
                     const AcceleratorBackend& options)
      : LoadedProgram(std::move(program)),
        kernels_(std::move(kernels)),
        seed_(options.seed),
        last_(options.last),
        tells_races_(options.tells_races),
        device_(seed_) {
    const Program& p = *shared_program();
    arena_ = device_.allocate(p.temp_bytes);
    for (const Storage& s : p.storages)
      homes_.push_back(s.is_in_arena() ? arena_ + s.offset : device_.allocate(s.bytes));
    for (const Slot& s : p.slots) slots_.push_back(homes_[s.storage] + s.offset);
    record_.kernels = p.kernels;
    record_.distinct = static_cast<int64_t>(std::set<Grid>(kernels_.begin(), kernels_.end()).size());
  }

  const CompileRecord& compile_record() const override { return record_; }
  int64_t interpreted() const override { return count_calls(shared_program()->steps); }
  int64_t arena_touched_bytes() const override { return arena_bytes(); }
  const void* result(size_t leaf) const override { return results_[leaf]; }
  std::unique_ptr<LoadedProgram> another() const override {
    AcceleratorBackend options;
    options.seed = seed_ + 1;
    return std::make_unique<AcceleratorProgram>(shared_program(), kernels_, options);
  }

  /// Arguments come, the graph runs, results go, each as soon as it may.
  Status run(const RunMemory& memory, ThreadPool& pool) override {
    const Program& p = *shared_program();
    device_.fill(arena_, p.temp_bytes, kUnset);
    const Device::Stream work = device_.make_stream();
    for (size_t s = 0; s < p.storages.size(); ++s) {
      const Storage& storage = p.storages[s];
      if (storage.kind != StorageKind::kArgument && storage.kind != StorageKind::kConstant) continue;
      const void* const from = storage.kind == StorageKind::kConstant
                                   ? static_cast<const void*>(storage.constant->bytes().data())
                                   : memory.arguments[storage.number];
      const Device::Stream copies = device_.make_stream();
      device_.enqueue(copies, [=, this] { return device_.to_device(homes_[s], from, p.storages[s].bytes); });
      device_.wait(work, device_.record(copies));
    }
    device_.enqueue(work, [&] {
      const DeviceWork all = graph(p.steps, slots_, pool).replay(device_, number_of_last(p.steps));
      while (all.goes_on()) continue;
      return all.status();
    });
    const Device::Event done = device_.record(work);
    std::vector<std::byte*> host(p.storages.size());
    for (size_t s = 0; s < p.storages.size(); ++s) {
      const Storage& storage = p.storages[s];
      if (storage.is_in_arena() || (storage.kind == StorageKind::kArgument && !storage.holds_output)) continue;
      auto& from = storage.kind == StorageKind::kOutput ? memory.outputs : memory.arguments;
      host[s] = static_cast<std::byte*>(from[storage.number]);
      const Device::Stream copies = device_.make_stream();
      device_.wait(copies, done);
      device_.enqueue(copies, [=, this] { return device_.to_host(host[s], homes_[s], p.storages[s].bytes); });
    }
    results_.clear();
    for (const int32_t slot : p.output_slots) {
      const Slot& of = p.slots[slot];
      std::byte* const at = host[of.storage];
      results_.push_back(at ? at + of.offset : nullptr);
    }
    LT_RETURN_IF_ERROR(device_.synchronize());
    for (const auto& [key, graph] : graphs_) {
      if (tells_races_ && !graph.race().empty()) return {Fault::kInternal, "a race: " + graph.race()};
    }
    return {};
  }

 private:
  int64_t bytes(int32_t slot) const { return shared_program()->slots[slot].bytes; }

  /// The block's graph with slots at these addresses, recorded when it is first needed.
  DeviceGraph& graph(const Block& block, const Slots& slots, ThreadPool& pool) {
    const auto [known, fresh] = graphs_.try_emplace({&block, slots});
    if (fresh) record(block, slots, known->second, pool);
    return known->second;
  }

  int32_t number_of_last(const Block& block) const {
    const bool is_here = last_ >= block.data() && last_ < block.data() + block.size();
    return is_here ? static_cast<int32_t>(last_ - block.data()) : -1;
  }

  static void rotate(const ProgramStep& step, Slots& slots) {
    const Slots before = slots;
    for (size_t i = 0; i < step.to.size(); ++i) slots[step.to[i]] = before[step.from[i]];
  }

  void record(const Block& block, Slots slots, DeviceGraph& graph, ThreadPool& pool) {
    for (const ProgramStep& step : block) {
      if (step.kind == StepKind::kRotate) rotate(step, slots);
      graph.add("%" + step.instruction->name, step.after, launch(step, slots, pool));
    }
  }

  DeviceGraph::Launch launch(const ProgramStep& step, const Slots& slots, ThreadPool& pool) {
    if (step.kind == StepKind::kRotate || step.assembled) return [](auto&) -> DeviceWork { co_return Status(); };
    if (step.kind == StepKind::kWhile)
      return [this, &step, slots, &pool](auto& touched) { return loop(step, slots, touched, pool); };
    if (step.kind == StepKind::kConditional)
      return [this, &step, slots, &pool](auto& touched) { return branch(step, slots, touched, pool); };
    std::vector<DeviceRange> ranges;
    for (const int32_t s : step.reads) ranges.push_back({slots[s], bytes(s), false});
    for (const int32_t s : step.writes) ranges.push_back({slots[s], bytes(s), true});
    const std::shared_ptr<LibraryRoutine> routine = step.kind == StepKind::kKernel || step.kind == StepKind::kCopy
                                                        ? nullptr
                                                        : interpreted_routine(*step.instruction);
    return [this, &step, ranges, routine, &pool](std::set<DeviceRange>& touched) -> DeviceWork {
      touched.insert(ranges.begin(), ranges.end());
      std::vector<void*> at;
      for (const DeviceRange& r : ranges) at.push_back(device_.on_device(r.begin, r.bytes));
      const size_t reads = step.reads.size();
      if (step.kind == StepKind::kKernel) {
        kernels_[step.region]->run(at, device_.chance());
      } else if (step.kind == StepKind::kCopy) {
        move_at_once(ranges, reads);
      } else {
        const std::span<void* const> all = at;
        co_return routine->run({const_cast<const void* const*>(all.data()), reads}, all.subspan(reads), nullptr, pool);
      }
      co_return Status();
    };
  }

  /// As many from the front as to the back.
  void move_at_once(const std::vector<DeviceRange>& ranges, size_t count) {
    std::vector<std::vector<std::byte>> held;
    for (size_t k = 0; k < count; ++k) {
      const std::byte* const from = device_.on_device(ranges[k].begin, ranges[k].bytes);
      held.emplace_back(from, from + ranges[k].bytes);
    }
    for (size_t k = 0; k < count; ++k)
      std::ranges::copy(held[k], device_.on_device(ranges[count + k].begin, ranges[count + k].bytes));
  }

  /// What decides, brought to the host.
  Result<int64_t> decision(const ProgramStep& step, const Slots& slots, ElementType type,
                           std::set<DeviceRange>& touched) {
    const DeviceRange range{slots[step.predicate], bytes(step.predicate), false};
    touched.insert(range);
    Literal value(Shape::scalar(type));
    LT_RETURN_IF_ERROR(device_.to_host(value.bytes().data(), range.begin, range.bytes));
    return type == ElementType::kPred ? static_cast<int64_t>(value.bytes()[0] != std::byte{0})
                                      : static_cast<int64_t>(value.data<int32_t>()[0]);
  }

  /// Once, and the addresses that slots have then.
  DeviceWork replay(const Block& block, Slots& slots, std::set<DeviceRange>& touched, ThreadPool& pool) {
    DeviceGraph& recorded = graph(block, slots, pool);
    const DeviceWork once = recorded.replay(device_, number_of_last(block));
    while (once.goes_on()) co_yield 0;
    touched.merge(recorded.touched());
    for (const ProgramStep& step : block) {
      if (step.kind == StepKind::kRotate) rotate(step, slots);
    }
    co_return once.status();
  }

  DeviceWork loop(const ProgramStep& step, Slots slots, std::set<DeviceRange>& touched, ThreadPool& pool) {
    const Slots first = slots;
    for (int64_t trip = 0; step.trip_count == kNoId || trip < step.trip_count; ++trip) {
      if (step.trip_count == kNoId) {
        const DeviceWork test = replay(step.blocks[0], slots, touched, pool);
        while (test.goes_on()) co_yield 0;
        if (!test.status().ok()) co_return test.status();
        const auto goes_on = decision(step, slots, ElementType::kPred, touched);
        if (!goes_on.ok()) co_return goes_on.status();
        if (*goes_on == 0) break;
      }
      const DeviceWork body = replay(step.blocks[1], slots, touched, pool);
      while (body.goes_on()) co_yield 0;
      if (!body.status().ok()) co_return body.status();
    }
    std::vector<DeviceRange> from, to;
    for (const int32_t s : step.settle) {
      const auto slot = static_cast<size_t>(s);
      if (slots[slot] == first[slot]) continue;
      from.push_back({slots[slot], bytes(s), false});
      to.push_back({first[slot], bytes(s), true});
    }
    const size_t count = from.size();
    from.insert(from.end(), to.begin(), to.end());
    touched.insert(from.begin(), from.end());
    move_at_once(from, count);
    co_return Status();
  }

  DeviceWork branch(const ProgramStep& step, Slots slots, std::set<DeviceRange>& touched, ThreadPool& pool) {
    const ElementType type = step.instruction->operand(0).shape.type;
    const auto value = decision(step, slots, type, touched);
    if (!value.ok()) co_return value.status();
    const auto last = std::ssize(step.blocks) - 1;
    const int64_t taken = type == ElementType::kPred ? 1 - *value : *value < 0 || *value > last ? last : *value;
    const DeviceWork once = replay(step.blocks[taken], slots, touched, pool);
    while (once.goes_on()) co_yield 0;
    co_return once.status();
  }

  const std::vector<Grid> kernels_;  ///< by region
  const uint64_t seed_;
  const ProgramStep* const last_;
  const bool tells_races_;
  Device device_;
  DeviceAddress arena_;
  std::vector<DeviceAddress> homes_;  ///< of storages
  Slots slots_;
  std::map<std::pair<const Block*, Slots>, DeviceGraph> graphs_;
  std::vector<const void*> results_;
  CompileRecord record_;
};

class AcceleratorTarget final : public Target {
 public:
  explicit AcceleratorTarget(const Machine& machine) : Target(machine) { limits_.ways = InPlaceWays::kKernels; }
  std::string_view name() const override { return "accelerator"; }
  Takes takes() const override { return Takes::kProgram; }
  bool has_routine(const Instruction&) const override { return false; }
  int64_t scratch_bytes(const Instruction&) const override { return 0; }
  int overwritten_operand(const Instruction&, int64_t) const override { return kNoId; }
  const InPlaceLimits& in_place() const override { return limits_; }

 private:
  InPlaceLimits limits_;
};

Machine machine() {
  Machine made = machines().front();  // but for what a small GPU does otherwise
  made.name = "simulated accelerator";
  made.cores = 16;
  made.plain_ns = 0.01;
  made.byte_ns = 0.05;
  made.kernel_start_ns = 5000;
  made.meeting_ns = 0;
  made.copy_start_ns = 5000;
  made.trip_ns = 10'000;
  made.spaces = {{.name = "device", .bytes = int64_t{1} << 30}, {.name = "host"}};
  made.links = {{.from = 1, .to = 0, .byte_ns = 0.05, .start_ns = 8000},
                {.from = 0, .to = 1, .byte_ns = 0.05, .start_ns = 8000}};
  return made;
}

}  // namespace

const Target& accelerator_target() {
  static const Machine kMachine = machine();
  static const AcceleratorTarget kTarget(kMachine);
  return kTarget;
}

Result<std::unique_ptr<LoadedProgram>> AcceleratorBackend::load(LoweredProgram lowered) const {
  const Module& module = *lowered.program->module;
  std::vector<Grid> kernels;
  for (const std::shared_ptr<const Nest>& nest : lowered.nests) {
    if (!nest) {
      kernels.emplace_back();
      continue;
    }
    Grid& kernel = kernels_[nest];
    if (!kernel) {
      LT_ASSIGN_OR_RETURN(HostGrid made, HostGrid::make(plain_nest(*nest, module), kGrid));
      kernel = std::make_shared<const HostGrid>(std::move(made));
    }
    kernels.push_back(kernel);
  }
  return std::unique_ptr<LoadedProgram>(
      std::make_unique<AcceleratorProgram>(std::move(lowered.program), std::move(kernels), *this));
}

}  // namespace lowtide::engine
