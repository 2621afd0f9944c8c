#include <fmt/format.h>

#include <algorithm>

#include "ops/attribute_text.h"
#include "ops/device_text.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepestTuple = 64;

/// Skips metadata={...}, shard_as 1, shard_like 2, which are annotations of a sharding, not part of it.
Status skip_remarks(TextCursor& cursor) {
  while (true) {
    (void)cursor.eat(",");
    if (cursor.eat("metadata=")) {
      const size_t end = cursor.peek() == '{' ? end_of_brackets(cursor.rest(), 0) : std::string_view::npos;
      if (end == std::string_view::npos) return cursor.expected("{...} behind metadata=");
      cursor.eat(cursor.rest().substr(0, end));
    } else if (cursor.eat("shard_as") || cursor.eat("shard_like")) {
      if (!cursor.integer()) return cursor.expected("the number of a shard group");
    } else {
      return {};
    }
  }
}

std::optional<SubgroupKind> subgroup_kind(std::string_view word) {
  if (word == "replicated") return SubgroupKind::kReplicated;
  if (word == "manual") return SubgroupKind::kManual;
  if (word == "unreduced") return SubgroupKind::kUnreduced;
  return std::nullopt;
}

Status read_subgroups(TextCursor& cursor, Sharding& sharding) {
  if (cursor.eat("last_tile_dim_replicate")) {
    sharding.subgroups.push_back(SubgroupKind::kReplicated);
    return {};
  }
  if (!cursor.eat("last_tile_dims=")) return {};
  if (!cursor.eat("{")) return cursor.expected("'{'");
  while (cursor.peek() != '}') {
    const std::optional<SubgroupKind> kind = subgroup_kind(cursor.word());
    if (!kind) return cursor.expected("replicated, manual or unreduced");
    sharding.subgroups.push_back(*kind);
    if (!cursor.eat(",")) break;
  }
  if (!cursor.eat("}")) return cursor.expected("',' or '}'");
  return {};
}

/// Reads what follows `devices=`.
Status read_tiled(TextCursor& cursor, Sharding& sharding) {
  sharding.kind = ShardingKind::kTiled;
  LT_ASSIGN_OR_RETURN(sharding.tile, read_extents(cursor));
  if (sharding.tile.empty()) return Status::input("devices=[] names no dimension");
  if (cursor.eat("<=")) {
    LT_ASSIGN_OR_RETURN(sharding.devices, read_iota(cursor));
  } else {
    std::optional<Dims> listed = cursor.integers();
    if (!listed) return cursor.expected("device ids");
    sharding.devices.listed = std::move(*listed);
  }
  LT_RETURN_IF_ERROR(skip_remarks(cursor));
  LT_RETURN_IF_ERROR(read_subgroups(cursor, sharding));
  if (sharding.subgroups.size() > sharding.tile.size()) {
    return Status::input(fmt::format("{} subgroup dimensions among {} tile dimensions", sharding.subgroups.size(),
                                     sharding.tile.size()));
  }
  if (device_product(sharding.tile) != sharding.devices.count()) {
    return Status::input(
        fmt::format("the tiles number {}, the devices {}", *device_product(sharding.tile), sharding.devices.count()));
  }
  return {};
}

/// Reads what follows `mesh`: `['x'=2,'y'=2], [{'x'}, {}], replicated={'y'}`.
Status read_named(TextCursor& cursor, Sharding& sharding) {
  sharding.kind = ShardingKind::kTiled;
  LT_ASSIGN_OR_RETURN(const Mesh mesh, read_mesh(cursor));
  std::vector<AxisPart> order;
  int64_t named = 1;  // devices distinguished by the axes named so far
  const auto use = [&](const std::vector<AxisPart>& parts) {
    int64_t product = 1;
    for (const AxisPart& part : parts) product = std::min(product * part.size, kMostDevices);
    named = std::min(named * product, kMostDevices);
    order.insert(order.end(), parts.begin(), parts.end());
    sharding.tile.push_back(product);
  };
  (void)cursor.eat(",");
  if (!cursor.eat("[")) return cursor.expected("'[' and the axes of each dimension");
  while (cursor.peek() != ']') {
    LT_ASSIGN_OR_RETURN(const std::vector<AxisPart> parts, read_axes(cursor, mesh));
    use(parts);
    if (!cursor.eat(",")) break;
  }
  if (!cursor.eat("]")) return cursor.expected("',' or ']'");
  while (true) {
    LT_RETURN_IF_ERROR(skip_remarks(cursor));
    if (cursor.peek() == '}') break;
    const std::optional<SubgroupKind> kind = subgroup_kind(cursor.word());
    if (!kind || !cursor.eat("=")) return cursor.expected("replicated=, manual= or unreduced=");
    LT_ASSIGN_OR_RETURN(const std::vector<AxisPart> parts, read_axes(cursor, mesh));
    use(parts);
    sharding.subgroups.push_back(*kind);
  }
  LT_ASSIGN_OR_RETURN(sharding.devices, devices_by(mesh, order, NamedAxes::kMajor));
  // Axes that aren't named replicate.
  const int64_t others = sharding.devices.count() / named;
  if (others > 1) {
    sharding.tile.push_back(others);
    sharding.subgroups.push_back(SubgroupKind::kReplicated);
  }
  return {};
}

