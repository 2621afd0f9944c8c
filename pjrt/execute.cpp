// Starts runs: holds arguments, takes donated ones, promises results. Longer programs run on the device's thread.
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

/// Holds the arguments, which must be on this device. donate() then takes those that are donated.
PJRT_Error* hold(PJRT_Buffer* const* buffers, const PJRT_ExecuteOptions* options, Running& running) {
  const std::vector<ProgramArray>& arguments = running.compiled->executable.arguments();
  running.arguments.reserve(arguments.size());
  for (size_t a = 0; a < arguments.size(); ++a) {
    std::shared_ptr<Block> block = buffers[a]->block();
    if (!block) return invalid(kDeleted);
    if (static_cast<int64_t>(buffers[a]->bytes) != arguments[a].bytes) {
      return invalid("argument " + std::to_string(a) + " has " + std::to_string(buffers[a]->bytes) +
                     " bytes, expected " + std::to_string(arguments[a].bytes));
    }
    if (buffers[a]->device != running.device) {
      return invalid("argument " + std::to_string(a) + " lies on device " +
                     std::to_string(buffers[a]->device->description.id) + ", and the program runs on device " +
                     std::to_string(running.device->description.id) + ": jax.device_put copies it there");
    }
    const Layout& expected = *running.compiled->parameter_layouts[a];
    if (buffers[a]->layout != &expected && !lie_equally(*buffers[a]->layout, expected, buffers[a]->dims)) {
      return invalid("argument " + std::to_string(a) + " lies in memory in the order " + buffers[a]->layout->text +
                     ", and the program takes it in the order " + expected.text);
    }
    running.arguments.push_back({std::move(block), may_donate(arguments[a], a, options)});
  }
  for (size_t a = 0; a < arguments.size(); ++a) {
    if (!running.arguments[a].given) continue;
    for (size_t other = 0; other < arguments.size(); ++other) {
      if (other == a || buffers[other] != buffers[a]) continue;
      return invalid(running.arguments[other].given
                         ? "Attempt to donate the same buffer twice in Execute() (arguments " + std::to_string(a) +
                               " and " + std::to_string(other) + ")"
                         : "Attempt to use a buffer that was donated in the same call to Execute() (arguments " +
                               std::to_string(a) + " and " + std::to_string(other) + ")");
    }
  }
  return nullptr;
}

/// Called when the run can't be refused any more.
void donate(PJRT_Buffer* const* buffers, Running& running) {
  for (size_t a = 0; a < running.arguments.size(); ++a) {
    if (running.arguments[a].given) running.arguments[a].given = buffers[a]->donate();
  }
}

/// True for programs that finish before another thread would start them, and for those that would otherwise wait for
/// others' work.
bool runs_here(const Running& running) {
  for (const Running::Held& held : running.arguments) {
    if (!held.block->is_filled()) return false;
  }
  return running.compiled->is_quick || running.device->runner.busy() == Worker::Busy::kWithOthers;
}

/// Runs the program on this thread, or only promises its results; `done` is null if they are available already.
std::optional<Fault> begin(Running& running, std::shared_ptr<Happening>& done) {
  const bool here = runs_here(running);
  if (!here) done = std::make_shared<Happening>();
  const size_t results = running.compiled->result_types.size();
  running.results.reserve(results);
  for (size_t r = 0; r < results; ++r) running.results.push_back(Block::promise(done));
  return here ? running.run() : std::nullopt;
}

/// Queues the run after all earlier work of the device.
void leave_to_runner(Running running, std::shared_ptr<Happening> done) {
  Worker& runner = running.device->runner;
  runner.add([all = std::make_shared<Running>(std::move(running)), done = std::move(done)](bool given_up) {
    std::optional<Fault> why = given_up ? kEnded : all->run();
    all->results.clear();  // only their buffers hold them now, and may donate them
    done->happen(std::move(why));
  });
}

}  // namespace

PJRT_Error* LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args& args) {
  const std::shared_ptr<const Compiled>& compiled = args.executable->compiled;
  if (args.executable->deleted) return invalid("the executable has been deleted");
  const size_t devices = compiled->devices.size();
  if (args.num_devices != devices || (args.execute_device && devices > 1)) {
    return invalid("found a run on " + std::to_string(args.execute_device ? 1 : args.num_devices) +
                   " devices, expected " + std::to_string(devices));
  }
  if (args.num_args != compiled->executable.arguments().size()) {
    return invalid("found " + std::to_string(args.num_args) + " arguments, expected " +
                   std::to_string(compiled->executable.arguments().size()));
  }
  const auto buffers_of = [&](size_t d) { return args.num_args > 0 ? args.argument_lists[d] : nullptr; };
  std::vector<Running> runs(devices);
  for (size_t d = 0; d < devices; ++d) {
    runs[d].compiled = compiled;
    runs[d].device = args.execute_device ? args.execute_device : compiled->devices[d];
    if (PJRT_Error* error = hold(buffers_of(d), args.options, runs[d])) return error;
  }
  std::vector<std::shared_ptr<Happening>> done(devices);
  for (size_t d = 0; d < devices; ++d) donate(buffers_of(d), runs[d]);
  for (size_t d = 0; d < devices; ++d) {
    if (auto why = begin(runs[d], done[d])) return error_of(std::move(*why));
  }
  for (size_t d = 0; d < devices; ++d) {
    for (size_t r = 0; r < compiled->result_types.size(); ++r) {
      args.output_lists[d][r] =
          new PJRT_Buffer(runs[d].device->memory_of(compiled->result_memory.own[r]), compiled->result_types[r],
                          compiled->result_dims[r], compiled->result_layouts[r], runs[d].results[r]);
    }
    if (args.device_complete_events) args.device_complete_events[d] = event_of(done[d]);
    if (done[d]) leave_to_runner(std::move(runs[d]), done[d]);
  }
  return nullptr;
}

}  // namespace lowtide::pjrt
