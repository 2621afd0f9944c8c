#pragma once
/// One run of a program, once its arguments are held.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "buffer.h"
#include "executable.h"

namespace lowtide::pjrt {

/// The fault of runs that were never started.
extern const std::optional<Fault> kEnded;

struct Running {
  struct Held {
    std::shared_ptr<Block> block;
    bool given = false;  ///< donated: its memory may be overwritten if nothing else holds it then
  };
  std::shared_ptr<const Compiled> compiled;
  PJRT_Device* device = nullptr;
  std::vector<Held> arguments;
  std::vector<std::shared_ptr<Block>> results;  ///< without memory, which the run provides

  /// Waits for arguments, runs, and releases the arguments; returns why there are no results, if there are none.
  std::optional<Fault> run();

 private:
  std::optional<Fault> run_on_arguments();
  /// The program, or its variant in place over an argument to which no other references are left, which is then
  /// donated.
  const Executable* choose(std::vector<Argument>& given) const;
};

/// Does something when an array is available: at once if it is, else after all earlier work of its device. Returns the
/// event of its completion.
PJRT_Event* when_filled(PJRT_Device& device, std::shared_ptr<Block> block, std::function<std::optional<Fault>()> work,
                        std::shared_ptr<Happening> done = nullptr);

}  // namespace lowtide::pjrt
