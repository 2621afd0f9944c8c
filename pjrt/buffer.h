#pragma once
/// Arrays in memory: row-major, without gaps, elements below a byte one byte each.

#include <memory>
#include <mutex>
#include <vector>

#include "client.h"
#include "event.h"

namespace lowtide::pjrt {

/// Memory of one array, kept by whoever uses it: its buffer, runs that read it. One that a run will fill has its memory
/// from then on, and nobody looks into it before that has happened.
class Block {
 public:
  /// Aligned to 64 bytes; throws std::bad_alloc.
  static std::shared_ptr<Block> make(size_t bytes, const std::shared_ptr<Ledger>& ledger);
  /// Somebody else's, who is told when nobody uses it any more.
  static std::shared_ptr<Block> borrow(void* data, std::shared_ptr<Happening> released);
  /// Without memory yet. filled: when it has it, and the array stands, or why it never will; null: before anybody else
  /// sees it.
  static std::shared_ptr<Block> promise(std::shared_ptr<Happening> filled);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  std::byte* data() const { return data_; }
  bool is_ours() const { return ledger_ != nullptr; }

  void allocate(size_t bytes, const std::shared_ptr<Ledger>& ledger);
  /// The memory of another, which has none then.
  void take_over(Block& other);

  /// Null: it stood from the beginning.
  const std::shared_ptr<Happening>& filled() const { return filled_; }
  bool is_filled() const { return !filled_ || filled_->has_happened(); }
  /// Waits; why it has no array.
  std::optional<Fault> wait() const;

 private:
  Block() = default;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
  Pool::Piece piece_;                    ///< of large ones
  std::shared_ptr<Ledger> ledger_;       ///< of memory that is ours
  std::shared_ptr<Happening> released_;  ///< of memory that isn't
  std::shared_ptr<Happening> filled_;
};

inline constexpr size_t kBlockAlignment = 64;

}  // namespace lowtide::pjrt

struct PJRT_Buffer {
  void* functions = nullptr;
  PJRT_Device* device = nullptr;
  PJRT_Buffer_Type type = 0;
  std::vector<int64_t> dims;
  size_t bytes = 0;

  PJRT_Buffer(PJRT_Device* on, PJRT_Buffer_Type of, std::vector<int64_t> extents,
              std::shared_ptr<lowtide::pjrt::Block> in);
  /// Its memory; null once it was deleted or donated.
  std::shared_ptr<lowtide::pjrt::Block> block() const;
  bool is_deleted() const;
  void remove();
  /// Gives the memory away; false where somebody else looks at it, whose it stays.
  bool donate();
  void refer(int change);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<lowtide::pjrt::Block> block_;
  bool deleted_ = false;
  int outside_ = 0;  ///< pointers that others have, as views of numpy's
};

namespace lowtide::pjrt {

/// What is said of an array whose memory is gone.
inline constexpr const char* kDeleted = "Buffer has been deleted or donated.";

/// Bytes of an array; false where extents or type make none.
bool array_bytes(PJRT_Buffer_Type type, const int64_t* dims, size_t rank, size_t& bytes);

}  // namespace lowtide::pjrt
