#pragma once
/// Appends the instructions of streams: what computes slices in a loop's body and around it, and the loop itself.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ops/rows.h"
#include "passes/rewrite.h"
#include "passes/stream/walk.h"
#include "region/region.h"

namespace lowtide::engine {

/// The array's type and extents alone: an operand's layout isn't that of its slices.
Shape plain_shape(const Shape& shape);
Shape slices_shape(const Shape& shape, int64_t d, int64_t slices);

class SliceWriter {
 public:
  /// `base`: of the names of all instructions that are no copies.
  SliceWriter(Computation& computation, Names& names, const char* base)
      : computation_(computation), names_(names), base_(base) {}

  Instruction* append(Opcode opcode, Shape shape, std::vector<Instruction*> operands, Attributes attributes = {});
  /// Gives the copy of an instruction an unused name like the original's.
  Instruction* append(std::unique_ptr<Instruction> copy);
  Appender appender();

  Instruction* integer(int64_t value);  ///< s32
  Instruction* element(Instruction& tuple, int64_t k);
  /// `value`: a scalar; null: zero.
  Instruction* filled(const Shape& shape, Instruction* value = nullptr);
  /// The array itself if it has the type.
  Instruction* convert(Instruction* array, ElementType type);
  /// Slices of an array; the array itself if these are all of them.
  Instruction* slices(Instruction& array, int64_t d, RowRange range);
  /// The slices of `array` from number `start` (s32) on.
  Instruction* slices_from(Instruction& array, int64_t d, Instruction& start, int64_t count);
  /// The array with other slices from number `start` (s32) on.
  Instruction* updated(Instruction& array, Instruction& slices, int64_t d, Instruction& start);
  Instruction* concatenated(const std::vector<Instruction*>& parts, int64_t d);

 private:
  Instruction* zero();  ///< s32, the same for all
  std::vector<Instruction*> with_starts(std::vector<Instruction*> operands, int64_t rank, int64_t d,
                                        Instruction& start);

  Computation& computation_;
  Names& names_;
  const char* base_;
  Instruction* zero_ = nullptr;
};

/// The condition of a loop whose state begins with a number, s32: is it less than `end`?
Computation* counting_condition(Module& module, Names& names, const char* base, const Shape& state, int64_t end);

/// Arrays as the instructions that compute them return them, not their aliases: a barrier also has other operands,
/// which may be computed later.
class SourceArrays {
 public:
  explicit SourceArrays(SliceWriter& writer) : writer_(writer) {}
  Instruction* of(const LeafRef& array);
  /// The array that is read: the operand itself if it is an element of the tuple that was computed. of() has one
  /// instruction for all readers of an element, which passes that compare what reads and what updates rely on.
  Instruction* read(Instruction& operand);

 private:
  SliceWriter& writer_;
  std::map<LeafRef, Instruction*> elements_;  ///< taken from tuples
};

/// Makes all instructions of the computation that compute something, those that bundle arrays, and its result read
/// what `instead` returns for each of the arrays that they read, which are older than `first_new`.
void redirect_reads(Computation& computation, int32_t first_new,
                    const std::function<Instruction*(Instruction&)>& instead);

}  // namespace lowtide::engine
