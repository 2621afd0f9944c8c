#include "running.h"

namespace lowtide::pjrt {
namespace {

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

/// Nobody else can come to hold it. What others did with it has happened before then: the count of a share that goes is
/// an acquiring one, which a look at the count isn't.
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
    const bool stays = home >= 0 && given[static_cast<size_t>(home)].donated;
    if (stays) {
      results[r]->take_over(*arguments[static_cast<size_t>(home)].block);
    } else {
      results[r]->allocate(static_cast<size_t>(executable.results()[r].bytes), ledger);
    }
    places[r] = results[r]->data();
  }
  const SharedArena arena(*ledger, executable.arena_bytes());
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
  const auto finish = [](const std::function<std::optional<Fault>()>& make, Happening& end) {
    std::optional<Fault> why;
    try {
      why = make();
    } catch (...) {
      why = fault_of_exception();
    }
    end.happen(std::move(why));
  };
  if (!done) done = std::make_shared<Happening>();
  if (block->is_filled()) {
    if (auto why = block->wait()) {
      done->happen(std::move(why));
    } else {
      finish(work, *done);
    }
    return event_of(std::move(done));
  }
  auto event = std::unique_ptr<PJRT_Event>(event_of(done));
  device.runner.add([block = std::move(block), work = std::move(work), done, finish](bool given_up) mutable {
    std::optional<Fault> why = given_up ? kEnded : block->wait();
    if (why) return done->happen(std::move(why));
    finish(work, *done);
  });
  return event.release();
}

}  // namespace lowtide::pjrt
