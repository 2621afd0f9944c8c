#include "report/by_operation.h"

#include <algorithm>
#include <map>

#include "report/origin.h"

namespace lowtide::engine {
namespace {

// Drops the suffixes that XLA appends to keep names distinct: ".123", ".clone", ".remat2".
std::string_view stem(std::string_view name) {
  for (;;) {
    const size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return name;
    const std::string_view tail = name.substr(dot + 1);
    const bool number =
        std::all_of(tail.begin(), tail.end(), [](unsigned char c) { return (c >= '0' && c <= '9') || c == '_'; });
    if (!number && tail != "clone" && !tail.starts_with("remat")) return name;
    name = name.substr(0, dot);
  }
}

// The value that gives a buffer its bytes: parameters of bodies and tuples only pass it on.
const ValueRef& definition_of(const AccountBuffer& buffer) {
  for (const ValueRef& value : buffer.values) {
    const Opcode opcode = value.instruction->opcode;
    if (opcode != Opcode::kParameter && opcode != Opcode::kTuple && opcode != Opcode::kGetTupleElement) return value;
  }
  return buffer.values[0];
}

}  // namespace

std::string operation_type(const Instruction& instruction) {
  std::string opcode(opcode_name(instruction.opcode));
  if (instruction.opcode == Opcode::kCustomCall) {
    const auto* call = instruction.if_as<CustomCallAttributes>();
    return call != nullptr && !call->target.empty() ? call->target : opcode;
  }
  if (instruction.opcode != Opcode::kFusion) return opcode;
  const std::string_view name = stem(instruction.name);
  return name.find("fusion") != std::string_view::npos || name.find("wrapped") != std::string_view::npos
             ? std::string(name)
             : opcode;
}

std::vector<OperationRow> operation_rows(const Graph& graph, const Account& account) {
  struct Group {
    OperationRow row;
    int64_t largest = -1;
    const AccountBuffer* of_largest = nullptr;
  };
  std::map<std::string, Group> groups;
  for (const AccountBuffer& buffer : account.buffers) {
    if (buffer.memory_space != 0 || buffer.values.empty() || buffer.bytes == 0) continue;
    const bool stays = buffer.kind == BufferKind::kArgument || buffer.kind == BufferKind::kOutput;
    if (!stays && !buffer.alive_at(account.peak_step)) continue;
    const ValueRef& value = buffer.kind == BufferKind::kArgument ? buffer.values[0] : definition_of(buffer);
    Group& group = groups[buffer.kind == BufferKind::kArgument ? "param" : operation_type(*value.instruction)];
    group.row.bytes += buffer.bytes;
    group.row.names.push_back(value.instruction->name + (value.index.empty() ? "" : to_string(value.index)));
    if (buffer.bytes > group.largest) {
      group.largest = buffer.bytes;
      group.of_largest = &buffer;
    }
  }
  std::vector<OperationRow> rows;
  for (auto& [type, group] : groups) {
    group.row.type = type;
    group.row.count = static_cast<int64_t>(group.row.names.size());
    const Origin origin = origin_of(graph, *group.of_largest);
    group.row.framework_op = origin.op_name;
    group.row.source = origin.source;
    rows.push_back(std::move(group.row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const OperationRow& a, const OperationRow& b) { return a.bytes > b.bytes; });
  return rows;
}

}  // namespace lowtide::engine
