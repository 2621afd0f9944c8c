// Copies arrays from and to the host's memory and between devices; all of these are this machine's memory.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>

#include "buffer.h"
#include "element_types.h"
#include "functions.h"
#include "running.h"

namespace lowtide::pjrt {
namespace {

/// A copy of elements with any strides on either side, including zero and negative ones.
struct Strided {
  std::vector<int64_t> dims, from, to;  ///< strides in bytes
  size_t element = 0;

  /// Merges dimensions that are contiguous on both sides; the order of dimensions becomes the target's.
  void merge() {
    std::vector<size_t> order(dims.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater<>(), [&](size_t d) { return std::abs(to[d]); });
    const auto in_order = [&](const std::vector<int64_t>& numbers) {
      std::vector<int64_t> all;
      for (const size_t d : order) all.push_back(numbers[d]);
      return all;
    };
    dims = in_order(dims);
    from = in_order(from);
    to = in_order(to);
    size_t kept = 0;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] == 1) continue;
      const bool joins = kept > 0 && from[kept - 1] == from[d] * dims[d] && to[kept - 1] == to[d] * dims[d];
      if (!joins) ++kept;
      dims[kept - 1] = joins ? dims[kept - 1] * dims[d] : dims[d];
      from[kept - 1] = from[d];
      to[kept - 1] = to[d];
    }
    dims.resize(kept);
    from.resize(kept);
    to.resize(kept);
  }

  void copy(const std::byte* source, std::byte* target, size_t level = 0) const {
    if (level == dims.size()) {
      std::memcpy(target, source, element);
      return;
    }
    const auto stride = static_cast<int64_t>(element);
    if (level + 1 == dims.size() && from[level] == stride && to[level] == stride) {
      std::memcpy(target, source, element * static_cast<size_t>(dims[level]));
      return;
    }
    for (int64_t i = 0; i < dims[level]; ++i) copy(source + i * from[level], target + i * to[level], level + 1);
  }
};

PJRT_Memory* memory_of(PJRT_Client* client, PJRT_Device* device, PJRT_Memory* memory) {
  return memory ? memory : (device ? device : client->devices[0])->memories[0];
}

PJRT_Error* copy_to(const PJRT_Buffer& from, PJRT_Memory* memory, PJRT_Buffer*& made) {
  const auto block = from.block();
  if (!block) return invalid(kDeleted);
  auto done = std::make_shared<Happening>();
  auto copy = Block::promise(done);
  made = new PJRT_Buffer(memory, from.type, from.dims, from.layout, copy);
  const auto work = [block, copy, bytes = from.bytes, ledger = memory->devices[0]->ledger]() -> std::optional<Fault> {
    copy->allocate(bytes, ledger);
    std::memcpy(copy->data(), block->data(), bytes);
    return {};
  };
  delete when_filled(*from.device, block, work, std::move(done));
  return nullptr;
}

}  // namespace

PJRT_Error* Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args& args) {
  size_t bytes = 0;
  if (!array_bytes(args.type, args.dims, args.num_dims, bytes)) {
    return unimplemented("arrays of the element type " + std::to_string(args.type) + ", or of this size");
  }
  PJRT_Memory* const memory = memory_of(args.client, args.device, args.memory);
  std::vector<int64_t> dims(args.dims, args.dims + args.num_dims);
  const size_t element = bytes_of(args.type);
  Layout* layout = nullptr;
  if (PJRT_Error* error = read_layout(args.device_layout, dims, element, layout)) return error;
  Strided copy{dims, strides_of(*row_major(dims.size()), dims, element), strides_of(*layout, dims, element), element};
  if (args.byte_strides && args.num_byte_strides != 0) {
    if (args.num_byte_strides != args.num_dims) return invalid("found strides of another rank than the array's");
    copy.from.assign(args.byte_strides, args.byte_strides + args.num_byte_strides);
  }
  copy.merge();
  const auto stride = static_cast<int64_t>(element);
  const bool dense = copy.dims.empty() || (copy.dims.size() == 1 && copy.from[0] == stride && copy.to[0] == stride);
  const bool may_stay =
      args.host_buffer_semantics == kImmutableZeroCopy || args.host_buffer_semantics == kMutableZeroCopy;
  const bool is_small = is_below_a_byte(args.type);
  if (may_stay && dense && !is_small && bytes > 0 && reinterpret_cast<uintptr_t>(args.data) % kBlockAlignment == 0) {
    auto released = std::make_shared<Happening>();
    auto block = Block::borrow(const_cast<void*>(args.data), released);  // read-only: it is never donated
    args.buffer = new PJRT_Buffer(memory, args.type, std::move(dims), layout, std::move(block));
    args.done_with_host_buffer = new PJRT_Event{.of = std::move(released)};
    return nullptr;
  }
  auto block = Block::make(bytes, memory->devices[0]->ledger);
  if (bytes > 0) copy.copy(static_cast<const std::byte*>(args.data), block->data());
  if (is_small) set_upper_bits(args.type, block->data(), bytes);
  args.buffer = new PJRT_Buffer(memory, args.type, std::move(dims), layout, std::move(block));
  args.done_with_host_buffer = ready_event();
  return nullptr;
}

