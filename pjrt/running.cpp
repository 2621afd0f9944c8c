#include "running.h"

namespace lowtide::pjrt {
namespace {

/// An arena that programs share when they run one after another; small programs have their own, in which constants
/// stay.
class SharedArena {
 public:
  SharedArena(Pool& arenas, int64_t bytes) : arenas_(arenas) {
    constexpr int64_t kSmall = int64_t{1} << 20;
    if (bytes >= kSmall) piece_ = arenas.take(static_cast<size_t>(bytes));
  }
  ~SharedArena() {
    if (piece_.data) arenas_.give_back(piece_);
  }
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;
  Arena given() const { return {piece_.data, static_cast<int64_t>(piece_.bytes)}; }

 private:
  Pool& arenas_;
  Pool::Piece piece_;
};

/// If so, no other thread can acquire it any more. Dropping one more reference synchronises with the accesses of former
/// holders; reading the count doesn't.
bool is_the_only_holder(const std::shared_ptr<Block>& block) {
  if (block.use_count() != 1) return false;
  std::shared_ptr<Block>(block).reset();
  return true;
}

}  // namespace

const std::optional<Fault> kEnded = Fault{PJRT_Error_Code_CANCELLED, "the client has ended"};

const Executable* Running::choose(std::vector<Argument>& given) const {
  if (compiled->in_place) {
    for (const size_t a : compiled->in_place->candidates()) {
      if (!arguments[a].block->is_ours() || !is_the_only_holder(arguments[a].block)) continue;
      const Executable* const over = compiled->in_place->over(a);
      if (!over) continue;
      given[a].donated = true;
      return over;
    }
  }
  return &compiled->executable;
}

std::optional<Fault> Running::run_on_arguments() {
  std::vector<Argument> given;
  given.reserve(arguments.size());
  for (const Held& held : arguments) {
    if (auto why = held.block->wait()) return why;
    const bool alone = held.given && is_the_only_holder(held.block) && held.block->is_ours();
    given.push_back({held.block->data(), alone});
  }
  const Executable& executable = *choose(given);
  const std::vector<int64_t>& homes = executable.result_homes();
  std::vector<void*> places(results.size());
  for (size_t r = 0; r < results.size(); ++r) {
    const int64_t home = homes[r];
    const bool stays = home >= 0 && given[home].donated;
    if (stays) {
      results[r]->take_over(*arguments[home].block);
    } else {
      results[r]->allocate(static_cast<size_t>(executable.results()[r].bytes), device->ledger);
    }
    places[r] = results[r]->data();
  }
  const SharedArena arena(device->ledger->pools->arenas, executable.arena_bytes());
  const bool repeats = compiled->is_repeated && device != compiled->devices[0];
  const EffectsElsewhere elsewhere(repeats ? &compiled->host_calls : nullptr);
  const Result<void> ran = executable.run(given, places, arena.given());
  if (!ran.ok()) return fault_from(ran.error());
  return {};
}

std::optional<Fault> Running::run() {
  std::optional<Fault> why;
  try {
    why = run_on_arguments();
  } catch (...) {
    why = fault_of_exception();
  }
  arguments.clear();
  return why;
}

PJRT_Event* when_filled(PJRT_Device& device, std::shared_ptr<Block> block, std::function<std::optional<Fault>()> work,
                        std::shared_ptr<Happening> done) {
  // Arguments are released before completion is reported, as the host may then query memory use.
  const auto finish = [](std::function<std::optional<Fault>()> make, std::shared_ptr<Block> of, Happening& end) {
    std::optional<Fault> why = of->wait();
    try {
      if (!why) why = make();
    } catch (...) {
      why = fault_of_exception();
    }
    make = nullptr;
    of.reset();
    end.happen(std::move(why));
  };
  if (!done) done = std::make_shared<Happening>();
  if (block->is_filled()) {
    finish(std::move(work), std::move(block), *done);
    return event_of(std::move(done));
  }
  auto event = std::unique_ptr<PJRT_Event>(event_of(done));
  device.runner.add([block = std::move(block), work = std::move(work), done, finish](bool given_up) mutable {
    if (given_up) return done->happen(kEnded);
    finish(std::move(work), std::move(block), *done);
  });
  return event.release();
}

}  // namespace lowtide::pjrt
