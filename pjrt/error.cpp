#include "error.h"

#include "functions.h"

namespace lowtide::pjrt {

PJRT_Error* fault(PJRT_Error_Code code, std::string message) {
  return new PJRT_Error{.code = code, .message = std::move(message)};
}
PJRT_Error* invalid(std::string message) { return fault(PJRT_Error_Code_INVALID_ARGUMENT, std::move(message)); }
PJRT_Error* unimplemented(std::string message) { return fault(PJRT_Error_Code_UNIMPLEMENTED, std::move(message)); }

PJRT_Error* fault_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kInput: return invalid(error.message);
    case ErrorKind::kLimit: return fault(PJRT_Error_Code_RESOURCE_EXHAUSTED, error.message);
    case ErrorKind::kWrongValues: return fault(PJRT_Error_Code_FAILED_PRECONDITION, error.message);
    case ErrorKind::kUnsupported: return unimplemented(error.message);
    case ErrorKind::kInterrupted: return fault(PJRT_Error_Code_CANCELLED, error.message);
    case ErrorKind::kInternal: break;
  }
  return fault(PJRT_Error_Code_INTERNAL, error.message);
}

PJRT_Error* Error_Destroy(PJRT_Error_Destroy_Args& args) {
  delete args.error;
  return nullptr;
}

PJRT_Error* Error_Message(PJRT_Error_Message_Args& args) {
  args.message = args.error->message.data();
  args.message_size = args.error->message.size();
  return nullptr;
}

PJRT_Error* Error_GetCode(PJRT_Error_GetCode_Args& args) {
  args.code = args.error->code;
  return nullptr;
}

/// There is none: messages say all.
PJRT_Error* Error_ForEachPayload(PJRT_Error_ForEachPayload_Args&) { return nullptr; }

}  // namespace lowtide::pjrt
