#include "backend/cpu/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "backend/cpu/poison.h"
#include "backend/cpu/strips.h"
#include "base/context.h"
#include "base/denormals.h"
#include "base/sizes.h"
#include "schedule/kernel_way.h"
#include "schedule/modelled_time.h"
#include "target/cpu.h"

namespace lowtide::engine {
namespace {

/// Do the bytes of two storages overlap?
bool meet(const Storage& a, const Storage& b) {
  return a.in_host == b.in_host && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

bool constants_are_alone(const Program& program) {
  for (const Storage& constant : program.storages) {
    if (constant.kind != StorageKind::kConstant) continue;
    for (const Storage& other : program.storages) {
      if (other.kind == StorageKind::kTemporary && meet(constant, other)) return false;
    }
  }
  return true;
}

int64_t integer_at(const std::byte* address, ElementType type) {
  int64_t number = 0;
  dispatch(type, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      T value{};
      std::memcpy(&value, address, sizeof value);
      number = static_cast<int64_t>(+value);
    }
  });
  return number;
}

/// Do any steps move bytes with shift_at_once(), which needs memory? Most small programs don't.
bool moves_at_once(std::span<const ProgramStep> steps) {
  return std::ranges::any_of(steps, [](const ProgramStep& step) {
    return step.kind == StepKind::kCopy || step.kind == StepKind::kWhile ||
           std::ranges::any_of(step.blocks, moves_at_once);
  });
}

}  // namespace

struct Engine::Binding {
  std::vector<std::vector<int32_t>> dead;  ///< empty: nothing is poisoned
  size_t routine = 0, step = 0;
};

Engine::Engine(std::shared_ptr<const Program> program, std::vector<Kernel> kernels,
               std::vector<std::unique_ptr<LibraryRoutine>> routines)
    : program_(std::move(program)), kernels_(std::move(kernels)), routines_(std::move(routines)) {
  LT_ASSERT(kernels_.size() == program_->regions.size(), "a program has one kernel for each region");
  Binding binding;
  if (poisons()) binding.dead = deaths(*program_);
  steps_ = bind(program_->steps, binding);
  LT_ASSERT(binding.routine == routines_.size(), "a program has one routine for each step that calls one");
  storages_.resize(program_->storages.size());
  addresses_.resize(program_->slots.size());
  if (moves_at_once(program_->steps)) strip_.resize(kStripBytes);
  constants_stay_ = !poisons() && constants_are_alone(*program_);
}

Engine::Block Engine::bind(std::span<const ProgramStep> steps, Binding& binding) {
  Block block;
  block.reserve(steps.size());
  for (const ProgramStep& step : steps) {
    Action action;
    action.step = &step;
    action.addresses.resize(step.reads.size() + step.writes.size());
    if (step.kind == StepKind::kKernel) {
      // Kernels only read `given`.
      std::vector<int64_t>& given = kernels_[step.region].given;
      if (!given.empty()) action.addresses.push_back(given.data());
    }
    if (!binding.dead.empty()) action.dead = std::move(binding.dead[binding.step]);
    ++binding.step;
    if (step.kind == StepKind::kLibrary || step.kind == StepKind::kOther) {
      LT_ASSERT(binding.routine < routines_.size(), "a program has one routine for each step that calls one");
      action.routine = routines_[binding.routine++].get();
    }
    if (step.way && step.way->strips) {
      const std::string why = check_strips(kernels_[step.region], *step.way->strips);
      LT_ASSERT(why.empty(), why);
    }
    for (const auto& inner : step.blocks) action.blocks.push_back(bind(inner, binding));
    block.push_back(std::move(action));
  }
  return block;
}

Status Engine::make_arena() {
  if (arena_.data()) return {};
  LT_ASSIGN_OR_RETURN(arena_, Pages::make(program_->temp_bytes, "the arena"));
  return {};
}

/// On CPUs host memory is like any other memory, but plans place it in a separate arena.
Status Engine::make_host_arena() {
  if (program_->host_temp_bytes == 0 || host_arena_.data()) return {};
  LT_ASSIGN_OR_RETURN(host_arena_, Pages::make(program_->host_temp_bytes, "the arena in host memory"));
  return {};
}

