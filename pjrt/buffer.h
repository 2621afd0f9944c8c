#pragma once
/// Arrays in memory: without gaps, with dimensions in any order; elements narrower than a byte take one byte.

#include <memory>
#include <mutex>
#include <vector>

#include "client.h"
#include "event.h"
#include "layouts.h"

namespace lowtide::pjrt {

/// Memory of one array, owned jointly by its users: its buffer, runs that read it. A block that a run will fill gets
/// its memory when the run starts, and is not read before the run is done.
class Block {
 public:
  /// Aligned to 64 bytes; throws std::bad_alloc.
  static std::shared_ptr<Block> make(size_t bytes, const std::shared_ptr<Ledger>& ledger);
  /// Memory of another owner, who is notified when it is no longer used.
  static std::shared_ptr<Block> borrow(void* data, std::shared_ptr<Happening> released);
  /// A block without memory yet. filled: happens when the array is complete, or has failed; null if it will be complete
  /// before anyone else sees the block.
  static std::shared_ptr<Block> promise(std::shared_ptr<Happening> filled);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  std::byte* data() const { return data_; }
  bool is_ours() const { return ledger_ != nullptr; }

  void allocate(size_t bytes, const std::shared_ptr<Ledger>& ledger);
  /// Takes the memory of another block, which then has none.
  void take_over(Block& other);

  /// Null if it was complete from the beginning.
  const std::shared_ptr<Happening>& filled() const { return filled_; }
  bool is_filled() const { return !filled_ || filled_->has_happened(); }
  /// Waits; returns why there is no array, if there is none.
  std::optional<Fault> wait() const;

 private:
  Block() = default;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
  Pool::Piece piece_;                    ///< only for large blocks
  std::shared_ptr<Ledger> ledger_;       ///< only for memory of our own
  std::shared_ptr<Happening> released_;  ///< only for borrowed memory
  std::shared_ptr<Happening> filled_;
};

inline constexpr size_t kBlockAlignment = 64;

}  // namespace lowtide::pjrt

struct PJRT_Buffer {
  void* functions = nullptr;
  PJRT_Device* device = nullptr;
  PJRT_Memory* memory = nullptr;  ///< one of the device's
  PJRT_Buffer_Type type = 0;
  std::vector<int64_t> dims;
  lowtide::pjrt::Layout* layout = nullptr;
  size_t bytes = 0;

  PJRT_Buffer(PJRT_Memory* in_memory, PJRT_Buffer_Type of, std::vector<int64_t> extents, lowtide::pjrt::Layout* lying,
              std::shared_ptr<lowtide::pjrt::Block> in);
  /// Its memory; null once it was deleted or donated.
  std::shared_ptr<lowtide::pjrt::Block> block() const;
  bool is_deleted() const;
  void remove();
  /// Gives the memory away; false if someone else refers to it, in which case it keeps the memory.
  bool donate();
  void refer(int change);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<lowtide::pjrt::Block> block_;
  bool deleted_ = false;
  int outside_ = 0;  ///< pointers that others have, such as numpy views
};

namespace lowtide::pjrt {

/// The error message for an array whose memory is gone.
inline constexpr const char* kDeleted = "Buffer has been deleted or donated.";

/// Bytes of an array; false if extents or type are invalid.
bool array_bytes(PJRT_Buffer_Type type, const int64_t* dims, size_t rank, size_t& bytes);

}  // namespace lowtide::pjrt
