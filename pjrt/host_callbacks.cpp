#include "host_callbacks.h"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "lowtide/visibility.h"

extern "C" {
/// Calls callback number `id` on the arrays. If it fails, it calls lowtide_callback_failed(report) with the reason and
/// returns a number other than 0.
typedef int (*lowtide_callback_call)(int64_t id, const void* const* operands, void* const* results, void* report);
/// Called when a program with callback `id` has been compiled (1) or destroyed (-1).
typedef void (*lowtide_callback_hold)(int64_t id, int change);
}

namespace lowtide::pjrt {
namespace {

/// The host's functions, and the number of calls in progress.
struct Callbacks {
  std::mutex mutex;
  std::condition_variable left;
  lowtide_callback_call call = nullptr;
  lowtide_callback_hold hold = nullptr;
  int64_t inside = 0;
};

/// Never destroyed: hosts don't destroy all clients, and their runs may still need it.
Callbacks& callbacks() {
  static Callbacks& all = *new Callbacks;
  return all;
}

/// While one exists, the host's functions are kept.
class Visit {
 public:
  Visit() {
    const std::lock_guard lock(callbacks().mutex);
    ++callbacks().inside;
    call = callbacks().call;
    hold = callbacks().hold;
  }
  ~Visit() {
    const std::lock_guard lock(callbacks().mutex);
    if (--callbacks().inside == 0) callbacks().left.notify_all();
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  lowtide_callback_call call = nullptr;
  lowtide_callback_hold hold = nullptr;
};

/// Calls of this program whose effects another device performs; null if there are none.
thread_local const std::vector<HostCallSite>* t_elsewhere = nullptr;

std::optional<int64_t> id_of(std::string_view config) {
  const size_t begin = config.find_first_of("0123456789");
  if (begin == std::string_view::npos) return {};
  int64_t id = 0;
  const auto [end, error] = std::from_chars(config.data() + begin, config.data() + config.size(), id);
  return error == std::errc() ? std::optional(id) : std::nullopt;
}

}  // namespace

Result<void> call_back(const HostCall& call) {
  const std::optional<int64_t> id = id_of(call.config);
  if (!id) return Error{ErrorKind::kInput, "found no number of a callback in '" + std::string(call.config) + "'"};
  if (t_elsewhere) {
    if (call.results.empty()) return {};  // only an effect
    const HostCallSite effect{std::string(call.name), std::string(call.config), true};
    if (std::ranges::find(*t_elsewhere, effect) != t_elsewhere->end()) {
      return Error{
          ErrorKind::kUnsupported,
          "io_callback that gives arrays, in a program that several devices run as a whole: put the arguments on one "
          "device, or the function into jax.shard_map"};
    }
  }
  std::vector<const void*> operands;
  std::vector<void*> results;
  for (const HostOperand& operand : call.operands) operands.push_back(operand.data);
  for (const HostResult& result : call.results) results.push_back(result.data);
  std::string why;
  const Visit visit;
  if (!visit.call) return Error{ErrorKind::kInterrupted, "the host takes no callbacks any more"};
  if (visit.call(*id, operands.data(), results.data(), &why) == 0) return {};
  return Error{ErrorKind::kInternal, "a host callback failed: " + why};
}

EffectsElsewhere::EffectsElsewhere(const std::vector<HostCallSite>* calls)
    : before_(std::exchange(t_elsewhere, calls)) {}
EffectsElsewhere::~EffectsElsewhere() { t_elsewhere = before_; }

HeldCallbacks::HeldCallbacks(const std::vector<HostCallSite>& calls) {
  for (const HostCallSite& site : calls) {
    if (site.name != kCallbackFunction) continue;
    if (const auto id = id_of(site.config)) ids_.push_back(*id);
  }
  if (ids_.empty()) return;
  const Visit visit;
  for (const int64_t id : ids_) {
    if (visit.hold) visit.hold(id, 1);
  }
}

HeldCallbacks::~HeldCallbacks() {
  if (ids_.empty()) return;
  const Visit visit;
  for (const int64_t id : ids_) {
    if (visit.hold) visit.hold(id, -1);
  }
}

}  // namespace lowtide::pjrt

/// Sets the function that calls the host's callbacks, and the one that is notified of programs with them. With nulls,
/// no callbacks are called from now on, and calls in progress have ended on return.
extern "C" LOWTIDE_PUBLIC void lowtide_set_callbacks(lowtide_callback_call call, lowtide_callback_hold hold) {
  lowtide::pjrt::Callbacks& all = lowtide::pjrt::callbacks();
  std::unique_lock lock(all.mutex);
  all.call = call;
  all.hold = hold;
  if (!call) all.left.wait(lock, [&] { return all.inside == 0; });
}

extern "C" LOWTIDE_PUBLIC void lowtide_callback_failed(void* report, const char* why, size_t bytes) {
  static_cast<std::string*>(report)->assign(why, bytes);
}
