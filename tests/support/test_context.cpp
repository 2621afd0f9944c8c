#include "test_context.h"

#include <cstdlib>

#include "session/environment.h"

namespace lowtide::engine {

const std::shared_ptr<Context>& test_context() {
  static const auto kContext = std::make_shared<Context>(
      read_environment([](const char* name) -> const char* { return std::getenv(name); }).settings);
  return kContext;
}

}  // namespace lowtide::engine
