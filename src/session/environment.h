#pragma once
/// The variables that a session's settings may come from. Nothing here reads the environment: a command, or whoever
/// opens sessions for a user, hands in how (std::getenv); docs/debugging.md describes them.

#include "base/settings.h"

namespace lowtide::engine {

struct Environment {
  Settings settings;
  double progress_after = 2;  ///< seconds: progress is drawn of what takes longer
};

/// get: null for a name that isn't set. What is set to something else than it may be is as good as unset.
///   LOWTIDE_DEBUG=1..5[,pass,..]   Settings::debug, debug_filter
///   LOWTIDE_DUMP=dir               Settings::dump_directory
///   LOWTIDE_DISABLE=pass,..        Choices::disabled
///   LOWTIDE_ISA=avx2|avx512        Choices::isa
///   LOWTIDE_CHECK=1                Choices::check
///   LOWTIDE_POISON=1               Settings::poison
///   LOWTIDE_THREADS=n              Settings::threads
///   LOWTIDE_PROGRESS=seconds       progress_after
///   LOWTIDE_CACHE=dir|off          Settings::cache_directory; off, or set to nothing: none. Unset: that of the user,
///                                  $XDG_CACHE_HOME/lowtide, else $HOME/.cache/lowtide
Environment read_environment(const char* (*get)(const char* name));

}  // namespace lowtide::engine
