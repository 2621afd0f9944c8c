#pragma once
/// Numbers of MLIR's bytecode (https://mlir.llvm.org/docs/BytecodeFormat), from bytes that nobody has checked.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace lowtide::engine {

/// The first thing found wrong in one file. All that read it share one; from then on they read zeros and nothing.
struct BytecodeFault {
  Fault kind = Fault::kNone;
  std::string what;
  size_t place = 0;  ///< byte of the file

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
  /// `place`: where these bytes begin in the file.
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
  uint64_t flagged(bool& flag);        ///< a varint whose lowest bit is something else
  std::string_view bytes(uint64_t n);  ///< the next n
  std::string_view terminated();       ///< up to a zero byte, which is skipped
  /// A varint that counts what follows, each of a byte at least: nothing is allocated for more than the file can hold.
  size_t count(const char* of);

 private:
  std::string_view bytes_;
  size_t place_, at_ = 0;
  BytecodeFault* fault_;
};

}  // namespace lowtide::engine
