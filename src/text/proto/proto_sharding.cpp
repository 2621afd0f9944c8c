#include "text/proto/proto_sharding.h"

#include <fmt/format.h>

namespace lowtide::engine {
namespace {

enum OpShardingField : uint32_t {
  kType = 1,
  kTileDimensions = 3,
  kTileDevices = 4,
  kTupleShardings = 5,
  kReplicateOnLast = 6,
  kLastTileDims = 8,
  kIotaReshape = 9,
  kIotaTranspose = 10,
  kIsShardGroup = 11,
  kShardGroupId = 12,
  kShardGroupType = 13,
  kNamedSharding = 14,
};
enum OpShardingType : int64_t {
  kReplicated = 0,
  kMaximal = 1,
  kTuple = 2,
  kOther = 3,
  kManual = 4,
  kUnknown = 5,
  kUnreduced = 6
};
enum NamedShardingField : uint32_t {
  kMesh = 2,
  kDimShardings = 3,
  kReplicatedAxes = 4,
  kUnreducedAxes = 5,
  kManualAxes = 7
};

std::string listed(const std::vector<int64_t>& numbers) { return fmt::format("{}", fmt::join(numbers, ",")); }

/// `[4,2]T(1,0)`; an identity transpose is omitted.
std::string iota(const std::vector<int64_t>& reshape, const std::vector<int64_t>& transpose) {
  bool identity = true;
  for (size_t i = 0; i < transpose.size(); ++i) identity &= transpose[i] == static_cast<int64_t>(i);
  std::string text = fmt::format("[{}]", listed(reshape));
  if (!identity) text += fmt::format("T({})", listed(transpose));
  return text;
}

std::vector<std::string> axis_names(const WireMessage& mesh) {
  std::vector<std::string> names;
  for (const WireMessage& axis : mesh.messages(1)) names.emplace_back(axis.bytes(1));
  return names;
}

std::string mesh_text(const WireMessage& mesh) {
  std::string text = "mesh[";
  for (const WireMessage& axis : mesh.messages(1)) {
    text += fmt::format("{}'{}'={}", text.back() == '[' ? "" : ",", axis.bytes(1), axis.integer(2));
  }
  text += ']';
  if (mesh.has(2)) text += fmt::format(", device_ids=({})", listed(mesh.integers(2)));
  if (mesh.has(3)) {
    const WireMessage transform = mesh.message(3);
    text += fmt::format(", device_ids=({})", iota(transform.integers(1), transform.integers(2)));
  }
  return text;
}

/// `'x','y':(1)2`
std::string axes_text(const std::vector<WireMessage>& axes, const std::vector<std::string>& names) {
  std::string text;
  for (const WireMessage& axis : axes) {
    const auto index = static_cast<uint64_t>(axis.integer(1));
    text += fmt::format("{}'{}'", text.empty() ? "" : ",", index < names.size() ? names[index] : std::to_string(index));
    if (axis.has(2)) text += fmt::format(":({}){}", axis.message(2).integer(1), axis.message(2).integer(2));
  }
  return text;
}

std::string named_text(const WireMessage& proto) {
  const WireMessage mesh = proto.message(kMesh);
  if (mesh.count(1) == 0) {  // no axes: replicated, or on the single device that is listed
    return mesh.has(2) ? fmt::format("maximal device={}", listed(mesh.integers(2))) : "replicated";
  }
  const std::vector<std::string> names = axis_names(mesh);
  std::string dims;
  for (const WireMessage& dimension : proto.messages(kDimShardings)) {
    std::string axes = axes_text(dimension.messages(1), names);
    if (!dimension.flag(2)) axes += axes.empty() ? "?" : ", ?";
    dims += fmt::format("{}{{{}}}", dims.empty() ? "" : ", ", axes);
  }
  std::string text = fmt::format("{}, [{}]", mesh_text(mesh), dims);
  const auto add = [&](std::string_view key, uint32_t number) {
    if (proto.has(number)) text += fmt::format(", {}={{{}}}", key, axes_text(proto.messages(number), names));
  };
  add("replicated", kReplicatedAxes);
  add("unreduced", kUnreducedAxes);
  add("manual", kManualAxes);
  return text;
}

std::string_view subgroup(int64_t type) {
  return type == kManual ? "manual" : type == kUnreduced ? "unreduced" : "replicated";
}

std::string tiled_text(const WireMessage& proto) {
  std::string text = fmt::format("devices=[{}]", listed(proto.integers(kTileDimensions)));
  if (proto.has(kIotaReshape)) {
    text += "<=" + iota(proto.integers(kIotaReshape), proto.integers(kIotaTranspose));
  } else {
    text += listed(proto.integers(kTileDevices));
  }
  if (proto.flag(kReplicateOnLast)) text += " last_tile_dim_replicate";
  if (proto.has(kLastTileDims)) {
    text += " last_tile_dims={";
    for (const int64_t type : proto.integers(kLastTileDims)) {
      if (text.back() != '{') text += ", ";
      text += subgroup(type);
    }
    text += '}';
  }
  return text;
}

}  // namespace

std::string braced(const std::vector<int64_t>& numbers) { return fmt::format("{{{}}}", fmt::join(numbers, ",")); }

std::string sharding_text(const WireMessage& proto) {
  std::string text;
  switch (proto.integer(kType)) {
    case kMaximal: {
      const auto devices = proto.integers(kTileDevices);
      text = fmt::format("maximal device={}", devices.empty() ? 0 : devices.front());
      break;
    }
    case kTuple: {
      int64_t index = 0;
      for (const WireMessage& part : proto.messages(kTupleShardings)) {
        if (index > 0) text += ", ";
        if (index > 0 && index % 5 == 0) text += fmt::format("/*index={}*/", index);
        text += sharding_text(part);
        ++index;
      }
      break;
    }
    case kOther: text = tiled_text(proto); break;
    case kManual: text = "manual"; break;
    case kUnknown: text = "unknown"; break;
    case kUnreduced: text = "unreduced"; break;
    default: text = proto.has(kNamedSharding) ? named_text(proto.message(kNamedSharding)) : "replicated"; break;
  }
  if (proto.flag(kIsShardGroup)) {
    text +=
        fmt::format(" shard_{} {}", proto.integer(kShardGroupType) == 0 ? "as" : "like", proto.integer(kShardGroupId));
  }
  return fmt::format("{{{}}}", text);
}

std::string iota_groups_text(const WireMessage& proto) {
  return fmt::format("[{},{}]<={}", proto.integer(1), proto.integer(2), iota(proto.integers(3), proto.integers(4)));
}

std::string mesh_groups_text(const WireMessage& proto) {
  const WireMessage mesh = proto.message(1);
  return fmt::format("{} {{{}}}", mesh_text(mesh), axes_text(proto.messages(2), axis_names(mesh)));
}

std::string listed_groups_text(const std::vector<WireMessage>& groups) {
  std::string text = "{";
  for (const WireMessage& group : groups) text += (text.size() > 1 ? "," : "") + braced(group.integers(1));
  return text + '}';
}

}  // namespace lowtide::engine
