#pragma once
/// Arrays from other libraries and for them, without a copy, as DLPack has them (version 1). The structs have the
/// layout that its C header publishes, under names of their own, so that they may stand beside it: a DLManagedTensor*
/// is cast to a dlpack::ManagedTensor*. Of memory that the processor reaches; other devices are std::invalid_argument.

#include <cstdint>

#include "lowtide/array.h"
#include "lowtide/visibility.h"

namespace lowtide {
namespace dlpack {

struct Device {
  int32_t type = 1;  ///< 1: the processor; 3: memory of the processor that a GPU reaches, too
  int32_t id = 0;
};
struct DataType {
  uint8_t code = 0;  ///< 0 signed, 1 unsigned, 2 float, 4 bfloat, 5 complex, 6 bool
  uint8_t bits = 0;  ///< of one element, both parts of a complex one
  uint16_t lanes = 1;
};
struct Tensor {
  void* data = nullptr;
  Device device;
  int32_t ndim = 0;
  DataType dtype;
  int64_t* shape = nullptr;
  int64_t* strides = nullptr;  ///< in elements; null: row-major
  uint64_t byte_offset = 0;    ///< of the first element from data
};
/// Whoever has it calls deleter(this) once.
struct ManagedTensor {
  Tensor tensor;
  void* manager_ctx = nullptr;
  void (*deleter)(ManagedTensor*) = nullptr;
};
struct VersionedTensor {
  uint32_t major = 1, minor = 0;
  void* manager_ctx = nullptr;
  void (*deleter)(VersionedTensor*) = nullptr;
  uint64_t flags = 0;  ///< bit 0: only to be read
  Tensor tensor;
};

}  // namespace dlpack

/// The elements of an array, which is evaluated, where they lie: row-major, and only to be read. The array keeps them
/// as long as the tensor isn't deleted.
LOWTIDE_PUBLIC dlpack::ManagedTensor* to_dlpack(const array& a);
LOWTIDE_PUBLIC dlpack::VersionedTensor* to_dlpack_versioned(const array& a);

/// An array of the tensor's elements where they lie, which nothing here writes to; the tensor's deleter is called when
/// no array has them any more. They must stay as they are until then. Where they aren't row-major the array is a view
/// that is put in order where it is read. Null, other devices, types that arrays lack and negative strides are
/// std::invalid_argument, and leave the tensor to the caller.
LOWTIDE_PUBLIC array from_dlpack(dlpack::ManagedTensor* tensor);
LOWTIDE_PUBLIC array from_dlpack(dlpack::VersionedTensor* tensor);

}  // namespace lowtide
