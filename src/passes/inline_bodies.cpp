#include "passes/inline_bodies.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "passes/canonicalise/share_common_subexpressions.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

/// Is `name` relative to the call, or does it begin with the same component as the call's: "jit(step)/..."?
bool is_relative(const std::string& name, const std::string& call_name) {
  const std::string first = call_name.substr(0, call_name.find('/'));
  return !name.starts_with(first) || (name.size() > first.size() && name[first.size()] != '/');
}

void inherit_metadata(Metadata& inner, const Metadata& call) {
  if (inner.op_name.empty()) {
    inner.op_name = call.op_name;
  } else if (!call.op_name.empty() && is_relative(inner.op_name, call.op_name)) {
    inner.op_name = call.op_name + "/" + inner.op_name;
  }
  if (inner.stack_frame_id == 0 && inner.source_file.empty()) {
    inner.stack_frame_id = call.stack_frame_id;
    inner.source_file = call.source_file;
    inner.source_line = call.source_line;
  }
}

/// Instructions of the body that all copies of it share -> their one copy in the caller.
using Fixed = std::unordered_map<const Instruction*, Instruction*>;

/// Constants, and small broadcasts and iotas: keeping them costs no more than recomputing them.
bool is_fixed(const Instruction& i, const Fixed& fixed) {
  if (!i.control_predecessors.empty() || i.sharding) return false;
  if (i.opcode == Opcode::kConstant) return true;
  if (logical_bytes(i.shape) > kLargestShared) return false;
  if (i.opcode == Opcode::kIota) return true;
  return i.opcode == Opcode::kBroadcast && fixed.contains(i.operands[0]);
}

/// The number of instructions that each copy of the body adds.
int64_t own_size(const Computation& body) {
  return std::ranges::count_if(body.instructions(), [](const auto& i) {
    return i->opcode != Opcode::kParameter && i->opcode != Opcode::kConstant && i->opcode != Opcode::kIota;
  });
}

/// Appends the body's instructions to the caller, adds them to `order`, and returns the one that computes the result.
/// Fixed instructions of the body are copied once.
Instruction* append_body(Instruction& call, Names& names, Fixed& fixed, std::vector<Instruction*>& order) {
  const Computation& body = *call.called[0];
  std::unordered_map<const Instruction*, Instruction*> copy;
  for (const auto& inner : body.instructions()) {
    if (const auto* parameter = inner->if_as<ParameterAttributes>()) {
      copy[inner.get()] = call.operands[parameter->number];
      continue;
    }
    if (const auto known = fixed.find(inner.get()); known != fixed.end()) {
      copy[inner.get()] = known->second;
      continue;
    }
    auto added = copy_of(*inner);
    added->name = names.unused(inner->name);
    for (Instruction*& operand : added->operands) operand = copy.at(operand);
    for (Instruction*& before : added->control_predecessors) before = copy.at(before);
    inherit_metadata(added->metadata, call.metadata);
    order.push_back(call.parent->append(std::move(added)));
    copy[inner.get()] = order.back();
    if (inner.get() != body.root && is_fixed(*inner, fixed)) fixed.emplace(inner.get(), order.back());
  }
  Instruction* result = copy.at(body.root);
  const bool is_ours = body.root->opcode != Opcode::kParameter;
  if (is_ours && call.sharding && !result->sharding) result->sharding = call.sharding;
  return result;
}

}  // namespace

int64_t inline_bodies(Module& module, const std::function<bool(const Instruction&)>& chosen) {
  int64_t room = std::max(kMostInlined - module.instruction_count(), module.instruction_count());
  int64_t count = 0;
  // Bodies that keep a call because it was too large: inlining them would multiply that call.
  std::unordered_set<const Computation*> incomplete;
  for (Computation* computation : module.callees_first()) {
    std::vector<Instruction*> originals;
    bool any = false;
    for (const auto& i : computation->instructions()) {
      originals.push_back(i.get());
      any = any || chosen(*i);
    }
    if (!any) continue;
    Replacements replacements(module);
    Names names(*computation);
    Fixed fixed;
    std::vector<Instruction*> order;
    for (Instruction* i : originals) {
      replacements.apply_to(*i);
      const bool allowed = chosen(*i);
      const int64_t size = allowed ? own_size(*i->called[0]) : 0;
      const bool too_large = allowed && (size > room || incomplete.contains(i->called[0]));
      if (too_large) incomplete.insert(computation);
      if (!allowed || too_large) {
        order.push_back(i);
        continue;
      }
      room -= size;
      replacements.replace(*i, *append_body(*i, names, fixed, order));
    }
    if (replacements.count() == 0) continue;
    replacements.finish(*computation);
    computation->reorder(order);
    count += replacements.count();
  }
  return count;
}

}  // namespace lowtide::engine
