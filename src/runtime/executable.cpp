#include "runtime/executable.h"

#include <fmt/format.h>

#include <map>

#include "nest/legalise.h"
#include "nest/rebase.h"
#include "ops/tabulate.h"
#include "runtime/engine.h"
#include "runtime/interpreted.h"
#include "schedule/nest_cache.h"

namespace lowtide {
namespace {

Status refuse(const Instruction& instruction, const std::string& why) {
  const Status fault =
      Status::unsupported(fmt::format("{} {}: {}", opcode_name(instruction.opcode), instruction.name, why));
  const auto& source = instruction.parent->module().source;
  return source ? fault.at(*source, instruction.place) : fault;
}

constexpr size_t kNoNest = SIZE_MAX;

struct Nests {
  std::vector<Nest> distinct;
  std::vector<std::vector<int64_t>> skips;  ///< by distinct nest: Kernel::skips
  std::vector<size_t> of_region;            ///< kNoNest: nothing to run
};

/// By region, each of which has one step.
void find_steps(const std::vector<ProgramStep>& steps, std::vector<const ProgramStep*>& step_of) {
  for (const ProgramStep& step : steps) {
    if (step.kind == StepKind::kKernel) step_of[static_cast<size_t>(step.region)] = &step;
    for (const auto& block : step.blocks) find_steps(block, step_of);
  }
}

std::vector<int64_t> bytes_of(const std::vector<int64_t>& first, const Nest& nest) {
  std::vector<int64_t> bytes = first;
  for (size_t b = 0; b < bytes.size(); ++b) bytes[b] *= stored_bytes(nest.buffers[b].type);
  return bytes;
}

Result<Nests> nests_of(const Program& program, KnownNests& lowered) {
  Nests nests;
  std::vector<const ProgramStep*> step_of(program.regions.size(), nullptr);
  find_steps(program.steps, step_of);
  const auto is_moved = [&](size_t r) { return step_of[r]->assembled || step_of[r]->rearrangement; };
  std::vector<const Region*> regions;
  for (size_t r = 0; r < program.regions.size(); ++r) regions.push_back(is_moved(r) ? nullptr : &program.regions[r]);
  const auto nest_of = lowered.of_all(regions);
  std::map<std::pair<const KnownNests::Known*, bool>, size_t> known;
  std::vector<size_t> first;  // region, by distinct nest
  for (size_t r = 0; r < program.regions.size(); ++r) {
    if (is_moved(r)) {
      nests.of_region.push_back(kNoNest);
      continue;
    }
    const auto [place, fresh] = known.try_emplace({nest_of[r].get(), step_of[r]->strips != nullptr}, first.size());
    nests.of_region.push_back(place->second);
    if (fresh) first.push_back(r);
  }
  nests.distinct.resize(first.size());
  nests.skips.resize(first.size());
  ThreadPool().run(std::ssize(first), [&](int64_t task, int) {
    const auto n = static_cast<size_t>(task);
    Nest& nest = nests.distinct[n];
    nest = tabulate(legalise(nest_of[first[n]]->nest, {.sums_in_order = program.module->sums_in_order}));
    // Strips count rows from where a buffer begins.
    if (!step_of[first[n]]->strips) nests.skips[n] = bytes_of(rebase(nest), nest);
  });
  for (size_t n = 0; n < first.size(); ++n) {
    const std::string why = can_compile(nests.distinct[n]);
    if (!why.empty()) return refuse(*program.regions[first[n]].ops.back(), why);
  }
  return nests;
}

struct Routines {
  std::vector<std::unique_ptr<LibraryRoutine>> all;
  int64_t interpreted = 0;
};

Status make_routines(const std::vector<ProgramStep>& steps, Routines& routines) {
  for (const ProgramStep& step : steps) {
    if (step.kind == StepKind::kLibrary || step.kind == StepKind::kOther) {
      auto routine = library_routine(*step.instruction);
      if (!routine) {
        routine = interpreted_routine(*step.instruction);
        ++routines.interpreted;
      }
      if (!routine) return refuse(*step.instruction, "this operation can't be run");
      routines.all.push_back(std::move(routine));
    }
    for (const auto& block : step.blocks) LT_RETURN_IF_ERROR(make_routines(block, routines));
  }
  return {};
}

}  // namespace

struct Executable::State {
  std::shared_ptr<const Program> program;
  CompileRecord record;
  int64_t interpreted = 0;
  std::unique_ptr<Engine> engine;
};

Result<std::unique_ptr<Executable>> Executable::make(std::shared_ptr<const Program> program,
                                                     const CompileOptions& options, KnownNests* known) {
  auto state = std::make_unique<State>();
  Routines routines;
  LT_RETURN_IF_ERROR(make_routines(program->steps, routines));  // refuses before anything is compiled
  std::vector<Kernel> kernels;
  {
    KnownNests own;
    LT_ASSIGN_OR_RETURN(const Nests nests, nests_of(*program, known != nullptr ? *known : own));
    LT_ASSIGN_OR_RETURN(const std::vector<Kernel> made, compile_kernels(nests.distinct, options, &state->record));
    for (const size_t nest : nests.of_region) {
      kernels.push_back(nest == kNoNest ? Kernel{} : made[nest]);
      if (nest != kNoNest) kernels.back().skips = nests.skips[nest];
    }
    state->record.kernels = program->kernels;
  }
  state->interpreted = routines.interpreted;
  state->engine = std::make_unique<Engine>(program, std::move(kernels), std::move(routines.all));
  LT_RETURN_IF_ERROR(state->engine->make_arena());
  state->program = std::move(program);
  std::unique_ptr<Executable> executable(new Executable);
  executable->state_ = std::move(state);
  return executable;
}

Executable::~Executable() = default;
const Program& Executable::program() const { return *state_->program; }
const CompileRecord& Executable::compile_record() const { return state_->record; }
int64_t Executable::interpreted() const { return state_->interpreted; }
Status Executable::run(const RunMemory& memory, ThreadPool& pool) { return state_->engine->run(memory, pool); }
const void* Executable::result(size_t leaf) const { return state_->engine->result(leaf); }
int64_t Executable::arena_touched_bytes() const { return state_->engine->arena_touched_bytes(); }

}  // namespace lowtide
