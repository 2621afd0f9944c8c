#pragma once
/// What XLA's compiler says that a program takes when it runs.

#include <string>

#include "lowtide/explanation.h"

namespace lowtide {

struct XlaAccount {
  std::string platform;  ///< "cpu, jaxlib 0.10.2"
  Sizes sizes;           ///< bytes; `load` isn't said
};

/// Of a program and of what fit made of it.
struct XlaAccounts {
  XlaAccount before, after;
  bool stays = false;  ///< XLA takes no less for what was made: the program as it was given is handed on
};

}  // namespace lowtide
