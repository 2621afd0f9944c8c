// Runs: arguments are held, donated ones given away, results promised. What takes time runs on the device's own thread.
#include <algorithm>

#include "functions.h"
#include "running.h"

namespace lowtide::pjrt {
namespace {

bool may_donate(const ProgramArray& argument, size_t number, const PJRT_ExecuteOptions* options) {
  if (!argument.can_be_donated) return false;
  if (!options) return true;
  const int64_t* const kept = options->non_donatable_input_indices;
  const int64_t* const end = kept + options->num_non_donatable_input_indices;
  return std::find(kept, end, static_cast<int64_t>(number)) == end;
}

PJRT_Error* hold(PJRT_Buffer* const* buffers, const PJRT_ExecuteOptions* options, Running& running) {
  const std::vector<ProgramArray>& arguments = running.compiled->executable.arguments();
  std::vector<size_t> donated;
  running.arguments.reserve(arguments.size());
  for (size_t a = 0; a < arguments.size(); ++a) {
    std::shared_ptr<Block> block = buffers[a]->block();
    if (!block) return invalid(kDeleted);
    if (static_cast<int64_t>(buffers[a]->bytes) != arguments[a].bytes) {
      return invalid("argument " + std::to_string(a) + " has " + std::to_string(buffers[a]->bytes) +
                     " bytes, expected " + std::to_string(arguments[a].bytes));
    }
    running.arguments.push_back({std::move(block)});
    if (may_donate(arguments[a], a, options)) donated.push_back(a);
  }
  for (const size_t a : donated) {
    for (size_t other = 0; other < arguments.size(); ++other) {
      if (other == a || buffers[other] != buffers[a]) continue;
      const bool both = std::ranges::find(donated, other) != donated.end();
      return invalid(both ? "Attempt to donate the same buffer twice in Execute() (arguments " + std::to_string(a) +
                                " and " + std::to_string(other) + ")"
                          : "Attempt to use a buffer that was donated in the same call to Execute() (arguments " +
                                std::to_string(a) + " and " + std::to_string(other) + ")");
    }
  }
  for (const size_t a : donated) running.arguments[a].given = buffers[a]->donate();
  return nullptr;
}

/// On the caller's thread: what is done before another one is told of it, and what would wait for work of others.
bool runs_here(const Running& running, const PJRT_Device& device) {
  for (const Running::Held& held : running.arguments) {
    if (!held.block->is_filled()) return false;
  }
  return running.compiled->is_quick || device.runner.busy() == Worker::Busy::kWithOthers;
}

}  // namespace

PJRT_Error* LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args& args) {
  const std::shared_ptr<const Compiled>& compiled = args.executable->compiled;
  if (args.executable->deleted) return invalid("the executable has been deleted");
  if (args.num_devices != 1) return unimplemented("runs on several devices at once");
  if (args.num_args != compiled->executable.arguments().size()) {
    return invalid("found " + std::to_string(args.num_args) + " arguments, expected " +
                   std::to_string(compiled->executable.arguments().size()));
  }
  PJRT_Device* const device = args.execute_device ? args.execute_device : compiled->device;
  Running running{.compiled = compiled, .ledger = device->client->ledger};
  PJRT_Buffer* const* const buffers = args.num_args > 0 ? args.argument_lists[0] : nullptr;
  if (PJRT_Error* error = hold(buffers, args.options, running)) return error;

  const bool here = runs_here(running, *device);
  const auto done = here ? nullptr : std::make_shared<Happening>();
  const size_t results = compiled->result_types.size();
  running.results.reserve(results);
  for (size_t r = 0; r < results; ++r) running.results.push_back(Block::promise(done));
  if (here) {
    if (auto why = running.run()) return error_of(std::move(*why));
  }
  for (size_t r = 0; r < results; ++r) {
    args.output_lists[0][r] =
        new PJRT_Buffer(device, compiled->result_types[r], compiled->result_dims[r], running.results[r]);
  }
  if (args.device_complete_events) args.device_complete_events[0] = event_of(done);
  if (here) return nullptr;
  device->runner.add([all = std::make_shared<Running>(std::move(running)), done](bool given_up) {
    std::optional<Fault> why = given_up ? kEnded : all->run();
    all->results.clear();  // they are their buffers' alone, which may donate them
    done->happen(std::move(why));
  });
  return nullptr;
}

}  // namespace lowtide::pjrt
