#pragma once
/// A program's memory in the words of an account, so that reports tell of plans as they tell of modules as given.

#include "analysis/account.h"
#include "schedule/program.h"

namespace lowtide::engine {

/// Buffers are the program's storages; bytes are logical.
Account account_of(const Program& program);

}  // namespace lowtide::engine
