#include "backend/cpu/cpu_backend.h"

#include "backend/cpu/engine.h"
#include "backend/cpu/program_kernels.h"
#include "library/library.h"
#include "runtime/interpreted.h"
#include "target/cpu.h"

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
      routine->prepare();
      routines.all.push_back(std::move(routine));
    }
    for (const auto& block : step.blocks) make_routines(block, routines);
  }
}

class CpuProgram final : public LoadedProgram {
 public:
  CpuProgram(std::shared_ptr<const Program> program, std::vector<Kernel> kernels, const CompileRecord& record)
      : LoadedProgram(std::move(program)), record_(record) {
    Routines routines;
    make_routines(shared_program()->steps, routines);
    interpreted_ = routines.interpreted;
    engine_ = std::make_unique<Engine>(shared_program(), std::move(kernels), std::move(routines.all));
  }

  Status make_arena() { return engine_->make_arena(); }

  const CompileRecord& compile_record() const override { return record_; }
  int64_t interpreted() const override { return interpreted_; }
  std::unique_ptr<LoadedProgram> another() const override {
    return std::make_unique<CpuProgram>(shared_program(), engine_->kernels(), record_);
  }
  Status run(const RunMemory& memory, ThreadPool& pool) override { return engine_->run(memory, pool); }
  const void* result(size_t leaf) const override { return engine_->result(leaf); }
  bool watch(StepTimes* times) override {
    engine_->watch(times);
    return true;
  }
  int64_t arena_touched_bytes() const override { return engine_->arena_touched_bytes(); }

 private:
  CompileRecord record_;
  int64_t interpreted_ = 0;
  std::unique_ptr<Engine> engine_;
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const CompileOptions& options) : options_(options) {}
  const Target& target() const override { return cpu_target(); }
  bool runs_in_order() const override { return true; }

  Result<std::unique_ptr<LoadedProgram>> load(LoweredProgram lowered) const override {
    CompileRecord record;
    LT_ASSIGN_OR_RETURN(std::vector<Kernel> kernels, program_kernels(lowered, options_, record));
    auto loaded = std::make_unique<CpuProgram>(std::move(lowered.program), std::move(kernels), record);
    LT_RETURN_IF_ERROR(loaded->make_arena());
    return std::unique_ptr<LoadedProgram>(std::move(loaded));
  }

 private:
  const CompileOptions options_;
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend kBackend({});
  return kBackend;
}

std::unique_ptr<const Backend> make_cpu_backend(const CompileOptions& options) {
  return std::make_unique<const CpuBackend>(options);
}

}  // namespace lowtide::engine
