#include "error.h"

#include <exception>
#include <new>

#include "functions.h"

namespace lowtide::pjrt {

PJRT_Error* fault(PJRT_Error_Code code, std::string message) {
  return new PJRT_Error{.code = code, .message = std::move(message)};
}
PJRT_Error* invalid(std::string message) { return fault(PJRT_Error_Code_INVALID_ARGUMENT, std::move(message)); }
PJRT_Error* unimplemented(std::string message) { return fault(PJRT_Error_Code_UNIMPLEMENTED, std::move(message)); }

PJRT_Error* error_of(Fault fault) { return lowtide::pjrt::fault(fault.code, std::move(fault.message)); }

Fault fault_of_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {PJRT_Error_Code_RESOURCE_EXHAUSTED, "no memory is left"};
  } catch (const std::exception& error) {
    return {PJRT_Error_Code_INTERNAL, error.what()};
  }
}

Fault fault_from(const Error& error) {
  const auto code = [&] {
    switch (error.kind) {
      case ErrorKind::kUsage:
      case ErrorKind::kInput: return PJRT_Error_Code_INVALID_ARGUMENT;
      case ErrorKind::kLimit: return PJRT_Error_Code_RESOURCE_EXHAUSTED;
      case ErrorKind::kWrongValues: return PJRT_Error_Code_FAILED_PRECONDITION;
      case ErrorKind::kUnsupported: return PJRT_Error_Code_UNIMPLEMENTED;
      case ErrorKind::kInterrupted: return PJRT_Error_Code_CANCELLED;
      case ErrorKind::kInternal: break;
    }
    return PJRT_Error_Code_INTERNAL;
  };
  return {code(), error.message};
}
PJRT_Error* fault_of(const Error& error) { return error_of(fault_from(error)); }

PJRT_Error* Error_Destroy(PJRT_Error_Destroy_Args& args) {
  delete args.error;
  return nullptr;
}

PJRT_Error* Error_Message(PJRT_Error_Message_Args& args) {
  give(args.error->message, args.message, args.message_size);
  return nullptr;
}

PJRT_Error* Error_GetCode(PJRT_Error_GetCode_Args& args) {
  args.code = args.error->code;
  return nullptr;
}

/// Errors have no payloads; their messages are complete.
PJRT_Error* Error_ForEachPayload(PJRT_Error_ForEachPayload_Args&) { return nullptr; }

}  // namespace lowtide::pjrt