PJRT_Error* Client_CreateViewOfDeviceBuffer(PJRT_Client_CreateViewOfDeviceBuffer_Args& args) {
  size_t bytes = 0;
  if (!array_bytes(args.element_type, args.dims, args.num_dims, bytes)) {
    return unimplemented("arrays of the element type " + std::to_string(args.element_type) + ", or of this size");
  }
  PJRT_Memory* const given = args.struct_size >= sizeof args ? args.memory : nullptr;
  PJRT_Memory* const memory = memory_of(args.client, args.device, given);
  std::vector<int64_t> dims(args.dims, args.dims + args.num_dims);
  const size_t element = bytes_of(args.element_type);
  auto released = std::make_shared<Happening>();
  auto block = Block::borrow(args.device_buffer_ptr, released);
  Layout* layout = nullptr;
  PJRT_Error* const error = read_layout(args.layout, dims, element, layout);
  if (error && error->code == PJRT_Error_Code_INVALID_ARGUMENT) return error;
  if (error) {
    // Views are read-only, so a copy without the gaps is equivalent.
    const std::unique_ptr<PJRT_Error> has_gaps(error);
    if (args.layout->type != PJRT_Buffer_MemoryLayout::kStrides) return unimplemented("views of arrays with tiles");
    layout = row_major(dims.size());
    Strided copy{dims, {}, strides_of(*layout, dims, element), element};
    if (PJRT_Error* wrong = read_strides(*args.layout, dims, element, copy.from)) return wrong;
    copy.merge();
    block = Block::make(bytes, memory->devices[0]->ledger);
    if (bytes > 0) copy.copy(static_cast<const std::byte*>(args.device_buffer_ptr), block->data());
  }
  auto view = std::make_unique<PJRT_Buffer>(memory, args.element_type, std::move(dims), layout, std::move(block));
  // Set only now: if the call fails, the caller keeps the memory and releases it.
  if (args.on_delete_callback) {
    struct Told {
      PJRT_OnDelete callback;
      void *data, *user_arg;
    };
    auto told =
        std::make_unique<Told>(Told{args.on_delete_callback, args.device_buffer_ptr, args.on_delete_callback_arg});
    released->when_happened(
        [](PJRT_Error* error, void* user_arg) {
          const std::unique_ptr<Told> told(static_cast<Told*>(user_arg));
          delete error;
          told->callback(told->data, told->user_arg);
        },
        told.release());
  }
  args.buffer = view.release();
  return nullptr;
}

PJRT_Error* Client_CreateUninitializedBuffer(PJRT_Client_CreateUninitializedBuffer_Args& args) {
  size_t bytes = 0;
  if (!array_bytes(args.shape_element_type, args.shape_dims, args.shape_num_dims, bytes)) {
    return unimplemented("arrays of the element type " + std::to_string(args.shape_element_type) + ", or of this size");
  }
  std::vector<int64_t> dims(args.shape_dims, args.shape_dims + args.shape_num_dims);
  PJRT_Memory* const memory = memory_of(args.client, args.device, args.memory);
  Layout* layout = nullptr;
  if (PJRT_Error* error = read_layout(args.shape_layout, dims, bytes_of(args.shape_element_type), layout)) return error;
  args.buffer = new PJRT_Buffer(memory, args.shape_element_type, std::move(dims), layout,
                                Block::make(bytes, memory->devices[0]->ledger));
  return nullptr;
}

PJRT_Error* Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args& args) {
  args.event = nullptr;
  if (!args.dst) {
    args.dst_size = args.src->bytes;
    return nullptr;
  }
  const auto block = args.src->block();
  if (!block) return invalid(kDeleted);
  if (args.dst_size < args.src->bytes) {
    return invalid("found room for " + std::to_string(args.dst_size) + " bytes, expected " +
                   std::to_string(args.src->bytes));
  }
  const size_t element = bytes_of(args.src->type);
  Strided copy{args.src->dims, strides_of(*args.src->layout, args.src->dims, element), {}, element};
  copy.to = copy.from;
  if (args.host_layout) {
    if (PJRT_Error* error = read_strides(*args.host_layout, args.src->dims, element, copy.to)) return error;
  }
  copy.merge();
  const auto work = [block, copy, bytes = args.src->bytes, to = static_cast<std::byte*>(args.dst)] {
    if (bytes > 0) copy.copy(block->data(), to);
    return std::optional<Fault>();
  };
  args.event = when_filled(*args.src->device, block, work);
  return nullptr;
}

PJRT_Error* Buffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args& args) {
  const auto block = args.buffer->block();
  if (!block) return invalid(kDeleted);
  const auto bytes = static_cast<int64_t>(args.buffer->bytes);
  if (args.offset < 0 || args.transfer_size < 0 || args.offset > bytes || args.transfer_size > bytes - args.offset) {
    return invalid("found bytes beyond the end of the array");
  }
  const auto work = [block, to = args.dst, from = args.offset, size = static_cast<size_t>(args.transfer_size)] {
    std::memcpy(to, block->data() + from, size);
    return std::optional<Fault>();
  };
  args.event = when_filled(*args.buffer->device, block, work);
  return nullptr;
}

PJRT_Error* Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args& args) {
  return copy_to(*args.buffer, args.dst_memory, args.dst_buffer);
}

PJRT_Error* Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args& args) {
  return copy_to(*args.buffer, args.dst_device->memories[0], args.dst_buffer);
}

}  // namespace lowtide::pjrt
