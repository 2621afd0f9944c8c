#include "text/proto/proto_report.h"

#include <unordered_map>

#include "text/proto/proto_attributes.h"
#include "text/proto/proto_shape.h"
#include "text/proto/wire.h"

namespace lowtide::engine {
namespace {

/// A LogicalBufferProto: a value, identified by the instruction and the place in its result that define it.
struct Definition {
  std::string name, shape;
  ShapeIndex index;
};
using Definitions = std::unordered_map<int64_t, Definition>;

/// The text of a subshape: `f32[8]{0}` for `(s32[], f32[8]{0})` at {1}.
std::string shape_at(const Shape& shape, const ShapeIndex& index) {
  const Shape* at = &shape;
  for (const int64_t i : index) {
    if (i < 0 || static_cast<size_t>(i) >= at->elements.size()) return {};
    at = &at->elements[i];
  }
  return to_string(*at);
}

Definitions read_definitions(const WireMessage& module, const WireMessage& assignment, WireFault& fault) {
  struct Found {
    std::string_view name;
    std::string_view shape;
  };
  std::unordered_map<int64_t, Found> by_id;
  std::unordered_map<std::string_view, Found> by_name;  // older files refer by name
  for (const WireMessage& computation : module.messages(3)) {
    for (const WireMessage& instruction : computation.messages(2)) {
      const Found found{instruction.bytes(kInstructionName), instruction.bytes(kInstructionShape)};
      by_id.emplace(instruction.integer(kInstructionId), found);
      by_name.emplace(found.name, found);
    }
  }
  Definitions definitions;
  for (const WireMessage& buffer : assignment.messages(1)) {
    const WireMessage location = buffer.message(3);
    Found found;
    if (location.has(2)) {
      const auto at = by_name.find(location.bytes(2));
      if (at != by_name.end()) found = at->second;
    } else if (const auto at = by_id.find(location.integer(4)); at != by_id.end()) {
      found = at->second;
    }
    if (found.name.empty()) continue;
    Definition& definition = definitions[buffer.integer(1)];
    definition.name = found.name;
    definition.index = location.integers(3);
    definition.shape = shape_at(shape_from_proto(WireMessage(found.shape, fault), fault), definition.index);
  }
  return definitions;
}

std::string kind_of(const WireMessage& allocation) {
  std::string kind;
  const auto add = [&](bool holds, const std::string& word) {
    if (holds) kind += (kind.empty() ? "" : ", ") + word;
  };
  const bool parameter = allocation.flag(5), constant = allocation.flag(12), local = allocation.flag(3),
             live_out = allocation.flag(7);
  add(parameter, "parameter " + std::to_string(allocation.integer(6)));
  add(constant, "constant");
  add(local, "thread-local");
  add(live_out, "maybe-live-out");
  add(!parameter && !constant && !local && !live_out, "preallocated-temp");
  return kind;
}

}  // namespace

std::optional<XlaReport> report_in_proto(std::string_view bytes) {
  WireFault fault;
  const WireMessage proto(bytes, fault);
  const WireMessage assignment = proto.message(3);
  if (fault.what || !assignment.has(3)) return std::nullopt;
  const Definitions definitions = read_definitions(proto.message(1), assignment, fault);
  XlaReport report;
  for (const WireMessage& buffer : assignment.messages(3)) {
    XlaReport::Allocation allocation{buffer.integer(1), buffer.integer(2), kind_of(buffer), buffer.integer(8), {}};
    for (const WireMessage& assigned : buffer.messages(9)) {
      const auto definition = definitions.find(assigned.integer(1));
      if (definition == definitions.end()) continue;
      const auto& [name, shape, index] = definition->second;
      allocation.values.push_back({name, index, assigned.integer(3), assigned.integer(2), shape});
    }
    report.allocations.push_back(std::move(allocation));
  }
  if (fault.what) return std::nullopt;
  return report;
}

}  // namespace lowtide::engine
