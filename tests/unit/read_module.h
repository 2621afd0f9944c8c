#pragma once
/// HLO text that a test has written, as a module.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "text/hlo.h"

namespace lowtide::engine {

/// Fails the test where the text is none; null then.
inline std::unique_ptr<Module> read(const std::string& text) {
  auto module = parse_hlo(std::make_shared<const Source>(Source{"test.hlo", text}));
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.ok() ? module.take() : nullptr;
}

}  // namespace lowtide::engine
