#include "passes/execute/separate_fills.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ops/op_rule.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

bool is_fill(const Instruction& i) {
  return i.opcode == Opcode::kBroadcast && element_count(i.operand(0).shape) == 1 && element_count(i.shape) > 1;
}

bool reads_by_element(const Instruction& user) { return memory_class(user.opcode) == MemoryClass::kElementwise; }

/// Does the reader write its result over the array, or give it to a loop that does?
bool starts_from(const Instruction& user, const Instruction& fill, const Uses& uses) {
  if (user.opcode == Opcode::kTuple) {
    const auto readers = uses.of(user);
    return readers.size() == 1 && readers[0]->opcode == Opcode::kWhile;
  }
  const auto updated = rule_of(user.opcode).updated_operand;
  const int operand = updated && user.shape.is_array() ? updated(user, 0) : kNoId;
  return operand != kNoId && user.operands[operand] == &fill;
}

using Readers = std::vector<Instruction*>;

/// The readers that each get an array of their own; all others keep the one that there is.
std::vector<Readers> apart(const Instruction& fill, const Uses& uses) {
  Readers by_element, plain;
  std::vector<Readers> all;
  for (const Instruction* user : uses.of(fill)) {
    auto* const reader = const_cast<Instruction*>(user);
    if (reads_by_element(*user)) {
      by_element.push_back(reader);
    } else if (starts_from(*user, fill, uses)) {
      all.push_back({reader});
    } else {
      plain.push_back(reader);
    }
  }
  if (plain.empty() && &fill != fill.parent->root && !all.empty()) all.erase(all.begin());
  const bool is_stored = by_element.size() < uses.of(fill).size() || &fill == fill.parent->root;
  if (is_stored && !by_element.empty()) all.push_back(std::move(by_element));
  return all;
}

}  // namespace

Result<PassResult> separate_fills(Module& module) {
  int64_t count = 0;
  const Uses uses(module);
  const std::vector<bool> ordered = ordered_instructions(module);
  for (const auto& computation : module.computations()) {
    std::vector<std::pair<Instruction*, std::vector<Readers>>> shared;
    for (const auto& i : computation->instructions()) {
      if (!is_fill(*i) || !is_plain_array(*i) || ordered[i->id]) continue;
      if (auto readers = apart(*i, uses); !readers.empty()) shared.emplace_back(i.get(), std::move(readers));
    }
    if (shared.empty()) continue;
    Names names(*computation);
    for (const auto& [fill, all] : shared) {
      for (const Readers& readers : all) {
        Instruction* own = append_new(*computation, names.unused(fill->name), fill->opcode, fill->shape, fill->operands,
                                      fill->attributes);
        own->metadata = fill->metadata;
        for (Instruction* reader : readers) std::ranges::replace(reader->operands, fill, own);
        ++count;
      }
    }
    put_operands_first(*computation);
  }
  return rewritten(count, "arrays of equal numbers have an equal of their own");
}

}  // namespace lowtide::engine
