#pragma once
/// One run of a program, from the moment when its arguments are held.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "buffer.h"
#include "executable.h"

namespace lowtide::pjrt {

/// Why that which was never begun has no results.
extern const std::optional<Fault> kEnded;

struct Running {
  struct Held {
    std::shared_ptr<Block> block;
    bool given = false;  ///< its memory may be overwritten, if nobody else holds it by then
  };
  std::shared_ptr<const Compiled> compiled;
  PJRT_Device* device = nullptr;
  std::vector<Held> arguments;
  std::vector<std::shared_ptr<Block>> results;  ///< without memory, which they have from the run

  /// Waits for arguments; why there are no results. Lets go of the arguments.
  std::optional<Fault> run();

 private:
  std::optional<Fault> run_on_arguments();
  /// The program; over one of its arguments, which is given away for that, where nobody else has it any more.
  const Executable* choose(std::vector<Argument>& given) const;
};

/// What is done when an array stands: at once where it does, else behind all that its device was told before.
/// The event of its end.
PJRT_Event* when_filled(PJRT_Device& device, std::shared_ptr<Block> block, std::function<std::optional<Fault>()> work,
                        std::shared_ptr<Happening> done = nullptr);

}  // namespace lowtide::pjrt
