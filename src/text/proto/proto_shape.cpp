#include "text/proto/proto_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace lowtide::engine {
namespace {

enum LayoutField : uint32_t {
  kMinorToMajor = 1,
  kTiles = 6,
  kElementBits = 7,
  kMemorySpace = 8,
  kDimLevels = 9,
  kPhysicalShape = 10,
  kIndexType = 11,
  kPointerType = 12,
  kMetadataBytes = 15,
  kTailAlignment = 16,
  kSplitConfigs = 17,
};
enum ShapeField : uint32_t { kElementType = 2, kDimensions = 3, kTupleShapes = 4, kLayout = 5, kIsDynamic = 6 };

constexpr int64_t kMostElements = int64_t{1} << 48;  // leaves room for factors of bytes, padding and tuple elements
constexpr int64_t kMostRank = 1024;

RareLayout rare_layout(const WireMessage& proto, WireFault& fault) {
  RareLayout rare;
  for (const int64_t level : proto.integers(kDimLevels)) {
    constexpr std::string_view kLetters = "DCSH";
    if (!rare.dim_levels.empty()) rare.dim_levels += ',';
    rare.dim_levels += level >= 0 && level < 4 ? kLetters[level] : 'D';
  }
  rare.tail_alignment = std::max<int64_t>(1, proto.integer(kTailAlignment, 1));
  const auto type = [&](uint32_t number) {
    const auto known = element_type_from_proto(proto.integer(number));
    return known ? std::string(type_name(*known)) : std::string();
  };
  rare.index_type = type(kIndexType);
  rare.pointer_type = type(kPointerType);
  for (const WireMessage& split : proto.messages(kSplitConfigs)) {
    rare.split_config += fmt::format("{}{}:{}", rare.split_config.empty() ? "SC(" : ";", split.integer(1),
                                     fmt::join(split.integers(2), ","));
  }
  if (!rare.split_config.empty()) rare.split_config += ')';
  if (proto.has(kPhysicalShape))
    rare.physical_shape = to_string(shape_from_proto(proto.message(kPhysicalShape), fault));
  rare.metadata_bytes = proto.integer(kMetadataBytes);
  return rare;
}

Layout layout_from_proto(const WireMessage& proto, size_t rank, int64_t count, WireFault& fault) {
  Layout layout;
  layout.minor_to_major = proto.integers(kMinorToMajor);
  Dims sorted = layout.minor_to_major;
  std::ranges::sort(sorted);
  bool permutation = sorted.size() == rank;
  for (size_t i = 0; permutation && i < rank; ++i) permutation = sorted[i] == static_cast<int64_t>(i);
  if (!permutation) fault.raise("a layout that does not name each dimension once");
  for (const WireMessage& tile : proto.messages(kTiles)) {
    Dims extents = tile.integers(1);
    for (int64_t& extent : extents) {
      if (extent == INT64_MIN) {
        extent = kCombineTile;
      } else if (extent < 1 || count > kMostElements / extent) {
        fault.raise("a tile with an impossible extent");
      } else {
        count *= extent;  // an upper bound of the padding: the product of all tiles' extents
      }
    }
    layout.tiles.push_back(std::move(extents));
  }
  layout.element_bits = proto.integer(kElementBits);
  layout.memory_space = proto.integer(kMemorySpace);
  if (layout.element_bits < 0 || layout.element_bits > 1024) fault.raise("a layout with an impossible element size");
  RareLayout rare = rare_layout(proto, fault);
  if (!(rare == RareLayout{})) layout.rare = std::make_shared<const RareLayout>(std::move(rare));
  return layout;
}

}  // namespace

std::optional<ElementType> element_type_from_proto(int64_t number) {
  using enum ElementType;
  switch (number) {
    case 1: return kPred;
    case 2: return kS8;
    case 3: return kS16;
    case 4: return kS32;
    case 5: return kS64;
    case 6: return kU8;
    case 7: return kU16;
    case 8: return kU32;
    case 9: return kU64;
    case 10: return kF16;
    case 11: return kF32;
    case 12: return kF64;
    case 13: return kTuple;
    case 14: return kOpaque;
    case 15: return kC64;
    case 16: return kBF16;
    case 17: return kToken;
    case 18: return kC128;
    case 19: return kF8E5M2;
    case 20: return kF8E4M3FN;
    case 21: return kS4;
    case 22: return kU4;
    case 23: return kF8E4M3B11FNUZ;
    case 24: return kF8E5M2FNUZ;
    case 25: return kF8E4M3FNUZ;
    case 26: return kS2;
    case 27: return kU2;
    case 28: return kF8E4M3;
    case 29: return kF8E3M4;
    case 30: return kS1;
    case 31: return kU1;
    case 32: return kF4E2M1FN;
    case 33: return kF8E8M0FNU;
    case 34: return kBuffer;
    default: return std::nullopt;
  }
}

Shape shape_from_proto(const WireMessage& proto, WireFault& fault) {
  Shape shape;
  const auto type = element_type_from_proto(proto.integer(kElementType));
  if (!type) {
    fault.raise("a shape whose element type this version does not know");
    return shape;
  }
  shape.type = *type;
  if (shape.type == ElementType::kTuple || shape.type == ElementType::kBuffer) {
    for (const WireMessage& element : proto.messages(kTupleShapes))
      shape.elements.push_back(shape_from_proto(element, fault));
    return shape;
  }
  if (!shape.is_array()) return shape;
  shape.dims = proto.integers(kDimensions);
  if (shape.rank() > kMostRank) fault.raise("a shape of more than 1024 dimensions");
  const std::vector<int64_t> dynamic = proto.integers(kIsDynamic);
  int64_t count = 1;
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    int64_t& extent = shape.dims[i];
    if (extent == INT64_MIN) {
      extent = kUnboundedDim;
      continue;
    }
    if (extent < 0 || extent > kMostElements || (extent != 0 && count > kMostElements / extent)) {
      fault.raise("a shape with an impossible extent");
      extent = 0;
    }
    if (extent != 0) count *= extent;
    if (i < dynamic.size() && dynamic[i] != 0) {
      shape.dynamic.resize(shape.dims.size());
      shape.dynamic[i] = true;
    }
  }
  if (proto.has(kLayout)) {
    Layout layout = layout_from_proto(proto.message(kLayout), shape.dims.size(), std::max<int64_t>(count, 1), fault);
    if (!(shape.dims.empty() && layout == Layout{})) shape.layout = std::move(layout);
  }
  return shape;
}

}  // namespace lowtide::engine
