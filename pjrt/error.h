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

/// What went wrong, before somebody is told of it.
struct Fault {
  PJRT_Error_Code code = PJRT_Error_Code_INTERNAL;
  std::string message;
};

PJRT_Error* fault(PJRT_Error_Code code, std::string message);
PJRT_Error* error_of(Fault fault);
/// The fault that an exception says, which is being handled.
Fault fault_of_exception();
PJRT_Error* invalid(std::string message);
PJRT_Error* unimplemented(std::string message);
/// Ours with the code that says the same.
Fault fault_from(const Error& error);
PJRT_Error* fault_of(const Error& error);

/// A text or a list that stays where it is, as a host takes it.
template <class All, class Pointer>
void give(const All& all, Pointer& data, size_t& size) {
  data = all.data();
  size = all.size();
}

}  // namespace lowtide::pjrt
