#include "buffer.h"

#include <cstdlib>
#include <new>

#include "element_types.h"
#include "functions.h"

namespace lowtide::pjrt {

std::shared_ptr<Block> Block::make(size_t bytes, const std::shared_ptr<Ledger>& ledger) {
  std::shared_ptr<Block> block(new Block);
  block->allocate(bytes, ledger);
  return block;
}

void Block::allocate(size_t bytes, const std::shared_ptr<Ledger>& ledger) {
  constexpr size_t kLarge = size_t{256} << 10;
  const size_t whole = (std::max<size_t>(bytes, 1) + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  if (whole >= kLarge) {
    piece_ = ledger->pools->arrays.take(whole);
    data_ = static_cast<std::byte*>(piece_.data);
  } else {
    data_ = static_cast<std::byte*>(std::aligned_alloc(kBlockAlignment, whole));
  }
  if (!data_) throw std::bad_alloc();
  bytes_ = static_cast<int64_t>(whole);
  ledger_ = ledger;
  ledger_->take(bytes_);
}

void Block::take_over(Block& other) {
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  piece_ = std::exchange(other.piece_, {});
  ledger_ = std::exchange(other.ledger_, nullptr);
}

std::shared_ptr<Block> Block::promise(std::shared_ptr<Happening> filled) {
  std::shared_ptr<Block> block(new Block);
  block->filled_ = std::move(filled);
  return block;
}

std::optional<Fault> Block::wait() const {
  if (!filled_) return {};
  filled_->wait_for();
  return filled_->fault();
}

std::shared_ptr<Block> Block::borrow(void* data, std::shared_ptr<Happening> released) {
  std::shared_ptr<Block> block(new Block);
  block->data_ = static_cast<std::byte*>(data);
  block->released_ = std::move(released);
  return block;
}

Block::~Block() {
  if (ledger_) {
    if (piece_.data) {
      ledger_->pools->arrays.give_back(piece_);
    } else {
      std::free(data_);
    }
    ledger_->give_back(bytes_);
  }
  if (released_) released_->happen();
}

bool array_bytes(PJRT_Buffer_Type type, const int64_t* dims, size_t rank, size_t& bytes) {
  bytes = bytes_of(type);
  if (bytes == 0) return false;
  for (size_t d = 0; d < rank; ++d) {
    if (dims[d] < 0 || __builtin_mul_overflow(bytes, static_cast<size_t>(dims[d]), &bytes)) return false;
  }
  return bytes < size_t{1} << 62;
}

}  // namespace lowtide::pjrt

using lowtide::pjrt::Block;

PJRT_Buffer::PJRT_Buffer(PJRT_Memory* in_memory, PJRT_Buffer_Type of, std::vector<int64_t> extents,
                         lowtide::pjrt::Layout* lying, std::shared_ptr<Block> in)
    : device(in_memory->devices[0]),
      memory(in_memory),
      type(of),
      dims(std::move(extents)),
      layout(lying),
      block_(std::move(in)) {
  (void)lowtide::pjrt::array_bytes(type, dims.data(), dims.size(), bytes);
}

std::shared_ptr<Block> PJRT_Buffer::block() const {
  const std::lock_guard lock(mutex_);
  return deleted_ ? nullptr : block_;
}

bool PJRT_Buffer::is_deleted() const {
  const std::lock_guard lock(mutex_);
  return deleted_;
}

void PJRT_Buffer::remove() {
  std::shared_ptr<Block> gone;  // freed, and reported, without the lock
  const std::lock_guard lock(mutex_);
  deleted_ = true;
  if (outside_ == 0) gone.swap(block_);
}

bool PJRT_Buffer::donate() {
  const std::lock_guard lock(mutex_);
  if (outside_ > 0) return false;  // other readers must not see it change: it keeps its memory
  deleted_ = true;
  block_.reset();
  return true;
}

void PJRT_Buffer::refer(int change) {
  std::shared_ptr<Block> gone;
  const std::lock_guard lock(mutex_);
  outside_ += change;
  if (deleted_ && outside_ == 0) gone.swap(block_);
}

namespace lowtide::pjrt {

PJRT_Error* Buffer_Destroy(PJRT_Buffer_Destroy_Args& args) {
  delete args.buffer;
  return nullptr;
}

PJRT_Error* Buffer_ElementType(PJRT_Buffer_ElementType_Args& args) {
  args.type = args.buffer->type;
  return nullptr;
}

PJRT_Error* Buffer_Dimensions(PJRT_Buffer_Dimensions_Args& args) {
  give(args.buffer->dims, args.dims, args.num_dims);
  return nullptr;
}

PJRT_Error* Buffer_UnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args& args) {
  give(args.buffer->dims, args.unpadded_dims, args.num_dims);
  return nullptr;
}

PJRT_Error* Buffer_DynamicDimensionIndices(PJRT_Buffer_DynamicDimensionIndices_Args& args) {
  args.dynamic_dim_indices = nullptr;
  args.num_dynamic_dims = 0;
  return nullptr;
}

PJRT_Error* Buffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args& args) {
  const std::vector<int64_t>& order = args.buffer->layout->minor_to_major;
  args.layout.tiled = {};
  args.layout.tiled.struct_size = sizeof args.layout.tiled;
  give(order, args.layout.tiled.minor_to_major, args.layout.tiled.minor_to_major_size);
  args.layout.type = PJRT_Buffer_MemoryLayout::kTiled;
  return nullptr;
}

PJRT_Error* Buffer_OnDeviceSizeInBytes(PJRT_Buffer_OnDeviceSizeInBytes_Args& args) {
  args.on_device_size_in_bytes = args.buffer->bytes;
  return nullptr;
}

PJRT_Error* Buffer_Device(PJRT_Buffer_Device_Args& args) {
  args.device = args.buffer->device;
  return nullptr;
}

PJRT_Error* Buffer_Memory(PJRT_Buffer_Memory_Args& args) {
  args.memory = args.buffer->memory;
  return nullptr;
}

PJRT_Error* Buffer_Delete(PJRT_Buffer_Delete_Args& args) {
  args.buffer->remove();
  return nullptr;
}

PJRT_Error* Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args& args) {
  args.is_deleted = args.buffer->is_deleted();
  return nullptr;
}

PJRT_Error* Buffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args& args) {
  args.is_on_cpu = true;
  return nullptr;
}

PJRT_Error* Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args& args) {
  const auto block = args.buffer->block();
  args.event = block ? event_of(block->filled()) : failed_event(PJRT_Error_Code_INVALID_ARGUMENT, kDeleted);
  return nullptr;
}

PJRT_Error* Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args& args) {
  const auto block = args.buffer->block();
  if (!block) return invalid(kDeleted);
  if (auto why = block->wait()) return error_of(std::move(*why));
  args.buffer_pointer = reinterpret_cast<uintptr_t>(block->data());
  return nullptr;
}

PJRT_Error* Buffer_IncreaseExternalReferenceCount(PJRT_Buffer_IncreaseExternalReferenceCount_Args& args) {
  args.buffer->refer(1);
  return nullptr;
}

PJRT_Error* Buffer_DecreaseExternalReferenceCount(PJRT_Buffer_DecreaseExternalReferenceCount_Args& args) {
  args.buffer->refer(-1);
  return nullptr;
}

PJRT_Error* Buffer_OpaqueDeviceMemoryDataPointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args& args) {
  const auto block = args.buffer->block();
  if (!block) return invalid(kDeleted);
  if (auto why = block->wait()) return error_of(std::move(*why));
  args.device_memory_ptr = block->data();
  return nullptr;
}

}  // namespace lowtide::pjrt
