#include "event.h"

#include "functions.h"
#include "worker.h"

namespace lowtide::pjrt {

void Happening::happen(std::optional<Fault> fault) {
  std::vector<std::pair<PJRT_OnReady, void*>> waiting;
  {
    const std::lock_guard lock(mutex_);
    if (happened_) return;
    happened_ = true;
    fault_ = std::move(fault);
    waiting.swap(waiting_);
  }
  changed_.notify_all();
  if (waiting.empty()) return;
  const auto tell = [](const std::vector<std::pair<PJRT_OnReady, void*>>& all, const std::optional<Fault>& why) {
    for (const auto& [callback, user_arg] : all) callback(why ? error_of(*why) : nullptr, user_arg);
  };
  Worker* const news = Worker::news_of_this_thread();
  if (!news) return tell(waiting, fault_);
  news->add([all = std::move(waiting), why = fault_, tell](bool) { tell(all, why); });
}

bool Happening::has_happened() const {
  const std::lock_guard lock(mutex_);
  return happened_;
}

std::optional<Fault> Happening::fault() const {
  const std::lock_guard lock(mutex_);
  return fault_;
}

PJRT_Error* Happening::error() const {
  const std::optional<Fault> why = fault();
  return why ? error_of(*why) : nullptr;
}

void Happening::wait_for() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return happened_; });
}

PJRT_Error* Happening::wait() const {
  wait_for();
  return error();
}

void Happening::when_happened(PJRT_OnReady callback, void* user_arg) {
  {
    const std::lock_guard lock(mutex_);
    if (!happened_) return waiting_.emplace_back(callback, user_arg), void();
  }
  callback(error(), user_arg);
}

PJRT_Event* failed_event(PJRT_Error_Code code, std::string message) {
  auto event = std::make_unique<PJRT_Event>();
  event->of = std::make_shared<Happening>();
  event->of->happen(Fault{code, std::move(message)});
  return event.release();
}

PJRT_Error* Event_Destroy(PJRT_Event_Destroy_Args& args) {
  delete args.event;
  return nullptr;
}

PJRT_Error* Event_IsReady(PJRT_Event_IsReady_Args& args) {
  args.is_ready = !args.event->of || args.event->of->has_happened();
  return nullptr;
}

PJRT_Error* Event_Error(PJRT_Event_Error_Args& args) { return args.event->of ? args.event->of->error() : nullptr; }
PJRT_Error* Event_Await(PJRT_Event_Await_Args& args) { return args.event->of ? args.event->of->wait() : nullptr; }

PJRT_Error* Event_OnReady(PJRT_Event_OnReady_Args& args) {
  if (args.event->of) {
    args.event->of->when_happened(args.callback, args.user_arg);
  } else {
    args.callback(nullptr, args.user_arg);
  }
  return nullptr;
}

PJRT_Error* Event_Create(PJRT_Event_Create_Args& args) {
  args.event = new PJRT_Event{.of = std::make_shared<Happening>()};
  return nullptr;
}

PJRT_Error* Event_Set(PJRT_Event_Set_Args& args) {
  if (!args.event->of || args.event->of->has_happened()) return invalid("the event has happened before");
  std::optional<Fault> fault;
  if (args.error_code != 0) fault = {args.error_code, std::string(args.error_message, args.error_message_size)};
  args.event->of->happen(std::move(fault));
  return nullptr;
}

}  // namespace lowtide::pjrt
