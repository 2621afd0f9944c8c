#include "runtime/executable.h"

#include "ops/verify.h"
#include "runtime/engine.h"
#include "runtime/interpreted.h"
#include "runtime/program_kernels.h"
#include "runtime/runnable.h"

namespace lowtide::engine {
namespace {

struct Routines {
  std::vector<std::unique_ptr<LibraryRoutine>> all;
  int64_t interpreted = 0;
};

void make_routines(const std::vector<ProgramStep>& steps, Routines& routines) {
  for (const ProgramStep& step : steps) {
    if (step.kind == StepKind::kLibrary || step.kind == StepKind::kOther) {
      auto routine = library_routine(*step.instruction);
      if (!routine) {
        routine = interpreted_routine(*step.instruction);
        ++routines.interpreted;
      }
      routines.all.push_back(std::move(routine));
    }
    for (const auto& block : step.blocks) make_routines(block, routines);
  }
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
  LT_RETURN_IF_ERROR(verify_runnable(*program->module));
  auto state = std::make_unique<State>();
  Routines routines;
  LT_RETURN_IF_ERROR(can_run(*program));  // before anything is compiled
  make_routines(program->steps, routines);
  KnownNests own;
  LT_ASSIGN_OR_RETURN(std::vector<Kernel> kernels,
                      program_kernels(*program, options, known != nullptr ? *known : own, state->record));
  state->interpreted = routines.interpreted;
  state->engine = std::make_unique<Engine>(program, std::move(kernels), std::move(routines.all));
  LT_RETURN_IF_ERROR(state->engine->make_arena());
  state->program = std::move(program);
  std::unique_ptr<Executable> executable(new Executable);
  executable->state_ = std::move(state);
  return executable;
}

std::unique_ptr<Executable> Executable::another() const {
  auto state = std::make_unique<State>();
  state->program = state_->program;
  state->record = state_->record;
  Routines routines;
  make_routines(state->program->steps, routines);
  state->interpreted = routines.interpreted;
  state->engine = std::make_unique<Engine>(state->program, state_->engine->kernels(), std::move(routines.all));
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

}  // namespace lowtide::engine
