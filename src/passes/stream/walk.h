#pragma once
/// How an operation can be sliced along a common dimension: slice by slice, or by folding the slices.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ir/module.h"

namespace lowtide::engine {

/// Which dimension of operand number `operand` corresponds to dimension `d` of the result, slice by slice.
enum class InStep : uint8_t {
  kNo,      ///< slice c of the result needs more of the operand than slice c
  kAbsent,  ///< every slice of the result reads the operand whole
  kYes,
};
/// parts: into so many equal parts both dimensions are divided, if their slices correspond only in blocks; 0: they have
/// to correspond one by one.
InStep operand_in_step(const Instruction& user, size_t operand, int64_t d, int64_t& operand_dimension,
                       int64_t parts = 0);

/// Can the result, or each of its arrays, be computed slice by slice (or part by part, as in operand_in_step) along d,
/// with each operand read in step or whole?
/// Slices of such an instruction differ from the whole in their shapes, and in attributes that its row rule adapts
/// (ops/slicing.h).
bool can_be_made_by_slices(const Instruction& i, int64_t d, int64_t parts = 0);

/// Adapts the attributes of `original` to an instruction that computes `size` slices along d of its result.
void adapt_to_slice(const Instruction& original, int64_t d, int64_t size, Attributes& attributes);

/// Appends an instruction of this shape to the computation of some slices.
using Appender = std::function<Instruction*(Opcode, Shape, std::vector<Instruction*>, Attributes)>;
/// Is the result of slices along d computed from their positions, or does it contain them? Then slices from number `at`
/// (a scalar integer) on need both of these.
bool has_positions(const Instruction& i, int64_t d);
/// Makes positions that `slices`, a copy of `original` for `size` slices, reads count from `at`.
void count_operand_from(const Instruction& original, int64_t d, int64_t size, Instruction& slices, Instruction* at,
                        const Appender& append);
/// Makes positions that the slices contain count from 0: the returned value.
Instruction* count_result_from(const Instruction& original, int64_t d, Instruction* slices, Instruction* at,
                               const Appender& append);

/// What the gather `original` picks (ops/picks.h), as far as it is in `size` slices along d from number `at` on, else
/// `so_far`. gather: a copy that reads only these slices.
Instruction* pick_from_slices(const Instruction& original, int64_t d, int64_t size, Instruction gather, Instruction* at,
                              Instruction* so_far, const Appender& append);

/// A result without the dimension: all slices are folded into it.
struct Fold {
  Dims dimensions;  ///< per operand: the one that is folded; kNoId: the operand is read whole
};
/// nullopt: `user` doesn't fold dimension `d` of its operand, or its slices can't be combined.
std::optional<Fold> folded_along(const Instruction& user, size_t operand, int64_t d);

}  // namespace lowtide::engine
