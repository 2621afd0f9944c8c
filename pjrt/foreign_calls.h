#pragma once
/// XLA's foreign functions in programs (jax.ffi.ffi_call): the handlers that a host has registered by their targets.

#include <string>
#include <string_view>

#include "foreign_abi.h"
#include "lowtide/host_call.h"

namespace lowtide::pjrt {

/// A target's handlers: one for each stage; all but the one for kExecute may be null.
struct ForeignHandlers {
  XLA_FFI_Handler instantiate = nullptr, prepare = nullptr, initialize = nullptr, execute = nullptr;
};

/// Programs that are compiled from now on may call it. An error if its header's version isn't ours, or if no handler
/// executes.
Result<void> register_foreign(std::string target, const ForeignHandlers& handlers);

/// For Options::foreign_calls; empty if nothing is registered under the name.
HostFunction foreign_function(std::string_view target);

/// The functions that handlers call back.
const XLA_FFI_Api& foreign_api();

}  // namespace lowtide::pjrt
