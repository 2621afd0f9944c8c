#pragma once
/// XLA's foreign functions in programs (jax.ffi.ffi_call): the handlers that a host has registered by their targets.

#include <string>
#include <string_view>

#include "foreign_abi.h"
#include "lowtide/host_call.h"

namespace lowtide::pjrt {

/// A target's handlers: one for each stage, of which only that of kExecute must be there.
struct ForeignHandlers {
  XLA_FFI_Handler instantiate = nullptr, prepare = nullptr, initialize = nullptr, execute = nullptr;
};

/// Programs that are compiled from now on may call it. An error: its header's version isn't ours, or there is no
/// handler that executes.
Result<void> register_foreign(std::string target, const ForeignHandlers& handlers);

/// For Options::foreign_calls; empty: nothing is registered under the name.
HostFunction foreign_function(std::string_view target);

/// What handlers call back.
const XLA_FFI_Api& foreign_api();

}  // namespace lowtide::pjrt