Status Engine::start(const RunMemory& memory, int threads) {
  const Program& program = *program_;
  if (!memory.arena) LT_RETURN_IF_ERROR(make_arena());
  LT_RETURN_IF_ERROR(make_host_arena());
  base_ = memory.arena ? memory.arena : arena_.data();
  if (portioned_for_ != threads) {
    portions_.clear();
    for (const Kernel& kernel : kernels_) portions_.push_back(portions_of(kernel, threads));
    portioned_for_ = threads;
  }
  for (size_t s = 0; s < storages_.size(); ++s) {
    const Storage& storage = program.storages[s];
    const auto number = static_cast<size_t>(storage.number);
    switch (storage.kind) {
      case StorageKind::kArgument: storages_[s] = static_cast<std::byte*>(memory.arguments.at(number)); break;
      case StorageKind::kOutput: storages_[s] = static_cast<std::byte*>(memory.outputs.at(number)); break;
      default:
        const int64_t arena_bytes = storage.in_host ? program.host_temp_bytes : program.temp_bytes;
        LT_ASSERT(storage.offset + storage.bytes <= arena_bytes,
                  fmt::format("storage {} leaves the arena: {} bytes at {} of {}", s, storage.bytes, storage.offset,
                              arena_bytes));
        storages_[s] = (storage.in_host ? host_arena_.data() : base_) + storage.offset;
    }
    LT_ASSERT(storages_[s] || storage.bytes == 0, fmt::format("storage {} has no memory", s));
  }
  for (size_t s = 0; s < addresses_.size(); ++s) {
    const Slot& slot = program.slots[s];
    std::byte* const base = slot.storage >= 0 ? storages_[slot.storage] : nullptr;
    addresses_[s] = base ? base + slot.offset : nullptr;
  }
  if (poisons() && base_) std::memset(base_, kPoisonByte, static_cast<size_t>(program.temp_bytes));
  if (poisons() && host_arena_.data()) {
    std::memset(host_arena_.data(), kPoisonByte, static_cast<size_t>(program.host_temp_bytes));
  }
  const bool is_own = base_ == arena_.data();  // nothing else writes there
  if (!is_own || constants_filled_ != base_ || !constants_stay_) fill_constants();
  return {};
}

void Engine::fill_constants() {
  for (size_t s = 0; s < storages_.size(); ++s) {
    const Storage& storage = program_->storages[s];
    if (storage.kind != StorageKind::kConstant || storage.bytes == 0) continue;
    const auto bytes = storage.constant->bytes();
    LT_ASSERT(static_cast<int64_t>(bytes.size()) <= storage.bytes, "a constant is larger than its storage");
    std::memcpy(storages_[s], bytes.data(), bytes.size());
  }
  constants_filled_ = base_;
}

void Engine::poison(std::span<const int32_t> storages) {
  for (const int32_t s : storages) {
    const auto i = static_cast<size_t>(s);
    std::memset(storages_[i], kPoisonByte, static_cast<size_t>(program_->storages[i].bytes));
  }
}

Status Engine::run(const RunMemory& memory, ThreadPool& pool) {
  LT_RETURN_IF_ERROR(start(memory, pool.threads()));
  if (times_ != nullptr) times_->begin_run();
  const DenormalsScope flushed(Denormals::kFlushed);
  return progress().is_watched() ? run_and_show(pool) : run(steps_, pool);
}

/// Reports progress by steps; a whole run is one step of its stage.
Status Engine::run_and_show(ThreadPool& pool) {
  if (shares_.empty() && !steps_.empty()) {
    shares_ = modelled_ns_of_steps(*program_, cpu_target().cost());
    const double all = std::accumulate(shares_.begin(), shares_.end(), 1e-9);
    for (double& share : shares_) share /= all;
  }
  for (size_t k = 0; k < steps_.size(); ++k) {
    const ProgramStep& step = *steps_[k].step;
    const bool counted = step.kind == StepKind::kWhile && step.trip_count > 0;
    share_of_trip_ = counted ? shares_[k] / static_cast<double>(step.trip_count) : 0;
    LT_RETURN_IF_ERROR(run(steps_[k], pool));
    if (!counted) progress().add(shares_[k]);
  }
  return {};
}

Status Engine::run(Block& block, ThreadPool& pool) {
  for (Action& action : block) LT_RETURN_IF_ERROR(run(action, pool));
  return {};
}

void Engine::take_addresses(Action& action) {
  size_t i = 0;
  for (const int32_t slot : action.step->reads) action.addresses[i++] = address(slot);
  for (const int32_t slot : action.step->writes) action.addresses[i++] = address(slot);
}

Status Engine::run(Action& action, ThreadPool& pool) {
  if (times_ == nullptr) return execute(action, pool);
  return times_->time(*action.step, [&] { return execute(action, pool); });
}

