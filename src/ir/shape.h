#pragma once
/// Shapes: element type, dimensions and, if the text gives one, the physical layout.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/element_type.h"

namespace lowtide::engine {

using Dims = std::vector<int64_t>;
inline constexpr int64_t kUnboundedDim = -1;  ///< `?`
inline constexpr int64_t kCombineTile = -1;   ///< `*` in a tile: merge with the next more major dimension
inline constexpr int64_t kHostMemory = 5;     ///< memory space S(5): pinned host memory

/// Layout attributes that don't affect memory; kept as text and printed unchanged.
struct RareLayout {
  std::string dim_levels;      ///< D(D,C)
  int64_t tail_alignment = 1;  ///< L(n), elements
  std::string index_type;      ///< #(u32)
  std::string pointer_type;    ///< *(u8)
  std::string split_config;    ///< SC(0:1024)
  std::string physical_shape;  ///< P(...)
  int64_t metadata_bytes = 0;  ///< M(n)
  bool operator==(const RareLayout&) const = default;
};

/// Physical order and padding of an array: {1,0:T(8,128)(2,1)E(4)S(5)}.
struct Layout {
  Dims minor_to_major;
  std::vector<Dims> tiles;   ///< T(8,128)(2,1): outermost first
  int64_t element_bits = 0;  ///< E(n); 0: the type's own
  int64_t memory_space = 0;  ///< S(n); 0: the device's main memory
  std::shared_ptr<const RareLayout> rare;
  bool operator==(const Layout& other) const;
};

/// A shape: an array, a tuple of shapes, a token, or a buffer reference.
struct Shape {
  ElementType type = ElementType::kTuple;
  Dims dims;                     ///< extents; for a bounded dimension its bound; kUnboundedDim for `?`
  std::vector<bool> dynamic;     ///< empty, or one flag per dimension: printed `<=n`
  std::optional<Layout> layout;  ///< absent: row major
  std::vector<Shape> elements;   ///< of a tuple; the one referent of a buffer

  static Shape array(ElementType type, Dims dims) { return {type, std::move(dims), {}, std::nullopt, {}}; }
  static Shape scalar(ElementType type) { return array(type, {}); }
  static Shape tuple(std::vector<Shape> elements) {
    return {ElementType::kTuple, {}, {}, std::nullopt, std::move(elements)};
  }
  static Shape token() { return {ElementType::kToken, {}, {}, std::nullopt, {}}; }

  bool is_array() const { return is_array_type(type); }
  bool is_tuple() const { return type == ElementType::kTuple; }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  bool operator==(const Shape& other) const = default;
};

/// A path into nested tuples: {1,0} is element 0 of element 1.
using ShapeIndex = std::vector<int64_t>;

int64_t element_count(const Shape& array);  ///< product of the extents, 1 for a scalar

/// Bytes without padding; sub-byte types take a whole byte an element unless the layout packs them, E(n).
/// The sum over the leaves of a tuple; 0 for the tuple itself, tokens and opaque handles.
int64_t logical_bytes(const Shape& shape);

/// Bytes with padding: each tiled dimension is rounded up to its tile. Equal to logical_bytes without tiles.
int64_t padded_bytes(const Shape& shape);

/// Are all types and extents equal, at every level of tuples? Layouts and dynamic flags aren't compared.
bool same_shape(const Shape& a, const Shape& b);

const Shape& subshape(const Shape& shape, const ShapeIndex& index);

/// Calls visit(index, leaf) for every leaf (array, token, opaque), depth first; a non-tuple is its own leaf.
template <class F>
void for_each_leaf(const Shape& shape, F&& visit) {
  ShapeIndex index;
  if (!shape.is_tuple()) return visit(static_cast<const ShapeIndex&>(index), shape);  // most shapes: without recursion
  auto walk = [&](auto&& self, const Shape& s) -> void {
    if (!s.is_tuple()) {
      visit(static_cast<const ShapeIndex&>(index), s);
      return;
    }
    for (size_t i = 0; i < s.elements.size(); ++i) {
      index.push_back(static_cast<int64_t>(i));
      self(self, s.elements[i]);
      index.pop_back();
    }
  };
  walk(walk, shape);
}

/// Does the layout place the array in the host's memory?
inline bool is_in_host(const Shape& array) { return array.layout && array.layout->memory_space == kHostMemory; }

/// Is the array row-major, by its layout or because it has none?
bool is_row_major(const Shape& array);

std::string to_string(const Shape& shape);                 ///< "f32[2,3]{1,0}", layouts as given
std::string to_string_without_layout(const Shape& shape);  ///< "f32[2,3]"
std::string to_string(const ShapeIndex& index);            ///< "{1,0}"

}  // namespace lowtide::engine
