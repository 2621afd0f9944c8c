#include "command_context.h"

#include <cstdlib>
#include <string>

#include "base/files.h"
#include "progress_line.h"
#include "session/environment.h"

namespace lowtide::engine {
namespace {

const Environment& environment() {
  static const Environment kRead = read_environment([](const char* name) -> const char* { return std::getenv(name); });
  return kRead;
}

void print_line(std::string_view line) {
  erase_progress_line();
  (void)write_all(2, std::string(line) + "\n");
}

}  // namespace

const std::shared_ptr<Context>& command_context() {
  static const auto kContext = std::make_shared<Context>(environment().settings, print_line);
  return kContext;
}

double progress_after() { return environment().progress_after; }

}  // namespace lowtide::engine
