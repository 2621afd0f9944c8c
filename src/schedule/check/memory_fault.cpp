#include "schedule/check/memory_fault.h"

#include <algorithm>

#include "analysis/leaves.h"
#include "schedule/check/value_names.h"

namespace lowtide {
namespace {

/// Does the module let the program write over this leaf of its arguments?
bool gives_away(const Module& module, int64_t argument) {
  int64_t number = 0;
  for (const Instruction* p : module.entry->parameters()) {
    const int64_t leaves = p ? leaf_count(p->shape) : 0;
    if (argument >= leaves) {
      argument -= leaves;
      ++number;
      continue;
    }
    const auto is_of = [&](int64_t parameter, const ShapeIndex& index) {
      int64_t first = 0, count = 0;
      return parameter == number && leaf_range(p->shape, index, first, count) && argument >= first &&
             argument < first + count;
    };
    return std::ranges::any_of(module.input_output_alias,
                               [&](const AliasEntry& a) { return is_of(a.operand, a.operand_index); }) ||
           std::ranges::any_of(module.buffer_donors,
                               [&](const Module::Donor& d) { return is_of(d.parameter, d.index); });
  }
  return false;
}

bool is_constant_of(const Storage& storage) {
  if (storage.values.empty() || !storage.constant) return false;
  const auto* constant = behind_bundles(storage.values[0]).instruction->if_as<ConstantAttributes>();
  return constant && constant->value == storage.constant;
}

}  // namespace

std::string memory_fault(const Program& program) {
  for (const Storage& s : program.storages) {
    if (s.is_in_arena() && (s.offset < 0 || s.bytes < 0 || s.offset > program.temp_bytes - s.bytes))
      return "a storage lies outside of the arena";
    if (s.is_in_arena() && s.offset % 64 != 0) return "a storage is not aligned to 64 bytes";
    if (s.kind == StorageKind::kArgument && s.donated && !gives_away(*program.module, s.number))
      return "an argument that isn't donated is taken for one that is";
    if (s.kind == StorageKind::kConstant && s.bytes > 0 && !is_constant_of(s)) return "a constant has other contents";
  }
  for (const Slot& s : program.slots) {
    if (s.storage < 0 || s.storage >= std::ssize(program.storages)) return "a slot has no storage";
    const Storage& storage = program.storages[static_cast<size_t>(s.storage)];
    if (s.offset < 0 || s.bytes < 0 || s.offset > storage.bytes - s.bytes) return "a slot lies outside of its storage";
  }
  for (size_t a = 0; a < program.argument_slots.size(); ++a) {
    const Slot& slot = program.slots.at(static_cast<size_t>(program.argument_slots[a]));
    const Storage& storage = program.storages[static_cast<size_t>(slot.storage)];
    if (storage.kind != StorageKind::kArgument || storage.number != static_cast<int64_t>(a))
      return "an argument lies in memory that isn't its own";
  }
  return {};
}

}  // namespace lowtide
