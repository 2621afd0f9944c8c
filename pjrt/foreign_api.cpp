// The table of functions that handlers of foreign calls use.
#include <algorithm>
#include <cstdlib>

#include "foreign_calls.h"
#include "foreign_context.h"

namespace lowtide::pjrt {
namespace {

constexpr XLA_FFI_Code kNotFound = 5, kResourceExhausted = 8, kUnimplemented = 12, kInternal = 13;

XLA_FFI_Error* fault(XLA_FFI_Code code, const char* message) { return new XLA_FFI_Error{code, message}; }

XLA_FFI_Error* error_create(XLA_FFI_Error_Create_Args* args) { return fault(args->code, args->message); }
void error_details(XLA_FFI_Error_GetDetails_Args* args) {
  args->message = args->error->message.c_str();
  constexpr size_t kWithCode = sizeof(XLA_FFI_Part) + 2 * sizeof(void*) + sizeof(XLA_FFI_Code);
  if (args->struct_size >= kWithCode) args->code = args->error->code;
}
void error_destroy(XLA_FFI_Error_Destroy_Args* args) { delete args->error; }

XLA_FFI_Error* handler_register(XLA_FFI_Part*) {
  return fault(kUnimplemented, "a handler can't register others: jax.ffi.register_ffi_target does");
}
XLA_FFI_Error* stream_get(XLA_FFI_Part*) { return fault(kUnimplemented, "processors have no stream"); }
XLA_FFI_Error* context_get(XLA_FFI_Part*) { return fault(kNotFound, "no data of the user's is given to runs"); }

/// Gives numbers to types without one. XLA, if it is in the process, gives ascending small numbers; ours begin higher.
XLA_FFI_Error* type_register(XLA_FFI_Type_Register_Args* args) {
  static std::atomic<int64_t> next = int64_t{1} << 32;
  if (args->type->number == 0) args->type->number = next++;
  return nullptr;
}

XLA_FFI_Error* state_set(XLA_FFI_State_Args* args) {
  ForeignState& state = (*args->context->states)[args->stage];
  if (state.state) return fault(kInternal, "a stage sets its state twice");
  state = {args->type->number, args->state};
  return nullptr;
}

XLA_FFI_Error* state_get(XLA_FFI_State_Args* args) {
  const ForeignState& state = (*args->context->states)[args->stage];
  if (!state.state || state.type != args->type->number) return fault(kNotFound, "no state of this type is set");
  args->state = state.state;
  return nullptr;
}

XLA_FFI_Error* memory_allocate(XLA_FFI_DeviceMemory_Allocate_Args* args) {
  const size_t alignment = std::max<size_t>(args->alignment, 64);
  const size_t rounded = (std::max<size_t>(args->size, 1) + alignment - 1) / alignment * alignment;
  std::unique_ptr<void, void (*)(void*)> made(std::aligned_alloc(alignment, rounded), std::free);
  if (!made) return fault(kResourceExhausted, "no memory is left for a foreign call");
  args->data = made.get();
  const std::lock_guard lock(args->context->mutex);
  args->context->memory.emplace(args->data, std::move(made));
  return nullptr;
}

XLA_FFI_Error* memory_free(XLA_FFI_DeviceMemory_Free_Args* args) {
  const std::lock_guard lock(args->context->mutex);
  args->context->memory.erase(args->data);
  return nullptr;
}

/// Each task has its own thread, since tasks may wait for each other.
XLA_FFI_Error* pool_schedule(XLA_FFI_ThreadPool_Schedule_Args* args) {
  const std::lock_guard lock(args->context->mutex);
  args->context->tasks.emplace_back([task = args->task, data = args->data] { task(data); });
  return nullptr;
}

XLA_FFI_Error* pool_threads(XLA_FFI_ThreadPool_NumThreads_Args* args) {
  *args->threads = std::max<int64_t>(1, std::thread::hardware_concurrency());
  return nullptr;
}

XLA_FFI_Error* future_create(XLA_FFI_Future_Create_Args* args) {
  args->future = new XLA_FFI_Future;
  return nullptr;
}

/// Holds the lock until notification is complete, since the waiting thread destroys the future.
void finish(XLA_FFI_Future& future, XLA_FFI_Error* error) {
  const std::lock_guard lock(future.mutex);
  future.error.reset(error);
  future.is_done = true;
  future.changed.notify_all();
}

XLA_FFI_Error* future_set(XLA_FFI_Future_SetAvailable_Args* args) {
  finish(*args->future, nullptr);
  return nullptr;
}
XLA_FFI_Error* future_fail(XLA_FFI_Future_SetError_Args* args) {
  finish(*args->future, args->error);
  return nullptr;
}

XLA_FFI_Error* run_id(XLA_FFI_RunId_Get_Args* args) {
  args->run_id = args->context->run;
  return nullptr;
}
XLA_FFI_Error* device_ordinal(XLA_FFI_DeviceOrdinal_Get_Args* args) {
  args->ordinal = 0;  // all devices are the CPUs of this machine
  return nullptr;
}

XLA_FFI_Error* find_extension(XLA_FFI_FindExtension_Args* args) {
  args->extension = nullptr;
  return nullptr;
}

/// The function without exceptions, which must not reach the handler's code.
template <auto kFunction, class Args>
auto guarded(Args* args) noexcept -> decltype(kFunction(args)) {
  if constexpr (std::is_void_v<decltype(kFunction(args))>) {
    kFunction(args);
  } else {
    try {
      return kFunction(args);
    } catch (const std::exception& thrown) {
      return new (std::nothrow) XLA_FFI_Error{kInternal, thrown.what()};
    }
  }
}

}  // namespace

const XLA_FFI_Api& foreign_api() {
  static const XLA_FFI_Api kApi = {
      {sizeof(XLA_FFI_Api), nullptr},
      {{sizeof(XLA_FFI_Version), nullptr}, kForeignMajor, kForeignMinor},
      nullptr,
      guarded<error_create>,
      guarded<error_details>,
      guarded<error_destroy>,
      guarded<handler_register>,
      guarded<stream_get>,
      guarded<type_register>,
      guarded<context_get>,
      guarded<state_set>,
      guarded<state_get>,
      guarded<memory_allocate>,
      guarded<memory_free>,
      guarded<pool_schedule>,
      guarded<pool_threads>,
      guarded<future_create>,
      guarded<future_set>,
      guarded<future_fail>,
      guarded<run_id>,
      guarded<device_ordinal>,
      guarded<find_extension>,
  };
  return kApi;
}

}  // namespace lowtide::pjrt
