#pragma once
/// A new process's first compilation would wait for the compiler: it loads a library, initialises it, and touches its
/// code for the first time, 7 ms in all.

#include "client.h"

namespace lowtide::pjrt {

/// Compiles an unused program, on a separate thread. Processes that exit meanwhile wait for it, as for
/// any compilation.
void warm_up(PJRT_Client& client);

}  // namespace lowtide::pjrt
