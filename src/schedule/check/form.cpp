#include "schedule/check/form.h"

#include <algorithm>

#include "analysis/host_values.h"
#include "analysis/leaves.h"
#include "schedule/check/value_names.h"

namespace lowtide::engine {
namespace {

/// The leaves of the module's arguments that the program may overwrite.
std::vector<bool> donated_leaves(const Module& module) {
  const std::vector<Instruction*> parameters = module.entry->parameters();
  std::vector<int64_t> first_leaf;
  int64_t leaves = 0;
  for (const Instruction* p : parameters) {
    first_leaf.push_back(leaves);
    leaves += p ? leaf_count(p->shape) : 0;
  }
  std::vector<bool> donated(leaves, false);
  const auto mark = [&](int64_t parameter, const ShapeIndex& index) {
    int64_t first = 0, count = 0;
    if (parameter < 0 || parameter >= std::ssize(parameters) || !parameters[parameter]) return;
    if (!leaf_range(parameters[parameter]->shape, index, first, count)) return;
    for (int64_t l = first; l < first + count; ++l) donated[first_leaf[parameter] + l] = true;
  };
  for (const AliasEntry& alias : module.input_output_alias) mark(alias.operand, alias.operand_index);
  for (const Module::Donor& donor : module.buffer_donors) mark(donor.parameter, donor.index);
  return donated;
}

bool is_constant_of(const Storage& storage) {
  if (storage.values.empty() || !storage.constant) return false;
  const auto* constant = behind_bundles(storage.values[0]).instruction->if_as<ConstantAttributes>();
  return constant && constant->value == storage.constant;
}

bool are_slots(const Program& program, const std::vector<int32_t>& slots) {
  return std::ranges::all_of(slots, [&](int32_t s) { return s >= 0 && s < std::ssize(program.slots); });
}

int64_t leaves_of_operands(const Instruction& i) {
  int64_t leaves = 0;
  for (const Instruction* operand : i.operands) leaves += leaf_count(operand->shape);
  return leaves;
}

/// Do these slots permute their addresses?
bool is_permutation(std::vector<int32_t> from, std::vector<int32_t> to) {
  std::ranges::sort(from);
  std::ranges::sort(to);
  return from == to && std::ranges::adjacent_find(to) == to.end();
}

bool has_operands(const Program& program, const ProgramStep& s) {
  const auto reads = std::ssize(s.reads), writes = std::ssize(s.writes);
  switch (s.kind) {
    case StepKind::kKernel: {
      if (s.region < 0 || s.region >= std::ssize(program.regions)) return false;
      const Region& region = program.regions[s.region];
      return reads == std::ssize(region.inputs) && writes == std::ssize(region.outputs) &&
             region.updates.size() == region.outputs.size();
    }
    case StepKind::kLibrary:
    case StepKind::kOther:
      return reads == leaves_of_operands(*s.instruction) && writes == leaf_count(s.instruction->shape);
    case StepKind::kCopy: return reads == writes;
    case StepKind::kRotate: return is_permutation(s.from, s.to);
    case StepKind::kWhile:
      return s.blocks.size() == 2 && s.instruction->opcode == Opcode::kWhile && is_permutation(s.settle, s.settle);
    case StepKind::kConditional:
      return s.instruction->opcode == Opcode::kConditional && s.blocks.size() == s.instruction->called.size();
  }
  return false;
}

std::string fault_of_steps(const Program& program, const std::vector<ProgramStep>& steps) {
  for (const ProgramStep& s : steps) {
    if (!s.instruction) return "a step is nobody's";
    const bool branches = s.kind == StepKind::kWhile || s.kind == StepKind::kConditional;
    const bool known = are_slots(program, s.reads) && are_slots(program, s.writes) && are_slots(program, s.from) &&
                       are_slots(program, s.to) && are_slots(program, s.settle) &&
                       (s.scratch == kNoId || are_slots(program, {s.scratch})) &&
                       (!branches || are_slots(program, {s.predicate}));
    if (!known || !has_operands(program, s)) return "%" + s.instruction->name + " has other operands than its step";
    for (const auto& block : s.blocks) {
      if (std::string fault = fault_of_steps(program, block); !fault.empty()) return fault;
    }
  }
  return {};
}

/// Are the stated sizes right? The peak is a promise; the arena is checked elsewhere, and this is the rest of the peak.
bool says_its_size(const Program& program) {
  int64_t arguments = 0, results = 0, shared = 0;
  const auto slot = [&](int32_t s) -> const Slot& { return program.slots[s]; };
  const auto storage_of = [&](int32_t s) -> const Storage& { return program.storages[slot(s).storage]; };
  for (const int32_t s : program.argument_slots) arguments += storage_of(s).in_host ? 0 : slot(s).bytes;
  for (const int32_t s : program.output_slots) {
    const Storage& storage = storage_of(s);
    if (storage.in_host) continue;
    results += slot(s).bytes;
    if (storage.kind == StorageKind::kArgument) shared += slot(s).bytes;
  }
  return arguments <= program.argument_bytes && results <= program.output_bytes && program.alias_bytes <= shared;
}

}  // namespace

std::string form_fault(const Program& program) {
  int64_t arguments = 0;
  for (const Instruction* p : program.module->entry->parameters()) arguments += p ? leaf_count(p->shape) : 0;
  const bool whole = are_slots(program, program.argument_slots) && are_slots(program, program.output_slots) &&
                     std::ssize(program.argument_slots) == arguments &&
                     std::ssize(program.output_slots) == leaf_count(program.module->entry->root->shape);
  return whole ? fault_of_steps(program, program.steps) : "arguments or results have no slots";
}

std::string memory_fault(const Program& program) {
  const HostValues in_host = find_host_values(*program.module);
  const std::vector<bool> donated = donated_leaves(*program.module);
  for (const Storage& s : program.storages) {
    const int64_t arena_bytes = s.in_host ? program.host_temp_bytes : program.temp_bytes;
    if (s.is_in_arena() && (s.offset < 0 || s.bytes < 0 || s.offset > arena_bytes - s.bytes))
      return "a storage lies outside of the arena";
    if (s.is_in_arena() && s.offset % 64 != 0) return "a storage is not aligned to 64 bytes";
    const bool may_be_overwritten = s.number >= 0 && s.number < std::ssize(donated) && donated[s.number];
    if (s.kind == StorageKind::kArgument && s.donated && !may_be_overwritten)
      return "an argument that isn't donated is taken for one that is";
    const auto lies_there = [&](const LeafRef& v) { return in_host.contains(*v.instruction, v.leaf); };
    const bool may_lie_there = s.kind == StorageKind::kOutput ? in_host.contains(*program.module->entry->root, s.number)
                                                              : std::ranges::all_of(s.values, lies_there);
    if (s.in_host && !may_lie_there) return "a value of the device lies in host memory";
    if (s.kind == StorageKind::kConstant && s.bytes > 0 && !is_constant_of(s)) return "a constant has other contents";
  }
  for (const Slot& s : program.slots) {
    if (s.storage < 0 || s.storage >= std::ssize(program.storages)) return "a slot has no storage";
    const Storage& storage = program.storages[s.storage];
    if (s.offset < 0 || s.bytes < 0 || s.offset > storage.bytes - s.bytes) return "a slot lies outside of its storage";
  }
  for (size_t a = 0; a < program.argument_slots.size(); ++a) {
    const Slot& slot = program.slots.at(static_cast<size_t>(program.argument_slots[a]));
    const Storage& storage = program.storages[slot.storage];
    if (storage.kind != StorageKind::kArgument || storage.number != static_cast<int64_t>(a))
      return "an argument lies in memory that isn't its own";
  }
  return says_its_size(program) ? "" : "it takes more memory than it says";
}

}  // namespace lowtide::engine
