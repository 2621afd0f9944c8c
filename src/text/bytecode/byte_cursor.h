#pragma once
/// Reads the numbers of MLIR's bytecode (https://mlir.llvm.org/docs/BytecodeFormat) from unchecked bytes.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace lowtide::engine {

/// The first error found in a file. All its readers share one fault; once it is raised they read zeros and empty data.
struct BytecodeFault {
  Fault kind = Fault::kNone;
  std::string what;
  size_t place = 0;  ///< byte offset in the file

  bool found() const { return kind != Fault::kNone; }
  void raise(size_t at, std::string message, Fault fault = Fault::kInput) {
    if (found()) return;
    kind = fault;
    what = std::move(message);
    place = at;
  }
};

class ByteCursor {
 public:
  /// place: the offset of these bytes in the file.
  ByteCursor(std::string_view bytes, size_t place, BytecodeFault& fault)
      : bytes_(bytes), place_(place), fault_(&fault) {}

  bool done() const { return at_ == bytes_.size() || fault_->found(); }
  size_t left() const { return bytes_.size() - at_; }
  size_t place() const { return place_ + at_; }
  BytecodeFault& fault() { return *fault_; }
  void raise(std::string message, Fault kind = Fault::kInput) { fault_->raise(place(), std::move(message), kind); }

  uint8_t byte();
  uint64_t varint();
  int64_t signed_varint();             ///< zigzag
  uint64_t flagged(bool& flag);        ///< a varint whose lowest bit is a separate flag
  std::string_view bytes(uint64_t n);  ///< the next n
  std::string_view terminated();       ///< up to a zero byte, which is skipped
  /// A varint that counts the following items. Each takes at least a byte, so that a larger count than the bytes left
  /// is an error, and no memory is allocated for it.
  size_t count(const char* of);

 private:
  std::string_view bytes_;
  size_t place_, at_ = 0;
  BytecodeFault* fault_;
};

}  // namespace lowtide::engine
