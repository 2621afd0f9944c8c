#include "base/context.h"

#include <algorithm>
#include <cstdio>

namespace lowtide::engine {

Context::Context(Settings settings, std::function<void(std::string_view line)> lines) {
  const int threads = settings.threads;
  shared_ = std::shared_ptr<Shared>(new Shared{std::move(settings), std::move(lines), ThreadPool(threads), {}, {}});
}

std::shared_ptr<Context> Context::for_call() const { return std::shared_ptr<Context>(new Context(shared_)); }

bool Context::shows(DebugLevel level, std::string_view topic) const {
  const Settings& s = settings();
  if (s.debug < static_cast<int>(level)) return false;
  return topic.empty() || s.debug_filter.empty() || std::ranges::find(s.debug_filter, topic) != s.debug_filter.end();
}

bool Context::is_debugging() const { return settings().debug > 0 || !settings().dump_directory.empty(); }

bool Context::is_disabled(std::string_view pass) const {
  const auto& disabled = settings().choices.disabled;
  return std::ranges::find(disabled, pass) != disabled.end();
}

void Context::print(std::string_view line) const {
  if (shared_->lines) return shared_->lines(line);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fputc('\n', stderr);
}

}  // namespace lowtide::engine
