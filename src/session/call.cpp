#include "session/call.h"

#include <algorithm>
#include <chrono>
#include <system_error>

namespace lowtide::engine {
namespace {

constexpr auto kAgain = std::chrono::milliseconds(100);

}  // namespace

Call::Call(Session::State& session)
    : session_(session), context_(session.context->for_call()), keeping_(context_->stop()) {
  {
    const std::lock_guard lock(session_.mutex);
    session_.calls.insert(context_.get());
  }
  if (!session_.options.progress) return;
  context_->progress().set_watched(true);
  try {
    teller_ = std::thread([this] { tell(); });
  } catch (const std::system_error&) {  // work matters more
    context_->progress().set_watched(false);
  }
}

Call::~Call() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  end_.notify_all();
  if (teller_.joinable()) teller_.join();
  const std::lock_guard lock(session_.mutex);
  session_.calls.erase(context_.get());
}

void Call::tell() {
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, kAgain, [&] { return ended_; })) {
    const ProgressNow now = context_->progress().now();
    if (now.name == nullptr) continue;
    lowtide::Progress told{.stage = now.name, .share = 0, .seconds = now.seconds, .best_peak = {}};
    if (now.total > 0) told.share = std::clamp(now.done / now.total, 0.0, 1.0);
    if (now.best_peak >= 0) told.best_peak = now.best_peak;
    lock.unlock();
    session_.options.progress(told);
    lock.lock();
  }
}

std::unique_ptr<Module> Call::own(const Module& module) const {
  auto copy = module.clone();
  copy->set_context(context_);
  copy->sums_in_order = session_.options.exact;
  return copy;
}

Input Call::own(const Input& input) const {
  return {own(*input.module), input.path, input.stage, input.others, input.report, input.warnings};
}

}  // namespace lowtide::engine
