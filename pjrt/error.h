#pragma once
/// Errors as PJRT hands them out.

#include <string>

#include "abi.h"
#include "lowtide/error.h"

/// The first word of every object stays null: there newer hosts look for a table of functions.
struct PJRT_Error {
  void* functions = nullptr;
  PJRT_Error_Code code = PJRT_Error_Code_INTERNAL;
  std::string message;
};

namespace lowtide::pjrt {

PJRT_Error* fault(PJRT_Error_Code code, std::string message);
PJRT_Error* invalid(std::string message);
PJRT_Error* unimplemented(std::string message);
/// Ours with the code that says the same.
PJRT_Error* fault_of(const Error& error);

}  // namespace lowtide::pjrt
