#pragma once
/// The memory that XLA's compiler reports for a program.

#include <string>

#include "lowtide/explanation.h"

namespace lowtide {

struct XlaAccount {
  std::string platform;  ///< "cpu, jaxlib 0.10.2"
  Sizes sizes;           ///< bytes; `load` isn't reported
};

/// XLA's reports for a program and for its rewritten form.
struct XlaAccounts {
  XlaAccount before, after;
  bool stays = false;  ///< XLA needs no less for the rewritten program: the original is handed on
};

}  // namespace lowtide
