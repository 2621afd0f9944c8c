#pragma once
/// One call of a session: its own progress and cancellation.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/context.h"
#include "session/state.h"

namespace lowtide::engine {

/// While it exists, the session's cancel() reaches it, results of its searches are cached, and its progress is
/// reported.
class Call {
 public:
  explicit Call(Session::State& session) : Call(session, session.context->for_call()) {}
  /// A call on the result of an earlier one, which reports through that one's context.
  Call(Session::State& session, std::shared_ptr<Context> context);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const std::shared_ptr<Context>& context() const { return context_; }
  /// The module for this call only: a copy, unless there are no other references.
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
