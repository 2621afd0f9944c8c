#pragma once
/// Errors as PJRT returns them.

#include <string>

#include "abi.h"
#include "lowtide/error.h"

/// The first word of every object stays null: newer hosts expect a table of functions there.
struct PJRT_Error {
  void* functions = nullptr;
  PJRT_Error_Code code = PJRT_Error_Code_INTERNAL;
  std::string message;
};

namespace lowtide::pjrt {

/// What went wrong, before it becomes a PJRT_Error.
struct Fault {
  PJRT_Error_Code code = PJRT_Error_Code_INTERNAL;
  std::string message;
};

PJRT_Error* fault(PJRT_Error_Code code, std::string message);
PJRT_Error* error_of(Fault fault);
/// The fault for the exception being handled.
Fault fault_of_exception();
PJRT_Error* invalid(std::string message);
PJRT_Error* unimplemented(std::string message);
/// Our error with the corresponding PJRT code.
Fault fault_from(const Error& error);
PJRT_Error* fault_of(const Error& error);

/// Sets pointer and length of a text or list that outlives the call.
template <class All, class Pointer>
void give(const All& all, Pointer& data, size_t& size) {
  data = all.data();
  size = all.size();
}

}  // namespace lowtide::pjrt