Status read_braced(TextCursor& cursor, Sharding& sharding, int depth) {
  const std::string_view begin = cursor.rest();
  if (depth > kDeepestTuple) return Status::input("the sharding is nested too deeply");
  if (!cursor.eat("{")) return cursor.expected("'{'");
  if (cursor.peek() == '{' || cursor.peek() == '}') {
    sharding.kind = ShardingKind::kTuple;
    while (cursor.peek() == '{') {
      (void)cursor.eat("");
      Sharding part;
      LT_RETURN_IF_ERROR(read_braced(cursor, part, depth + 1));
      sharding.parts.push_back(std::move(part));
      if (!cursor.eat(",")) break;
    }
  } else if (cursor.eat("devices=")) {
    LT_RETURN_IF_ERROR(read_tiled(cursor, sharding));
  } else {
    const std::string_view word = cursor.word();
    if (word == "replicated") {
      sharding.kind = ShardingKind::kReplicated;
    } else if (word == "manual") {
      sharding.kind = ShardingKind::kManual;
    } else if (word == "unknown") {
      sharding.kind = ShardingKind::kUnknown;
    } else if (word == "unreduced") {
      sharding.kind = ShardingKind::kUnreduced;
    } else if (word == "maximal" || word == "maximal_mesh") {
      sharding.kind = ShardingKind::kMaximal;
      const bool mesh = cursor.eat("[");
      const bool key = cursor.eat("device=") || cursor.eat("device_id=");
      const std::optional<int64_t> device = key ? cursor.integer() : std::nullopt;
      if (!device || *device < 0 || *device >= kMostDevices) return cursor.expected("device= and a device number");
      if (mesh && !cursor.eat("]")) return cursor.expected("']'");
      sharding.device = *device;
    } else if (word == "mesh") {
      LT_RETURN_IF_ERROR(read_named(cursor, sharding));
    } else {
      return Status::input(
          fmt::format("found '{}', expected replicated, maximal, manual, unknown, unreduced, devices= or mesh",
                      word.empty() ? cursor.rest().substr(0, 20) : word));
    }
  }
  LT_RETURN_IF_ERROR(skip_remarks(cursor));
  if (!cursor.eat("}")) return cursor.expected("'}'");
  const size_t used = begin.size() - cursor.rest().size();
  sharding.text = std::string(begin.substr(0, used));
  return {};
}

/// Writes the groups of `group_size` devices each. Lists of thousands, repeated in every collective, are omitted.
void write_out(const DeviceList& devices, int64_t group_size, ReplicaGroups& out) {
  constexpr int64_t kMostListed = 4096;
  out.group_size = group_size;
  if (devices.count() > kMostListed) return;
  for (const int64_t id : devices.ids()) {
    if (out.groups.empty() || static_cast<int64_t>(out.groups.back().size()) == group_size) out.groups.emplace_back();
    out.groups.back().push_back(id);
  }
}

Result<ReplicaGroups> read_iota_groups(TextCursor& cursor) {
  LT_ASSIGN_OR_RETURN(const Dims shape, read_extents(cursor));
  if (shape.size() != 2) return Status::input("a list of groups has two extents: [groups,devices in each]");
  if (!cursor.eat("<=")) return cursor.expected("'<='");
  ReplicaGroups result;
  LT_ASSIGN_OR_RETURN(const DeviceList devices, read_iota(cursor));
  if (devices.count() != shape[0] * shape[1]) {
    return Status::input(fmt::format("{} groups of {} devices, but {} devices", shape[0], shape[1], devices.count()));
  }
  write_out(devices, shape[1], result);
  return result;
}

/// Reads `mesh['x'=4,'y'=2] {'y'}`: devices that differ only along the named axes form a group.
Result<ReplicaGroups> read_mesh_groups(TextCursor& cursor) {
  LT_ASSIGN_OR_RETURN(const Mesh mesh, read_mesh(cursor));
  (void)cursor.eat(",");
  LT_ASSIGN_OR_RETURN(const std::vector<AxisPart> within, read_axes(cursor, mesh));
  ReplicaGroups result;
  LT_ASSIGN_OR_RETURN(const DeviceList devices, devices_by(mesh, within, NamedAxes::kMinor));
  int64_t group_size = 1;
  for (const AxisPart& part : within) group_size *= part.size;
  write_out(devices, group_size, result);
  return result;
}

Result<ReplicaGroups> read_listed_groups(TextCursor& cursor) {
  if (!cursor.eat("{")) return cursor.expected("'{', [groups,devices] or mesh");
  ReplicaGroups result;
  while (cursor.peek() == '{') {
    cursor.eat("{");
    std::optional<Dims> group = cursor.integers();
    if (!group || !cursor.eat("}")) return cursor.expected("device numbers and '}'");
    for (const int64_t id : *group) {
      if (id < 0 || id >= kMostDevices) return Status::input(fmt::format("found the device number {}", id));
    }
    result.group_size = std::max(result.group_size, static_cast<int64_t>(group->size()));
    result.groups.push_back(std::move(*group));
    if (!cursor.eat(",")) break;
  }
  if (!cursor.eat("}")) return cursor.expected("',' or '}'");
  return result;
}

}  // namespace

Result<Sharding> parse_sharding(std::string_view text) {
  TextCursor cursor(text);
  if (cursor.peek() != '{') return cursor.expected("'{'");
  Sharding sharding;
  LT_RETURN_IF_ERROR(read_braced(cursor, sharding, 0));
  if (!cursor.done()) return cursor.expected("the end of the sharding");
  return sharding;
}

Result<ReplicaGroups> parse_replica_groups(std::string_view text) {
  TextCursor cursor(text);
  const auto read = cursor.peek() == '[' ? read_iota_groups
                    : cursor.eat("mesh") ? read_mesh_groups
                                         : read_listed_groups;
  LT_ASSIGN_OR_RETURN(ReplicaGroups groups, read(cursor));
  if (!cursor.done()) return cursor.expected("the end of the groups");
  groups.text = std::string(text);
  return groups;
}

}  // namespace lowtide::engine
