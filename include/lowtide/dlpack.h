#pragma once
/// Exchanges arrays with other libraries without a copy, by DLPack (version 1). The structs have the layout of DLPack's
/// C header under names of their own, so that both can be included: a DLManagedTensor* is cast to a
/// dlpack::ManagedTensor*. Only memory that the processor can access is supported; other devices are
/// std::invalid_argument.

#include <cstdint>

#include "lowtide/array.h"
#include "lowtide/visibility.h"

namespace lowtide {
namespace dlpack {

struct Device {
  int32_t type = 1;  ///< 1: the processor; 3: host memory that a GPU can access, too
  int32_t id = 0;
};
struct DataType {
  uint8_t code = 0;  ///< 0 signed, 1 unsigned, 2 float, 4 bfloat, 5 complex, 6 bool
  uint8_t bits = 0;  ///< bits of one element; of a complex one, of both parts
  uint16_t lanes = 1;
};
struct Tensor {
  void* data = nullptr;
  Device device;
  int32_t ndim = 0;
  DataType dtype;
  int64_t* shape = nullptr;
  int64_t* strides = nullptr;  ///< in elements; null: row-major
  uint64_t byte_offset = 0;    ///< offset of the first element from data
};
/// Its owner calls deleter(this) once.
struct ManagedTensor {
  Tensor tensor;
  void* manager_ctx = nullptr;
  void (*deleter)(ManagedTensor*) = nullptr;
};
struct VersionedTensor {
  uint32_t major = 1, minor = 0;
  void* manager_ctx = nullptr;
  void (*deleter)(VersionedTensor*) = nullptr;
  uint64_t flags = 0;  ///< bit 0: read-only
  Tensor tensor;
};

}  // namespace dlpack

/// Evaluates the array and exposes its elements in place: row-major and read-only. The tensor keeps them alive until it
/// is deleted.
LOWTIDE_PUBLIC dlpack::ManagedTensor* to_dlpack(const array& a);
LOWTIDE_PUBLIC dlpack::VersionedTensor* to_dlpack_versioned(const array& a);

/// An array over the tensor's elements in place; nothing here writes to them. The tensor's deleter is called when no
/// array uses them any more, and they must not change until then. If they aren't row-major the array is a view that is
/// reordered when it is read. A null pointer, another device, an unsupported type or a negative stride is
/// std::invalid_argument, and the caller remains the tensor's owner.
LOWTIDE_PUBLIC array from_dlpack(dlpack::ManagedTensor* tensor);
LOWTIDE_PUBLIC array from_dlpack(dlpack::VersionedTensor* tensor);

}  // namespace lowtide
