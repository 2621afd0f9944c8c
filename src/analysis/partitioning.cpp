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

/// Programs after the partitioner hold parts: shardings stay, if at all, on parameters and the root alone.
bool has_global_shapes(const Module& module) {
  if (module.is_scheduled) return false;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (i->opcode == Opcode::kCustomCall) {
        const auto* a = i->if_as<CustomCallAttributes>();
        if (a && (a->target == "Sharding" || a->target == "xla.sdy.FuncResultSharding")) return true;
      }
      if (i->sharding && is_tiled(*i->sharding) && i->opcode != Opcode::kParameter && i.get() != computation->root)
        return true;
    }
  }
  return false;
}

bool has_collectives(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      if (memory_class(i->opcode) == MemoryClass::kCollective || i->opcode == Opcode::kPartitionId) return true;
    }
  }
  return false;
}

const Sharding* part_of(const Sharding* sharding, int32_t leaf) {
  if (!sharding || sharding->kind != ShardingKind::kTuple) return sharding;
  return leaf < static_cast<int32_t>(sharding->parts.size()) ? &sharding->parts[static_cast<size_t>(leaf)] : nullptr;
}

}  // namespace

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
  const bool global =
      has_global_shapes(module) || (!module.is_scheduled && !count_by_devices.empty() && !has_collectives(module));
  if (!global) return result;
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

int64_t aliased_bytes(const Module& module, const Leaves& leaves, const Partitioning& sizes, bool with_donors) {
  if (!module.entry || !module.entry->root) return 0;
  const Instruction& root = *module.entry->root;
  const std::vector<Instruction*> parameters = module.entry->parameters();
  std::vector<bool> result_taken(static_cast<size_t>(leaves.count(root)), false);
  std::map<std::pair<int64_t, int64_t>, bool> argument_taken;
  int64_t sum = 0;
  const auto parameter = [&](int64_t number) -> const Instruction* {
    return number >= 0 && number < static_cast<int64_t>(parameters.size()) ? parameters[static_cast<size_t>(number)]
                                                                           : nullptr;
  };
  for (const AliasEntry& alias : module.input_output_alias) {
    const Instruction* p = parameter(alias.operand);
    int64_t from = 0, count_in = 0, to = 0, count_out = 0;
    if (!p || !leaf_range(p->shape, alias.operand_index, from, count_in)) continue;
    if (!leaf_range(root.shape, alias.output, to, count_out)) continue;
    for (int64_t l = 0; l < std::min(count_in, count_out); ++l) {
      bool& used = argument_taken[{alias.operand, from + l}];
      if (used || result_taken[static_cast<size_t>(to + l)]) continue;
      used = result_taken[static_cast<size_t>(to + l)] = true;
      const LeafBytes in = sizes.of(*p, static_cast<int32_t>(from + l)),
                      out = sizes.of(root, static_cast<int32_t>(to + l));
      if (in.memory_space == 0 && out.memory_space == 0) sum = add_bytes(sum, std::min(in.bytes, out.bytes));
    }
  }
  if (!with_donors) return sum;
  std::multimap<int64_t, int32_t> free_results;  // bytes -> leaf
  for (int32_t l = 0; l < leaves.count(root); ++l) {
    if (!result_taken[static_cast<size_t>(l)]) free_results.emplace(sizes.of(root, l).bytes, l);
  }
  for (const Module::Donor& donor : module.buffer_donors) {
    const Instruction* p = parameter(donor.parameter);
    int64_t from = 0, count = 0;
    if (!p || !leaf_range(p->shape, donor.index, from, count)) continue;
    for (int64_t l = from; l < from + count; ++l) {
      bool& used = argument_taken[{donor.parameter, l}];
      const int64_t bytes = sizes.of(*p, static_cast<int32_t>(l)).bytes;
      const auto fits = free_results.find(bytes);
      if (used || bytes == 0 || fits == free_results.end()) continue;
      used = true;
      free_results.erase(fits);
      sum = add_bytes(sum, bytes);
    }
  }
  return sum;
}

}  // namespace lowtide
