#pragma once
/// The reference: runs a module by its operations' definitions, slowly and exactly.

#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/module.h"
#include "ops/op_rule.h"

namespace lowtide::engine {

/// Results of the entry computation, flattened in tuple order. Arguments in parameter order (a tuple parameter is one).
/// Faults: kUnsupported names the operation; kInput for wrong arguments or abbreviated constants; kWrongValues when a
/// `check.expect_*` custom call finds a difference.
/// noise: a seed; if given, results of arithmetic are perturbed by a rounding error (interp/noise.h).
Result<std::vector<Value>> interpret(const Module& module, std::vector<Value> arguments,
                                     std::optional<uint64_t> noise = std::nullopt);

/// Runs the computations that operations call, for code that evaluates single operations.
std::unique_ptr<EvalContext> evaluation_context(const Module& module);

/// Can the interpreter run this instruction, with everything it calls?
bool can_interpret(const Instruction& instruction);
/// Its result on these operands. Faults as those of interpret().
Result<Value> interpret_instruction(const Instruction& instruction, std::span<const Value> operands);

/// The bytes that it needs in addition to operands and results: its own copies of both.
int64_t interpreted_scratch_bytes(const Instruction& instruction);

/// The design's seeded arguments: element i of argument k from splitmix64(seed 2^56 + k 2^40 + i).
std::vector<Value> seeded_arguments(const Module& module, uint64_t seed);
/// Sets elements [begin, end) of argument `argument`, an array at the aligned address `array`.
void seed_elements(ElementType type, uint64_t seed, int64_t argument, int64_t begin, int64_t end, std::byte* array);

}  // namespace lowtide::engine
