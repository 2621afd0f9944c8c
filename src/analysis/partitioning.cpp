#include "analysis/partitioning.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lowtide {
namespace {

bool is_tiled(const Sharding& sharding) {
  if (sharding.kind == ShardingKind::kTuple) {
    return std::any_of(sharding.parts.begin(), sharding.parts.end(), is_tiled);
  }
  return sharding.kind == ShardingKind::kTiled;
}

const Sharding* part_of(const Sharding* sharding, int32_t leaf) {
  if (!sharding || sharding->kind != ShardingKind::kTuple) return sharding;
  return leaf < static_cast<int32_t>(sharding->parts.size()) ? &sharding->parts[static_cast<size_t>(leaf)] : nullptr;
}

}  // namespace

bool has_global_shapes(const Module& module) {
  if (module.is_scheduled || module.num_partitions.value_or(1) <= 1) return false;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->opcode == Opcode::kCustomCall) {
        const auto* a = i->if_as<CustomCallAttributes>();
        if (a && (a->target == "Sharding" || a->target == "xla.sdy.FuncResultSharding")) return true;
      }
      if (i->sharding && is_tiled(*i->sharding) && i->opcode != Opcode::kParameter) return true;
    }
  }
  return false;
}

LeafBytes Partitioning::of(const Instruction& instruction, int32_t leaf) const {
  const Shape* shape = leaf_shape(instruction.shape, leaf);
  if (!shape) return {};
  LeafBytes whole = leaf_bytes(*shape);
  if (sharding_.empty() || !shape->is_array()) return whole;
  const Sharding* sharding = part_of(sharding_[static_cast<size_t>(instruction.id)], leaf);
  if (!sharding || sharding->kind != ShardingKind::kTiled || sharding->tile.size() < shape->dims.size()) return whole;
  Shape part = *shape;
  for (size_t d = 0; d < part.dims.size(); ++d) {
    const int64_t parts = std::max<int64_t>(1, sharding->parts_of(static_cast<int64_t>(d)));
    if (part.dims[d] > 0) part.dims[d] = (part.dims[d] - 1) / parts + 1;
  }
  return leaf_bytes(part);
}

Partitioning find_partitioning(const Module& module, std::vector<std::string>& warnings) {
  Partitioning result;
  std::map<int64_t, int64_t> count_by_devices;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->sharding && is_tiled(*i->sharding)) ++count_by_devices[i->sharding->device_count()];
    }
  }
  const int64_t partitions = module.num_partitions.value_or(1);
  if (partitions <= 1) {
    for (const auto& [devices, count] : count_by_devices) {
      if (devices <= 1) continue;
      warnings.push_back(
          fmt::format("{} sharding{} name{} {} devices but the header declares {}: sizes are as for one device", count,
                      count == 1 ? "" : "s", count == 1 ? "s" : "", devices,
                      module.num_partitions ? "1 partition" : "no partitions"));
    }
    return result;
  }
  if (!has_global_shapes(module)) return result;
  // Operations that walk in step with a sharded operand of their shape are divided like it.
  result.sharding_.assign(static_cast<size_t>(module.id_limit()), nullptr);
  int64_t known = 0, total = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      const Sharding*& mine = result.sharding_[static_cast<size_t>(i->id)];
      mine = i->sharding.get();
      if (!mine && i->shape.is_array()) {
        for (const Instruction* operand : i->operands) {
          const Sharding* theirs = result.sharding_[static_cast<size_t>(operand->id)];
          if (theirs && theirs->kind == ShardingKind::kTiled && operand->shape.dims == i->shape.dims) mine = theirs;
        }
      }
      ++total;
      known += mine != nullptr;
    }
  }
  warnings.push_back(
      fmt::format("before partitioning over {} devices: sizes are divided where shardings are known ({} of {} "
                  "instructions), whole elsewhere",
                  partitions, known, total));
  return result;
}

}  // namespace lowtide
