#include "schedule/account_of.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/leaves.h"

namespace lowtide::engine {
namespace {

BufferKind kind_of(StorageKind kind) {
  switch (kind) {
    case StorageKind::kArgument: return BufferKind::kArgument;
    case StorageKind::kOutput: return BufferKind::kOutput;
    case StorageKind::kConstant: return BufferKind::kConstant;
    case StorageKind::kTemporary: break;
  }
  return BufferKind::kTemporary;
}

/// The instruction that runs each computation. Every computation of a program's module has one caller.
std::unordered_map<const Computation*, const Instruction*> callers(const Module& module) {
  std::unordered_map<const Computation*, const Instruction*> caller;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      for (const Computation* called : i->called) caller.emplace(called, i.get());
    }
  }
  return caller;
}

}  // namespace

Account account_of(const Program& program) {
  Account account;
  const auto caller = callers(*program.module);
  for (const Instruction* instruction : program.timeline) {
    TimelineStep& step = account.timeline.emplace_back();
    step.instruction = instruction;
    if (!instruction) continue;
    const auto found = caller.find(instruction->parent);
    step.caller = found == caller.end() ? nullptr : found->second;
    for (const Instruction* at = step.caller; at; ++step.depth) {
      const auto outer = caller.find(at->parent);
      at = outer == caller.end() ? nullptr : outer->second;
    }
  }
  for (const Storage& storage : program.storages) {
    AccountBuffer& buffer = account.buffers.emplace_back();
    for (const LeafRef& value : storage.values) {
      buffer.values.push_back({value.instruction, leaf_index(value.instruction->shape, value.leaf)});
    }
    buffer.kind = kind_of(storage.kind);
    buffer.bytes = storage.bytes;
    buffer.memory_space = storage.in_host ? kHostMemory : 0;
    buffer.donated = storage.donated;
    buffer.holds_output = storage.holds_output;
    buffer.born = storage.born;
    buffer.dies = storage.dies;
    buffer.last_reader = storage.last_reader;
    if (storage.kind == StorageKind::kConstant && !storage.in_host) account.constant_bytes += storage.bytes;
  }
  account.argument_bytes = program.argument_bytes;
  account.output_bytes = program.output_bytes;
  account.alias_bytes = program.alias_bytes;
  account.temp_bytes = program.temp_bytes;
  account.load_bytes = program.load_bytes;
  if (program.host_bytes > 0) account.other_spaces[kHostMemory] = program.host_bytes;
  account.live = program.live;
  const auto top = std::ranges::max_element(account.live);
  if (top != account.live.end()) account.peak_step = static_cast<Step>(top - account.live.begin());
  return account;
}

}  // namespace lowtide::engine
