#pragma once
/// A region: operations executed as one loop nest. Data on top of unchanged HLO: a fusion is a region whose
/// intermediates are virtual.

#include <cstdint>
#include <string>
#include <vector>

#include "ir/module.h"
#include "nest/nest.h"

namespace lowtide::engine {

/// One array of an instruction's result: leaf number `leaf` of its shape, depth first.
struct LeafRef {
  const Instruction* instruction = nullptr;
  int32_t leaf = 0;
  bool operator==(const LeafRef&) const = default;
  auto operator<=>(const LeafRef&) const = default;
};

struct Region {
  std::vector<const Instruction*> ops;  ///< operands before users; those that are no output are virtual
  std::vector<LeafRef> inputs;          ///< read from buffers; never a tuple: elements are resolved
  std::vector<LeafRef> outputs;         ///< written to buffers
  /// Per output: the operand leaf (resolved, stored) whose bytes it changes in place and which its buffer must hold
  /// before the kernel runs (dynamic-update-slice, scatter); instruction null: every element is written.
  std::vector<LeafRef> updates;
};

/// Resolves aliases: follows get-tuple-element, tuple, opt-barrier, domain and other operations that only rename. Ends
/// at the instruction that computes the value, or at a parameter, while, conditional, call, ...
LeafRef resolve(LeafRef leaf);

/// Which operand of output number `output` it aliases, if the region updates it in place; -1: none.
int updated_operand(const Region& region, size_t output);

/// Empty, or a sentence with the first broken invariant: inputs are defined outside, operands of ops are ops or inputs,
/// every op has an element or is an output with an update.
std::string check_region(const Region& region);

/// The kernel: buffers are the inputs, then the outputs, in order.
Nest lower(const Region& region);

}  // namespace lowtide::engine
