#pragma once
/// A program's memory as an account, so that reports treat plans like modules as given.

#include "analysis/account.h"
#include "schedule/program.h"

namespace lowtide::engine {

/// Buffers are the program's storages; bytes are logical.
Account account_of(const Program& program);

}  // namespace lowtide::engine
