#include "ops/collective.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/runnable.h"

namespace lowtide::engine {

Status read_collective(AttributeReader& reader, Instruction& collective) {
  CollectiveAttributes attributes;
  if (reader.has("replica_groups")) {
    LT_ASSIGN_OR_RETURN(attributes.replica_groups, reader.take_replica_groups("replica_groups"));
  }
  if (reader.has("source_target_pairs")) {
    LT_ASSIGN_OR_RETURN(attributes.source_target_pairs, reader.take_text("source_target_pairs"));
  }
  LT_ASSIGN_OR_RETURN(attributes.dimensions, reader.take_dims_or("dimensions", {}));
  LT_ASSIGN_OR_RETURN(attributes.use_global_device_ids, reader.take_bool_or("use_global_device_ids", false));
  collective.attributes = std::move(attributes);
  return {};
}

void print_collective(const Instruction& collective, AttributeWriter& writer) {
  const auto& attributes = collective.as<CollectiveAttributes>();
  if (!attributes.replica_groups.text.empty()) writer.text("replica_groups", attributes.replica_groups.text);
  if (!attributes.source_target_pairs.empty()) writer.text("source_target_pairs", attributes.source_target_pairs);
  if (!attributes.dimensions.empty()) writer.dims("dimensions", attributes.dimensions);
  if (attributes.use_global_device_ids) writer.boolean("use_global_device_ids", true);
}

Status read_reducing_collective(AttributeReader& reader, Instruction& collective) {
  LT_RETURN_IF_ERROR(read_collective(reader, collective));
  LT_ASSIGN_OR_RETURN(Computation * callee, reader.take_computation("to_apply"));
  collective.called = {callee};
  return {};
}

void print_reducing_collective(const Instruction& collective, AttributeWriter& writer) {
  print_collective(collective, writer);
  writer.computation("to_apply", *collective.called[0]);
}

Shape shapes_of_operands(const Instruction& collective) {
  std::vector<Shape> shapes;
  for (const Instruction* operand : collective.operands) shapes.push_back(operand->shape);
  return one_or_tuple(std::move(shapes));
}

std::vector<const Shape*> declared_results(const Instruction& collective, const Shape& declared) {
  std::vector<const Shape*> results;
  if (declared.is_tuple()) {
    for (const Shape& element : declared.elements) results.push_back(&element);
  } else {
    results.push_back(&declared);
  }
  if (results.size() != collective.operands.size()) results.clear();
  return results;
}

bool is_alone(const Instruction& collective) {
  const auto& attributes = collective.as<CollectiveAttributes>();
  const ReplicaGroups& groups = attributes.replica_groups;
  const Module& module = collective.parent->module();
  if (module.replica_count == 1 && module.num_partitions.value_or(1) == 1) return true;
  if (!attributes.source_target_pairs.empty()) return false;
  if (groups.group_size == 1) return true;
  return !groups.groups.empty() &&
         std::all_of(groups.groups.begin(), groups.groups.end(), [](const auto& group) { return group.size() == 1; });
}

std::string joins_devices(const Instruction& collective) {
  return fmt::format("{} {} joins several devices; the interpreter has one", opcode_name(collective.opcode),
                     collective.name);
}

Status needs_devices(const Instruction& collective) { return Status::unsupported(joins_devices(collective)); }

std::string why_collective_not_run(const Instruction& collective) {
  return is_alone(collective) ? "" : joins_devices(collective);
}

Result<Value> eval_alone(const Instruction& collective, Operands operands, EvalContext&) {
  if (!is_alone(collective)) return needs_devices(collective);
  const bool fits = collective.shape.is_tuple()
                        ? same_shape(collective.shape, Literal({operands.begin(), operands.end()}).shape())
                        : operands.size() == 1 && same_shape(collective.shape, operands[0]->shape());
  if (!fits) return needs_devices(collective);
  if (!collective.shape.is_tuple()) return operands[0];
  return Value(std::make_shared<Literal>(std::vector<Value>(operands.begin(), operands.end())));
}

}  // namespace lowtide::engine
