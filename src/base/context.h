#pragma once
/// The session of a module: settings, threads, progress and stop request. Every module refers to its context
/// (Module::context), so that passes and plans need no global state; two contexts share nothing.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <typeindex>

#include "base/interrupt.h"
#include "base/progress.h"
#include "base/settings.h"
#include "base/thread_pool.h"

namespace lowtide::engine {

class Context {
 public:
  /// `lines`: receives lines of debugging and warnings; empty: they go to stderr.
  explicit Context(Settings settings = {}, std::function<void(std::string_view line)> lines = {});
  /// A context with the same settings and threads, but its own progress and stop request.
  std::shared_ptr<Context> for_call() const;

  const Settings& settings() const { return shared_->settings; }
  /// Its threads are started by the first job that can use them; several threads may call it.
  ThreadPool& pool() const { return shared_->pool; }

  /// Is `level` shown for `topic`, a pass's name, or empty if no pass is concerned?
  bool shows(DebugLevel level, std::string_view topic = {}) const;
  /// Is anything shown or dumped?
  bool is_debugging() const;
  bool is_disabled(std::string_view pass) const;
  /// Prints a line of debugging, or a warning.
  void print(std::string_view line) const;

  /// State of higher layers that lives as long as the session: T(const Context&), made at the first request.
  template <class T>
  T& own() const {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    std::shared_ptr<void>& kept = shared_->kept[std::type_index(typeid(T))];
    if (!kept) kept = std::make_shared<T>(*this);
    return *static_cast<T*>(kept.get());
  }

  Progress& progress() { return progress_; }
  StopRequest& stop() { return stop_; }
  /// Should interruptible work stop now? Checked between passes and plans, from any thread.
  bool should_stop() const { return stop_.should_stop(); }

 private:
  struct Shared {
    Settings settings;
    std::function<void(std::string_view)> lines;
    ThreadPool pool;
    std::mutex mutex;
    std::map<std::type_index, std::shared_ptr<void>> kept;
  };
  explicit Context(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  std::shared_ptr<Shared> shared_;
  Progress progress_;
  StopRequest stop_;
};

}  // namespace lowtide::engine
