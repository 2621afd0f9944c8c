// One run: arguments are held, donated ones given away, results get memory of their own or that of an argument.
#include <algorithm>

#include "buffer.h"
#include "executable.h"
#include "functions.h"

namespace lowtide::pjrt {
namespace {

/// Arguments of a run while it lasts.
struct Held {
  std::vector<std::shared_ptr<Block>> blocks;
  std::vector<Argument> arguments;
};

/// An arena that programs share as they run after each other; small ones have their own, in which constants stay.
class SharedArena {
 public:
  SharedArena(Ledger& ledger, int64_t bytes) : ledger_(ledger) {
    constexpr int64_t kSmall = int64_t{1} << 20;
    if (bytes >= kSmall) piece_ = ledger.arenas.take(static_cast<size_t>(bytes));
  }
  ~SharedArena() {
    if (piece_.data) ledger_.arenas.give_back(piece_);
  }
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;
  Arena given() const { return {piece_.data, static_cast<int64_t>(piece_.bytes)}; }

 private:
  Ledger& ledger_;
  Pool::Piece piece_;
};

bool may_donate(const Array& argument, size_t number, const PJRT_ExecuteOptions* options) {
  if (!argument.can_be_donated) return false;
  if (!options) return true;
  const int64_t* const kept = options->non_donatable_input_indices;
  const int64_t* const end = kept + options->num_non_donatable_input_indices;
  return std::find(kept, end, static_cast<int64_t>(number)) == end;
}

PJRT_Error* hold(const Compiled& compiled, PJRT_Buffer* const* buffers, const PJRT_ExecuteOptions* options,
                 Held& held) {
  const std::vector<Array>& arguments = compiled.executable.arguments();
  std::vector<size_t> donated;
  for (size_t a = 0; a < arguments.size(); ++a) {
    std::shared_ptr<Block> block = buffers[a]->block();
    if (!block) return invalid(kDeleted);
    if (static_cast<int64_t>(buffers[a]->bytes) != arguments[a].bytes) {
      return invalid("argument " + std::to_string(a) + " has " + std::to_string(buffers[a]->bytes) +
                     " bytes, expected " + std::to_string(arguments[a].bytes));
    }
    held.arguments.push_back({block->data(), false});
    held.blocks.push_back(std::move(block));
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
  for (const size_t a : donated) held.arguments[a].donated = buffers[a]->donate(held.blocks[a]);
  return nullptr;
}

}  // namespace

PJRT_Error* LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args& args) {
  const Compiled& compiled = *args.executable->compiled;
  if (args.executable->deleted) return invalid("the executable has been deleted");
  if (args.num_devices != 1) return unimplemented("runs on several devices at once");
  const std::vector<Array>& results = compiled.executable.results();
  if (args.num_args != compiled.executable.arguments().size()) {
    return invalid("found " + std::to_string(args.num_args) + " arguments, expected " +
                   std::to_string(compiled.executable.arguments().size()));
  }
  Held held;
  PJRT_Buffer* const* const buffers = args.num_args > 0 ? args.argument_lists[0] : nullptr;
  if (PJRT_Error* error = hold(compiled, buffers, args.options, held)) return error;

  PJRT_Device* const device = args.execute_device ? args.execute_device : compiled.device;
  const std::vector<int64_t>& homes = compiled.executable.result_homes();
  std::vector<std::shared_ptr<Block>> made(results.size());
  std::vector<void*> places(results.size());
  for (size_t r = 0; r < results.size(); ++r) {
    const int64_t home = homes[r];
    const bool stays = home >= 0 && held.arguments[static_cast<size_t>(home)].donated;
    made[r] = stays ? held.blocks[static_cast<size_t>(home)]
                    : Block::make(static_cast<size_t>(results[r].bytes), device->client->ledger);
    places[r] = made[r]->data();
  }
  const SharedArena arena(*device->client->ledger, compiled.executable.arena_bytes());
  const Result<void> ran = compiled.executable.run(held.arguments, places, arena.given());
  if (!ran.ok()) return fault_of(ran.error());
  for (size_t r = 0; r < results.size(); ++r) {
    args.output_lists[0][r] =
        new PJRT_Buffer(device, compiled.result_types[r], compiled.result_dims[r], std::move(made[r]));
  }
  if (args.device_complete_events) args.device_complete_events[0] = ready_event();
  return nullptr;
}

}  // namespace lowtide::pjrt
