#include "passes/canonicalise/drop_annotations.h"

#include <algorithm>

#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kMostListedDevices = 1 << 16;  ///< longer assignments are compared as written

bool is_replicated(const Sharding& sharding, int64_t rank) {
  if (sharding.kind == ShardingKind::kReplicated) return true;
  if (sharding.kind != ShardingKind::kTiled) return false;
  for (int64_t d = 0; d < rank; ++d) {
    if (sharding.parts_of(d) > 1) return false;
  }
  return std::ranges::all_of(sharding.subgroups, [](SubgroupKind k) { return k == SubgroupKind::kReplicated; });
}

bool is_grouped(const Sharding& sharding) { return sharding.text.find("shard_") != std::string::npos; }

/// Does a Sharding call leave all dimensions open, as by `unspecified_dims=[0,1]`?
bool leaves_all_open(const Instruction& call) {
  const std::string key = "unspecified_dims=[";
  const size_t at = call.backend_config.find(key);
  if (at == std::string::npos || call.shape.rank() == 0) return false;
  const size_t end = call.backend_config.find(']', at);
  if (end == std::string::npos) return false;
  const std::string list = call.backend_config.substr(at + key.size(), end - at - key.size());
  return !list.empty() && std::ranges::count(list, ',') + 1 == call.shape.rank();
}

/// Is a value of the module placed elsewhere than on the device?
bool has_other_placement(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      const auto* call = i->if_as<CustomCallAttributes>();
      if (!call || call->target != "annotate_device_placement") continue;
      if (i->frontend_attributes.find("_xla_buffer_placement=\"device\"") == std::string::npos) return true;
    }
  }
  return false;
}

struct Surroundings {
  bool partitioned = false;
  bool other_placement = false;
};

bool says_nothing(const Instruction& i, const std::string& target, const Surroundings& around) {
  if (target == "annotate_device_placement") return !around.other_placement;
  if (!is_sharding_target(target)) return false;
  if (!around.partitioned) return true;
  if (target != "Sharding") return false;
  if (leaves_all_open(i)) return true;
  const Sharding* from = i.operand(0).sharding.get();
  return from && i.sharding && !is_grouped(*from) && !is_grouped(*i.sharding) &&
         same_sharding(*from, *i.sharding, i.shape.rank());
}

}  // namespace

bool same_sharding(const Sharding& a, const Sharding& b, int64_t rank) {
  if (a.text == b.text && !a.text.empty()) return true;
  if (is_replicated(a, rank) && is_replicated(b, rank)) return true;
  if (a.kind != b.kind) return false;
  if (a.kind == ShardingKind::kMaximal) return a.device == b.device;
  if (a.kind == ShardingKind::kManual) return true;
  if (a.kind != ShardingKind::kTiled || a.tile != b.tile || a.subgroups != b.subgroups) return false;
  const int64_t count = a.devices.count();
  if (count != b.devices.count()) return false;
  if (count <= kMostListedDevices) return a.devices.ids() == b.devices.ids();
  return a.devices.listed == b.devices.listed && a.devices.reshape == b.devices.reshape &&
         a.devices.transpose == b.devices.transpose;
}

Result<PassResult> drop_annotations(Module& module) {
  if (!has_any(module, {Opcode::kCustomCall})) return PassResult{};
  const std::vector<bool> ordered = ordered_instructions(module);
  const Surroundings around{is_partitioned(module), has_other_placement(module)};
  const bool by_layout = layouts_matter(module);
  Replacements replacements(module);
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      replacements.apply_to(*i);
      const auto* call = i->if_as<CustomCallAttributes>();
      if (!call || i->operands.size() != 1 || ordered[i->id]) continue;
      if (!same_elements(i->operand(0).shape, i->shape, by_layout) || !says_nothing(*i, call->target, around)) continue;
      replacements.replace(*i, *i->operands[0]);
    }
    replacements.finish(*computation);
  }
  return rewritten(replacements.count(), "annotations dropped");
}

}  // namespace lowtide::engine
