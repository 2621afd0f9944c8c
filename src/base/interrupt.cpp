#include "base/interrupt.h"

#include <atomic>

namespace lowtide {
namespace {

std::atomic<bool> asked{false};
std::atomic<int> keeping{0}, interruptible{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);  // in signal handlers

}  // namespace

Status interrupted() { return {kInterruptedFault, "interrupted before a plan was found"}; }

bool was_interrupted() { return asked.load(std::memory_order_relaxed); }

bool ask_to_stop() noexcept { return keeping.load() > 0 && !asked.exchange(true); }

KeepWhatIsFound::KeepWhatIsFound() { ++keeping; }
KeepWhatIsFound::~KeepWhatIsFound() { --keeping; }

Interruptible::Interruptible() { ++interruptible; }
Interruptible::~Interruptible() { --interruptible; }

bool should_stop() { return was_interrupted() && interruptible.load(std::memory_order_relaxed) > 0; }

}  // namespace lowtide
