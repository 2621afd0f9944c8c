// Reads attributes of Shardy's dialect: meshes of devices, and shardings of arrays over them.
#include <fmt/format.h>

#include "text/bytecode/bytecode_entries.h"
#include "text/stablehlo/mlir_attributes.h"

namespace lowtide::engine {
namespace {

enum Attribute : uint64_t {
  kManualAxes = 0,
  kMeshAxis = 1,
  kMesh = 2,
  kSubAxis = 3,
  kAxis = 4,
  kDimension = 5,
  kSharding = 6,
  kPerValue = 7,
  kRule = 10,
  kShardingWithUnreduced = 15,
  kPerValueAgain = 16,
};

/// The items' texts, separated by ", ".
std::string joined_items(const std::vector<const BytecodeAttribute*>& items) {
  std::string text;
  for (const BytecodeAttribute* item : items) text += (text.empty() ? "" : ", ") + item->text;
  return text;
}

/// `#sdy.sharding<@mesh, [...]>` without its name, as written in lists.
std::string_view without_name(std::string_view text) { return text.substr(std::min(text.find('<'), text.size())); }

}  // namespace

void BytecodeEntries::read_sdy_attribute(ByteCursor& cursor, BytecodeAttribute& attribute) {
  const uint64_t code = cursor.varint();
  const auto list = [&] {
    BytecodeAttribute items;
    read_items(cursor, items);
    return std::move(items.items);
  };
  switch (code) {
    case kManualAxes: attribute.text = fmt::format("#sdy<manual_axes{{{}}}>", joined_items(list())); return;
    case kMeshAxis: {
      const std::string name = mlir_quote(file_.string(cursor.varint(), cursor));
      attribute.text = fmt::format("{}={}", name, cursor.signed_varint());
      return;
    }
    case kMesh: {
      const std::string axes = joined_items(list());
      const std::vector<int64_t> ids = read_signed(cursor);
      attribute.text = ids.empty() ? fmt::format("#sdy.mesh<[{}]>", axes)
                                   : fmt::format("#sdy.mesh<[{}], device_ids=[{}]>", axes, fmt::join(ids, ", "));
      return;
    }
    case kSubAxis: {
      const int64_t before = cursor.signed_varint(), size = cursor.signed_varint();
      attribute.text = fmt::format("({}){}", before, size);
      return;
    }
    case kAxis: {
      attribute.text = mlir_quote(file_.string(cursor.varint(), cursor));
      bool has_part = false;
      const uint64_t part = cursor.flagged(has_part);
      if (has_part) attribute.text += ':' + this->attribute(part).text;
      return;
    }
    case kDimension: {
      const std::string axes = joined_items(list());
      const bool closed = cursor.byte() != 0;
      bool has_priority = false;
      const uint64_t priority = cursor.flagged(has_priority);
      attribute.text = fmt::format("{{{}{}}}", axes, closed ? "" : axes.empty() ? "?" : ", ?");
      if (has_priority) attribute.text += fmt::format("p{}", priority);
      return;
    }
    case kSharding:
    case kShardingWithUnreduced: {
      const BytecodeAttribute& mesh = this->attribute(cursor.varint());
      const std::string name = mesh.text.starts_with("#sdy.") ? mesh.text.substr(5) : mesh.text;
      const std::string dimensions = joined_items(list()), replicated = joined_items(list());
      attribute.text = fmt::format("#sdy.sharding<{}, [{}]", name, dimensions);
      if (!replicated.empty()) attribute.text += fmt::format(", replicated={{{}}}", replicated);
      if (code == kShardingWithUnreduced) {
        const std::string unreduced = joined_items(list());
        if (!unreduced.empty()) attribute.text += fmt::format(", unreduced={{{}}}", unreduced);
      }
      attribute.text += '>';
      return;
    }
    case kPerValue:
    case kPerValueAgain: {
      std::string text;
      for (const BytecodeAttribute* item : list()) {
        text += (text.empty() ? "" : ", ") + std::string(without_name(item->text));
      }
      attribute.text = fmt::format("#sdy.sharding_per_value<[{}]>", text);
      return;
    }
    default:
      // Sharding rules only guide propagation, and don't affect values.
      attribute.text = "#sdy.unread";
      (void)cursor.bytes(cursor.left());
      return;
  }
}

}  // namespace lowtide::engine
