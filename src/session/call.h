#pragma once
/// One call of a session: its own progress, its own request to stop.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/context.h"
#include "session/state.h"

namespace lowtide::engine {

/// While it stands the session's cancel() reaches it, what is found is kept, and whoever waits is told how far it is.
class Call {
 public:
  explicit Call(Session::State& session) : Call(session, session.context->for_call()) {}
  /// A call on what an earlier one made, which tells of its work by that one's context.
  Call(Session::State& session, std::shared_ptr<Context> context);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const std::shared_ptr<Context>& context() const { return context_; }
  /// The module for this call alone: a copy, unless nobody else has it.
  Input own(lowtide::Module module) const;

 private:
  void tell();

  Session::State& session_;
  std::shared_ptr<Context> context_;
  KeepWhatIsFound keeping_;
  std::mutex mutex_;
  std::condition_variable end_;
  bool ended_ = false;
  std::thread teller_;
};

}  // namespace lowtide::engine