Status Engine::execute(Action& action, ThreadPool& pool) {
  const ProgramStep& step = *action.step;
  if (!action.dead.empty()) poison(action.dead);
  switch (step.kind) {
    case StepKind::kKernel: {
      if (step.assembled) return {};
      take_addresses(action);
      const KernelWay* const way = step.way.get();
      if (way && way->rearrangement) {
        auto* const array = static_cast<std::byte*>(action.addresses.back());
        std::byte* const scratch = address(step.scratch);
        for (const ArrayMove& move : way->rearrangement->moves) lowtide::engine::run(move, array, scratch, pool);
        return {};
      }
      const auto region = static_cast<size_t>(step.region);
      if (way && way->strips) {
        run_in_strips(kernels_[region], *way->strips, action.addresses, step.reads.size(), address(step.scratch), pool);
        return {};
      }
      const std::vector<int64_t>& skips = kernels_[region].skips;
      for (size_t b = 0; b < skips.size(); ++b) {
        void*& at = action.addresses[b];
        if (at) at = static_cast<std::byte*>(at) + skips[b];
      }
      const std::span<const int32_t> idle = way ? std::span<const int32_t>(way->idle) : std::span<const int32_t>();
      run_kernel(kernels_[region], portions_[region], idle, action.addresses.data(), pool);
      return {};
    }
    case StepKind::kLibrary:
    case StepKind::kOther: {
      take_addresses(action);
      const std::span<void* const> all = action.addresses;
      const std::span<const void* const> operands(const_cast<const void* const*>(all.data()), step.reads.size());
      return action.routine->run(operands, all.subspan(step.reads.size()),
                                 step.scratch >= 0 ? address(step.scratch) : nullptr, pool);
    }
    case StepKind::kCopy: copy(action, pool); return {};
    case StepKind::kRotate: rotate(step); return {};
    case StepKind::kWhile: return run_while(action, pool);
    case StepKind::kConditional: return run(action.blocks[branch_of(action)], pool);
  }
  return {};
}

void Engine::rotate(const ProgramStep& step) {
  exchanged_.clear();
  for (const int32_t slot : step.from) exchanged_.push_back(address(slot));
  for (size_t i = 0; i < step.to.size(); ++i) address(step.to[i]) = exchanged_[i];
}

void Engine::copy(Action& action, ThreadPool& pool) {
  const ProgramStep& step = *action.step;
  action.shifts.clear();
  for (size_t i = 0; i < step.writes.size(); ++i) {
    const int64_t bytes = program_->slots[step.writes[i]].bytes;
    action.shifts.push_back({address(step.writes[i]), address(step.reads[i]), bytes});
  }
  shift_at_once(action.shifts, strip_, pool);
}

/// After the loop, rotating slots get back their addresses from before it, and their bytes move there.
Status Engine::run_while(Action& action, ThreadPool& pool) {
  const std::vector<int32_t>& settle = action.step->settle;
  action.shifts.clear();
  for (const int32_t slot : settle) {
    action.shifts.push_back({address(slot), nullptr, program_->slots[slot].bytes});
  }
  LT_RETURN_IF_ERROR(run_trips(action, pool));
  for (size_t i = 0; i < settle.size(); ++i) {
    action.shifts[i].from = address(settle[i]);
    address(settle[i]) = action.shifts[i].to;
  }
  shift_at_once(action.shifts, strip_, pool);
  return {};
}

Status Engine::run_trips(Action& action, ThreadPool& pool) {
  const ProgramStep& step = *action.step;
  Block &condition = action.blocks[0], &body = action.blocks[1];
  const double share = std::exchange(share_of_trip_, 0);
  if (step.trip_count >= 0) {
    for (int64_t trip = 0; trip < step.trip_count; ++trip) {
      LT_RETURN_IF_ERROR(run(body, pool));
      if (share > 0) progress().add(share);
    }
    return {};
  }
  for (;;) {
    LT_RETURN_IF_ERROR(run(condition, pool));
    if (*address(step.predicate) == std::byte{0}) return {};
    LT_RETURN_IF_ERROR(run(body, pool));
  }
}

size_t Engine::branch_of(const Action& action) const {
  const ProgramStep& step = *action.step;
  const ElementType type = step.instruction->operand(0).shape.type;
  const std::byte* const at = address(step.predicate);
  if (type == ElementType::kPred) return *at != std::byte{0} ? 0 : 1;
  const int64_t index = integer_at(at, type);
  const auto last = static_cast<int64_t>(action.blocks.size()) - 1;
  return static_cast<size_t>(index < 0 || index > last ? last : index);  // out of bounds: the last branch
}

const void* Engine::result(size_t leaf) const { return address(program_->output_slots[leaf]); }

int64_t Engine::arena_touched_bytes() const {
  return resident_bytes({arena_.data(), static_cast<size_t>(arena_.size())});
}

}  // namespace lowtide::engine
