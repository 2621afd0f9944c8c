#include "session/call.h"

#include <chrono>
#include <system_error>

namespace lowtide::engine {

Call::Call(Session::State& session, std::shared_ptr<Context> context)
    : session_(session), context_(std::move(context)), keeping_(context_->stop()) {
  session_.calls.add(*context_);
  if (!session_.options.progress) return;
  context_->progress().set_watched(true);
  try {
    teller_ = std::thread([this] { tell(); });
  } catch (const std::system_error&) {  // go on without reports of progress
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
  session_.calls.remove(*context_);
}

void Call::tell() {
  const std::chrono::duration<double> again(session_.options.progress_interval);
  bool told_of_any = false;
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, again, [&] { return ended_; })) {
    const ProgressNow now = context_->progress().now();
    const bool stands = now.name != nullptr;
    if (!stands && !told_of_any) continue;
    told_of_any = stands;
    lowtide::Progress told;
    if (stands) told = {.stage = now.name, .done = now.done, .total = now.total, .seconds = now.seconds};
    if (stands && now.best_peak >= 0) told.best_peak = now.best_peak;
    lock.unlock();
    session_.options.progress(told);
    lock.lock();
  }
}

Input Call::own(lowtide::Module module) const {
  const std::shared_ptr<const lowtide::Module::State>& state = module.state();
  const bool is_last = state.use_count() == 1;
  const Input& from = state->input;
  Input input;
  if (is_last) {
    // Dropping one more copy synchronises with what other owners did before they dropped theirs.
    std::shared_ptr<const lowtide::Module::State>(state).reset();
    input = std::move(const_cast<lowtide::Module::State&>(*state).input);
  } else {
    input = {from.module->clone(), from.path, from.stage, from.others, from.report, from.warnings};
  }
  input.module->set_context(context_);
  input.module->sums_in_order = session_.options.exact;
  return input;
}

}  // namespace lowtide::engine
