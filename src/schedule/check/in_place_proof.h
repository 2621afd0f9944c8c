#pragma once
/// Proofs that a kernel gives the same results when results alias operands as when they don't. Based only on its loads
/// and stores, in execution order (touches.h): the planner's assumptions aren't used.
///
/// A load must find the bytes from before the kernel ran. It does if every store to that byte comes after it, or writes
/// the value that is there already. Whether two accesses can meet follows from an equation in the indices of their
/// loops.

#include <optional>
#include <utility>
#include <vector>

#include "schedule/check/held_bytes.h"
#include "schedule/check/touches.h"

namespace lowtide::engine {

/// A kernel, and its buffers' places: inputs, then outputs.
struct PlacedKernel {
  const Touches& touches;
  std::vector<BytePlace> buffers;
  int32_t inputs = 0;
  /// (result, operand): stores to the result in the operand's bytes change nothing, even if accesses don't show it.
  std::vector<std::pair<int32_t, int32_t>> standing = {};

  const BytePlace& place(int32_t buffer) const { return buffers[buffer]; }
  /// Does the store write the same bytes that it has loaded from there?
  bool changes_nothing(const Touch& store) const;
};

/// Do all loads find the same values as if no result aliased the operands, when pieces run in order? None, or the
/// number of an operand that may be overwritten too early.
std::optional<int32_t> operand_overwritten(const PlacedKernel& kernel);

/// The same for one piece that runs alone, in one call.
std::optional<int32_t> operand_overwritten_by(const PlacedKernel& kernel, int32_t piece);

/// Would the piece change no byte?
bool is_idle(const PlacedKernel& kernel, int32_t piece);

/// May `reader` load from `input` an element that `writer` stored to `output`, if both begin at the same byte?
bool may_read_of(const Touches& reader, int32_t input, const Touches& writer, int32_t output);

}  // namespace lowtide::engine
