#include "lowtide/dlpack.h"

#include <memory>

#include "arrays/runtime.h"
#include "arrays/support.h"
#include "lowtide/ops.h"
#include "lowtide/transforms.h"

namespace lowtide {

using namespace lazy;

namespace {

constexpr int32_t kProcessor = 1, kPinned = 3;
enum Code : uint8_t { kSigned = 0, kUnsigned = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };

dlpack::DataType type_of(Dtype dtype) {
  const auto bits = static_cast<uint8_t>(8 * dtype.size());
  if (dtype.val == Dtype::Val::bool_) return {kBool, bits, 1};
  if (dtype.val == Dtype::Val::bfloat16) return {kBfloat, bits, 1};
  if (dtype.val == Dtype::Val::complex64) return {kComplex, bits, 1};
  if (issubdtype(dtype, floating)) return {kFloat, bits, 1};
  return {issubdtype(dtype, signedinteger) ? kSigned : kUnsigned, bits, 1};
}

Dtype dtype_of(const dlpack::DataType& type) {
  for (int v = 0; v <= static_cast<int>(Dtype::Val::complex64); ++v) {
    const Dtype dtype(static_cast<Dtype::Val>(v));
    const dlpack::DataType known = type_of(dtype);
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1) return dtype;
  }
  fault("from_dlpack", "found elements of type code {} with {} bits and {} lanes, which arrays lack", type.code,
        type.bits, type.lanes);
}

/// A tensor with the arrays to which it points.
template <class T>
struct Exported {
  T tensor;
  array held;
  Shape shape, strides;
};

template <class T>
T* exported(const array& a) {
  array held = a;
  held.eval();
  auto made = std::make_unique<Exported<T>>(Exported<T>{{}, held, held.shape(), Shape(held.ndim(), 1)});
  for (size_t d = held.ndim(); d-- > 1;) made->strides[d - 1] = made->strides[d] * made->shape[d];
  held.wait();
  T& out = made->tensor;
  out.tensor = {.data = held.state()->data->data,
                .device = {},
                .ndim = static_cast<int32_t>(held.ndim()),
                .dtype = type_of(held.dtype()),
                .shape = made->shape.data(),
                .strides = made->strides.data(),
                .byte_offset = 0};
  out.manager_ctx = made.get();
  out.deleter = [](T* self) { delete static_cast<Exported<T>*>(self->manager_ctx); };
  return &made.release()->tensor;
}

template <class T>
array imported(T* managed) {
  if (!managed) fault("from_dlpack", "found no tensor");
  const dlpack::Tensor& tensor = managed->tensor;
  if (tensor.device.type != kProcessor && tensor.device.type != kPinned)
    fault("from_dlpack", "found a tensor of device type {}, expected memory of the processor", tensor.device.type);
  const Dtype dtype = dtype_of(tensor.dtype);
  if (tensor.ndim < 0 || (tensor.ndim > 0 && !tensor.shape)) fault("from_dlpack", "found a tensor without a shape");
  const Shape shape(tensor.shape, tensor.shape + tensor.ndim);
  Shape strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  bool in_order = true;
  int64_t last = 0;  // the offset of the last element
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 0) fault("from_dlpack", "found the shape {}", to_string(shape));
    const int64_t stride = tensor.strides ? tensor.strides[d] : strides[d];
    if (stride < 0) fault("from_dlpack", "found a stride of {}, expected none below 0", stride);
    in_order = in_order && (stride == strides[d] || shape[d] <= 1);
    strides[d] = stride;
    last += stride * std::max<int64_t>(shape[d] - 1, 0);
  }
  const int64_t count = element_count(shape);
  void* const data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  if (count > 0 && reinterpret_cast<uintptr_t>(data) % dtype.size() != 0 && dtype.val != Dtype::Val::complex64)
    fault("from_dlpack", "found elements of {} bytes that aren't aligned", dtype.size());
  const auto deleter = [managed](void*) {
    if (managed->deleter) managed->deleter(managed);
  };
  if (in_order || count == 0) return array(data, shape, dtype, deleter);
  return as_strided(array(data, {last + 1}, dtype, deleter), shape, strides, 0);
}

}  // namespace

dlpack::ManagedTensor* to_dlpack(const array& a) { return exported<dlpack::ManagedTensor>(a); }
dlpack::VersionedTensor* to_dlpack_versioned(const array& a) {
  dlpack::VersionedTensor* const made = exported<dlpack::VersionedTensor>(a);
  made->flags = 1;
  return made;
}
array from_dlpack(dlpack::ManagedTensor* tensor) { return imported(tensor); }
array from_dlpack(dlpack::VersionedTensor* tensor) {
  if (tensor && tensor->major != 1) fault("from_dlpack", "found version {}, expected 1", tensor->major);
  return imported(tensor);
}

}  // namespace lowtide
