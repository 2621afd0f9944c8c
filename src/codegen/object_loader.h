#pragma once
/// Maps a relocatable x86-64 object into this process: code readable and executable, constants read-only.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace lowtide::engine {

struct LoadedObject {
  std::shared_ptr<void> pages;  ///< unmapped with its last owner
  const void* symbol = nullptr;
};

/// Loads the sections of `object` that occupy memory and finds the function `symbol`. A kernel calls nothing outside of
/// itself, so a relocation against an undefined symbol is refused, as is anything else that a kernel has no need for.
Result<LoadedObject> load_object(std::string_view object, std::string_view symbol);

}  // namespace lowtide::engine
