#include "passes/execute/spell_host_moves.h"

#include <algorithm>
#include <numeric>

#include "analysis/host_values.h"
#include "analysis/uses.h"
#include "ir/element_read.h"
#include "ops/host_moves.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

void place_in_host(Shape& shape, const HostValues& in_host, const Instruction& i, int64_t& leaf) {
  for (Shape& element : shape.elements) place_in_host(element, in_host, i, leaf);
  if (shape.is_tuple()) return;
  if (in_host.contains(i, leaf) && shape.is_array()) place_in(shape, kHostMemory);
  ++leaf;
}

bool is_reshape(const Instruction& i) { return i.opcode == Opcode::kReshape || i.opcode == Opcode::kBitcast; }

/// Is the value, possibly reshaped, only written into slices of others?
bool is_only_stacked(const Instruction& value, const Uses& uses) {
  return !uses.of(value).empty() && std::ranges::all_of(uses.of(value), [&](const Instruction* u) {
    if (is_reshape(*u)) return is_only_stacked(*u, uses);
    return u->opcode == Opcode::kDynamicUpdateSlice && u->operands[1] == &value && u->operands[0] != &value;
  });
}

/// Is the value, through reshapes and barriers, a slice without other readers?
bool is_only_slice(const Instruction& value, const Uses& uses) {
  if (uses.of(value).size() != 1) return false;
  if (is_reshape(value)) return is_only_slice(value.operand(0), uses);
  if (const Instruction* element = before_barrier(value)) {
    const auto takes_it = [&](const Instruction* u) {
      return u->opcode != Opcode::kGetTupleElement ||
             u->as<TupleIndexAttributes>().index == value.as<TupleIndexAttributes>().index;
    };
    return std::ranges::count_if(uses.of(value.operand(0)), takes_it) == 1 && is_only_slice(*element, uses);
  }
  return value.opcode == Opcode::kDynamicSlice || value.opcode == Opcode::kSlice;
}

/// Places the value, and the values that it reshapes or reads from a barrier, in the device's memory.
void place_on_device(Instruction& value) {
  place_in(value.shape, 0);
  if (is_reshape(value)) return place_on_device(*value.operands[0]);
  Instruction* element = before_barrier(value);
  if (!element) return;
  Instruction &barrier = *value.operands[0], &bundle = *barrier.operands[0];
  const auto index = static_cast<size_t>(value.as<TupleIndexAttributes>().index);
  place_in(barrier.shape.elements[index], 0);
  place_in(bundle.shape.elements[index], 0);
  place_on_device(*element);
}

void place_all(Module& module, const HostValues& in_host) {
  if (in_host.none()) return;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      int64_t leaf = 0;
      place_in_host(i->shape, in_host, *i, leaf);
    }
  }
}

}  // namespace

void place_in(Shape& array, int64_t memory_space) {
  if (!array.layout) {
    Layout row_major;
    row_major.minor_to_major.resize(array.dims.size());
    std::iota(row_major.minor_to_major.rbegin(), row_major.minor_to_major.rend(), 0);
    array.layout = std::move(row_major);
  }
  array.layout->memory_space = memory_space;
}

void spell_host_values(Module& module) { place_all(module, find_host_values(module)); }

Result<PassResult> spell_host_moves(Module& module) {
  const HostValues in_host = find_host_values(module);
  int64_t moves = 0;
  for (const auto& computation : module.computations()) {
    moves += std::ranges::count_if(computation->instructions(),
                                   [](const auto& i) { return host_move(*i) != HostMove::kNone; });
  }
  if (in_host.none() || moves == 0) return PassResult{};
  place_all(module, in_host);
  const Uses uses(module);
  const std::vector<bool> ordered = ordered_instructions(module);
  Replacements replacements(module);
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      replacements.apply_to(*i);
      const HostMove move = host_move(*i);
      if (move == HostMove::kNone) continue;
      Instruction& value = *i->operands[0];
      const bool is_free = !ordered[i->id];
      const bool from_host = is_in_host(value.shape);
      if (move == HostMove::kToHost && is_free && !from_host && is_only_stacked(*i, uses)) {
        for (const Instruction* u : uses.of(*i)) {
          if (is_reshape(*u)) place_on_device(const_cast<Instruction&>(*u));
        }
        replacements.replace(*i, value);
      } else if (move == HostMove::kToDevice && is_free && from_host && is_only_slice(value, uses)) {
        place_on_device(value);
        replacements.replace(*i, value);
      } else {
        turn_into(*i, Opcode::kCopy, {&value});
        place_in(i->shape, move == HostMove::kToHost ? kHostMemory : 0);
      }
    }
    replacements.finish(*computation);
  }
  return rewritten(moves, "moves between the device's memory and the host's");
}

}  // namespace lowtide::engine
