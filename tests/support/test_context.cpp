#include "test_context.h"

#include <cstdlib>

#include "session/settings_of.h"

namespace lowtide::engine {

const std::shared_ptr<Context>& test_context() {
  static const auto kContext = std::make_shared<Context>(
      settings_of(options_from_environment([](const char* name) -> const char* { return std::getenv(name); })));
  return kContext;
}

}  // namespace lowtide::engine
