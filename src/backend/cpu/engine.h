#pragma once
/// Walks a program's steps over an address table.

#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "backend/cpu/split.h"
#include "base/memory.h"
#include "library/library.h"
#include "runtime/move_bytes.h"

namespace lowtide::engine {

class Engine {
 public:
  /// `kernels`: one per region. `routines`: one per kLibrary and kOther step, in the order in which steps are laid out.
  Engine(std::shared_ptr<const Program> program, std::vector<Kernel> kernels,
         std::vector<std::unique_ptr<LibraryRoutine>> routines);
  /// Maps the arena; its pages are taken when they are touched. Otherwise the first run() does.
  Status make_arena();
  Status make_host_arena();
  Status run(const RunMemory& memory, ThreadPool& pool);
  const std::vector<Kernel>& kernels() const { return kernels_; }
  const void* result(size_t leaf) const;
  void watch(StepTimes* times) { times_ = times; }
  int64_t arena_touched_bytes() const;

 private:
  struct Action;
  using Block = std::vector<Action>;
  /// A step, bound to what executes it.
  struct Action {
    const ProgramStep* step = nullptr;
    LibraryRoutine* routine = nullptr;
    std::vector<void*> addresses;  ///< of reads, then writes: filled before each execution
    std::vector<Block> blocks;
    std::vector<int32_t> dead;  ///< storages to poison before it
    std::vector<Shift> shifts;  ///< scratch for bytes that move at once
  };

  struct Binding;  ///< position while steps are bound in layout order
  Block bind(std::span<const ProgramStep> steps, Binding& binding);
  Status start(const RunMemory& memory, int threads);
  void fill_constants();
  void poison(std::span<const int32_t> storages);
  Status run(Block& block, ThreadPool& pool);
  Status run_and_show(ThreadPool& pool);
  Status run(Action& action, ThreadPool& pool);
  Status execute(Action& action, ThreadPool& pool);
  Status run_while(Action& action, ThreadPool& pool);
  Status run_trips(Action& action, ThreadPool& pool);
  void copy(Action& action, ThreadPool& pool);
  size_t branch_of(const Action& action) const;
  bool poisons() const { return program_->module->context().settings().poison; }
  Progress& progress() const { return program_->module->context().progress(); }
  void rotate(const ProgramStep& step);
  void take_addresses(Action& action);
  std::byte*& address(int32_t slot) { return addresses_[slot]; }
  std::byte* address(int32_t slot) const { return addresses_[slot]; }

  std::shared_ptr<const Program> program_;
  std::vector<Kernel> kernels_;
  std::vector<std::unique_ptr<LibraryRoutine>> routines_;
  Block steps_;
  Pages arena_, host_arena_;
  std::byte* base_ = nullptr;          ///< the arena in this run: arena_ or the caller's
  std::vector<std::byte*> storages_;   ///< address of each storage in this run
  std::vector<std::byte*> addresses_;  ///< of each slot, now
  std::vector<std::byte*> exchanged_;  ///< scratch for kRotate
  std::vector<std::byte> strip_;       ///< scratch for bytes that move at once
  std::vector<std::vector<Portions>> portions_;
  int portioned_for_ = 0;       ///< threads
  std::vector<double> shares_;  ///< of each outermost step in the total time; only if progress is shown
  double share_of_trip_ = 0;    ///< one iteration's share, while the next loop is an outermost step
  StepTimes* times_ = nullptr;
  bool constants_stay_ = true;
  std::byte* constants_filled_ = nullptr;  ///< the arena that has the constants
};

}  // namespace lowtide::engine
