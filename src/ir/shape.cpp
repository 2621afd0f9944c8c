#include "ir/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/status.h"

namespace lowtide::engine {
namespace {

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// Extents from major to minor after padding the tiled dimensions to whole tiles (XLA's tiled layouts:
/// the first tile applies to the most minor dimensions, later tiles divide the first one further).
int64_t tiled_elements(const Shape& array) {
  const Layout& layout = *array.layout;
  Dims physical;  // major to minor
  for (auto it = layout.minor_to_major.rbegin(); it != layout.minor_to_major.rend(); ++it) {
    physical.push_back(std::max<int64_t>(array.dims[*it], 0));
  }
  for (const Dims& tile : layout.tiles) {
    while (physical.size() < tile.size()) physical.insert(physical.begin(), 1);
    // `*` merges a dimension into the next more minor one.
    Dims sizes;
    for (size_t t = 0; t < tile.size(); ++t) {
      const size_t d = physical.size() - tile.size() + t;
      if (tile[t] == kCombineTile && d + 1 < physical.size()) {
        physical[d + 1] *= physical[d];
        physical[d] = 1;
        sizes.push_back(1);
      } else {
        sizes.push_back(std::max<int64_t>(tile[t], 1));
      }
    }
    const size_t first = physical.size() - sizes.size();
    Dims within;
    for (size_t t = 0; t < sizes.size(); ++t) {
      physical[first + t] = round_up(physical[first + t], sizes[t]) / sizes[t];
      within.push_back(sizes[t]);
    }
    physical.insert(physical.end(), within.begin(), within.end());
  }
  int64_t product = 1;
  for (const int64_t extent : physical) product *= extent;
  return product;
}

int64_t array_bytes(const Shape& array, int64_t elements) {
  if (!array.is_array()) return 0;
  int64_t bits = type_bits(array.type);
  if (array.layout && array.layout->element_bits > 0) {
    bits = array.layout->element_bits;
  } else {
    bits = round_up(bits, 8);
  }
  return (elements * bits + 7) / 8;
}

void print(const Shape& shape, bool with_layout, std::string& out) {
  if (shape.is_tuple()) {
    out += '(';
    for (size_t i = 0; i < shape.elements.size(); ++i) {
      if (i > 0) out += ", ";
      if (i > 0 && i % 5 == 0) out += fmt::format("/*index={}*/", i);
      print(shape.elements[i], with_layout, out);
    }
    out += ')';
    return;
  }
  if (shape.type == ElementType::kBuffer) {
    out += "b(";
    for (const Shape& referent : shape.elements) print(referent, with_layout, out);
    out += ')';
    return;
  }
  out += type_name(shape.type);
  out += '[';
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    if (i > 0) out += ',';
    if (shape.dims[i] == kUnboundedDim) {
      out += '?';
      continue;
    }
    if (!shape.dynamic.empty() && shape.dynamic[i]) out += "<=";
    out += std::to_string(shape.dims[i]);
  }
  out += ']';
  if (!with_layout || !shape.layout) return;
  const Layout& layout = *shape.layout;
  std::string attributes;
  if (layout.rare && !layout.rare->dim_levels.empty()) attributes += fmt::format("D({})", layout.rare->dim_levels);
  if (!layout.tiles.empty()) attributes += 'T';
  for (const Dims& tile : layout.tiles) {
    attributes += '(';
    for (size_t i = 0; i < tile.size(); ++i) {
      if (i > 0) attributes += ',';
      attributes += tile[i] == kCombineTile ? "*" : std::to_string(tile[i]);
    }
    attributes += ')';
  }
  if (layout.rare && layout.rare->tail_alignment != 1) attributes += fmt::format("L({})", layout.rare->tail_alignment);
  if (layout.rare && !layout.rare->index_type.empty()) attributes += fmt::format("#({})", layout.rare->index_type);
  if (layout.rare && !layout.rare->pointer_type.empty()) attributes += fmt::format("*({})", layout.rare->pointer_type);
  if (layout.element_bits != 0) attributes += fmt::format("E({})", layout.element_bits);
  if (layout.memory_space != 0) attributes += fmt::format("S({})", layout.memory_space);
  if (layout.rare && !layout.rare->split_config.empty()) attributes += layout.rare->split_config;
  if (layout.rare && !layout.rare->physical_shape.empty()) {
    attributes += fmt::format("P({})", layout.rare->physical_shape);
  }
  if (layout.rare && layout.rare->metadata_bytes != 0) attributes += fmt::format("M({})", layout.rare->metadata_bytes);
  if (shape.dims.empty() && attributes.empty()) return;  // `{}` after a scalar has no meaning
  out += fmt::format("{{{}{}{}}}", fmt::join(layout.minor_to_major, ","), attributes.empty() ? "" : ":", attributes);
}

}  // namespace

bool Layout::operator==(const Layout& other) const {
  const bool same_rare = rare == other.rare || (rare && other.rare && *rare == *other.rare);
  return minor_to_major == other.minor_to_major && tiles == other.tiles && element_bits == other.element_bits &&
         memory_space == other.memory_space && same_rare;
}

int64_t element_count(const Shape& array) {
  int64_t count = 1;
  for (const int64_t extent : array.dims) count *= std::max<int64_t>(extent, 0);  // `?` has no bytes to count
  return count;
}

int64_t logical_bytes(const Shape& shape) {
  int64_t bytes = 0;
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) { bytes += array_bytes(leaf, element_count(leaf)); });
  return bytes;
}

int64_t padded_bytes(const Shape& shape) {
  int64_t bytes = 0;
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    const bool tiled = leaf.is_array() && leaf.layout && !leaf.layout->tiles.empty();
    bytes += array_bytes(leaf, tiled ? tiled_elements(leaf) : element_count(leaf));
  });
  return bytes;
}

bool same_shape(const Shape& a, const Shape& b) {
  return a.type == b.type && a.dims == b.dims &&
         std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(), same_shape);
}

const Shape& subshape(const Shape& shape, const ShapeIndex& index) {
  const Shape* at = &shape;
  for (const int64_t i : index) {
    LT_ASSERT(i >= 0 && static_cast<size_t>(i) < at->elements.size(),
              fmt::format("no element {} in {}", to_string(index), to_string(shape)));
    at = &at->elements[i];
  }
  return *at;
}

std::string to_string(const Shape& shape) {
  std::string out;
  print(shape, true, out);
  return out;
}

std::string to_string_without_layout(const Shape& shape) {
  std::string out;
  print(shape, false, out);
  return out;
}

std::string to_string(const ShapeIndex& index) { return fmt::format("{{{}}}", fmt::join(index, ",")); }

bool is_row_major(const Shape& array) {
  if (!array.layout) return true;
  const Dims& order = array.layout->minor_to_major;
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int64_t>(order.size() - 1 - i)) return false;
  }
  return array.layout->tiles.empty();
}

}  // namespace lowtide::engine
