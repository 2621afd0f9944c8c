#pragma once
/// Where a module lives: the settings, the threads, and whoever waits for it. Modules know theirs (Module::context), so
/// that every pass and plan can ask without any state of the process; two contexts never meet.

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
  /// `lines`: where lines of debugging and warnings go; empty: stderr.
  explicit Context(Settings settings = {}, std::function<void(std::string_view line)> lines = {});
  /// With the same settings and threads; its progress and its request to stop are its own.
  std::shared_ptr<Context> for_call() const;

  const Settings& settings() const { return shared_->settings; }
  /// Started by the first job that can use them; its callers may be several threads.
  ThreadPool& pool() const { return shared_->pool; }

  /// Whether `level` is shown for `topic`, a pass's name or empty where none is concerned.
  bool shows(DebugLevel level, std::string_view topic = {}) const;
  /// Is anything shown or dumped?
  bool is_debugging() const;
  bool is_disabled(std::string_view pass) const;
  /// Of debugging, or a warning.
  void print(std::string_view line) const;

  /// What code above keeps for as long as the session lives: T(const Context&), made when it is first asked for.
  template <class T>
  T& own() const {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    std::shared_ptr<void>& kept = shared_->kept[std::type_index(typeid(T))];
    if (!kept) kept = std::make_shared<T>(*this);
    return *static_cast<T*>(kept.get());
  }

  Progress& progress() { return progress_; }
  StopRequest& stop() { return stop_; }
  /// Is interruptible work to be given up now? Asked between passes and plans, from any thread.
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
