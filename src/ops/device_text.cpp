#include "ops/device_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace lowtide::engine {
namespace {

bool is_permutation_of_indices(const Dims& order, size_t size) {
  std::vector<bool> seen(size, false);
  if (order.size() != size) return false;
  for (const int64_t i : order) {
    if (i < 0 || i >= static_cast<int64_t>(size) || seen[i]) return false;
    seen[i] = true;
  }
  return true;
}

Result<AxisPart> read_axis(TextCursor& cursor, const Mesh& mesh) {
  const std::optional<std::string_view> name = cursor.quoted_name();
  if (!name) return cursor.expected("an axis name in single quotes");
  const auto found = std::find_if(mesh.axes.begin(), mesh.axes.end(), [&](const auto& a) { return a.name == *name; });
  if (found == mesh.axes.end()) return Status::input(fmt::format("the mesh has no axis '{}'", *name));
  AxisPart part{static_cast<size_t>(found - mesh.axes.begin()), 1, found->size};
  if (!cursor.eat(":")) return part;
  if (!cursor.eat("(")) return cursor.expected("':(n)m'");
  const std::optional<int64_t> before = cursor.integer();
  if (!before || !cursor.eat(")")) return cursor.expected("':(n)m'");
  const std::optional<int64_t> size = cursor.integer();
  if (!size) return cursor.expected("':(n)m'");
  if (*before < 1 || *size < 1 || found->size % *before != 0 || (found->size / *before) % *size != 0) {
    return Status::input(fmt::format("axis '{}' of size {} has no part ({}){}", *name, found->size, *before, *size));
  }
  part.before = *before;
  part.size = *size;
  return part;
}

}  // namespace

std::optional<int64_t> device_product(const Dims& extents) {
  int64_t product = 1;
  for (const int64_t extent : extents) {
    if (extent < 1 || extent > kMostDevices) return std::nullopt;
    product *= extent;
    if (product > kMostDevices) return std::nullopt;
  }
  return product;
}

Result<Dims> read_extents(TextCursor& cursor) {
  if (!cursor.eat("[")) return cursor.expected("'['");
  std::optional<Dims> extents = cursor.integers();
  if (!extents || !cursor.eat("]")) return cursor.expected("integers and ']'");
  if (!device_product(*extents)) {
    return Status::input(fmt::format("the extents must be positive and multiply to at most {}", kMostDevices));
  }
  return *extents;
}

Result<DeviceList> read_iota(TextCursor& cursor) {
  DeviceList devices;
  LT_ASSIGN_OR_RETURN(devices.reshape, read_extents(cursor));
  if (devices.reshape.empty()) return cursor.expected("at least one extent in <=[...]");
  if (!cursor.eat("T(")) return devices;
  std::optional<Dims> order = cursor.integers();
  if (!order || !cursor.eat(")")) return cursor.expected("integers and ')'");
  if (!is_permutation_of_indices(*order, devices.reshape.size())) {
    return Status::input(fmt::format("T(...) must name each of the {} dimensions once", devices.reshape.size()));
  }
  devices.transpose = std::move(*order);
  return devices;
}

Result<Mesh> read_mesh(TextCursor& cursor) {
  Mesh mesh;
  if (!cursor.eat("[")) return cursor.expected("'['");
  Dims sizes;
  while (cursor.peek() != ']') {
    const std::optional<std::string_view> name = cursor.quoted_name();
    if (!name || !cursor.eat("=")) return cursor.expected("an axis like 'x'=4");
    const std::optional<int64_t> size = cursor.integer();
    if (!size) return cursor.expected("the size of the axis");
    mesh.axes.push_back({std::string(*name), *size});
    sizes.push_back(*size);
    if (!cursor.eat(",")) break;
  }
  if (!cursor.eat("]")) return cursor.expected("',' or ']'");
  const std::optional<int64_t> count = device_product(sizes);
  if (!count) return Status::input(fmt::format("a mesh has between 1 and {} devices", kMostDevices));

  TextCursor ahead = cursor;
  ahead.eat(",");
  if (!ahead.eat("device_ids=")) return mesh;
  cursor = ahead;
  const bool parentheses = cursor.eat("(");
  if (cursor.eat("<=") || cursor.peek() == '[') {
    LT_ASSIGN_OR_RETURN(mesh.devices, read_iota(cursor));
  } else {
    std::optional<Dims> listed = cursor.integers();
    if (!listed) return cursor.expected("device ids");
    mesh.devices.emplace().listed = std::move(*listed);
  }
  if (parentheses && !cursor.eat(")")) return cursor.expected("')'");
  if (mesh.devices->count() != *count) {
    return Status::input(fmt::format("the mesh has {} devices, {} are listed", *count, mesh.devices->count()));
  }
  return mesh;
}

Result<std::vector<AxisPart>> read_axes(TextCursor& cursor, const Mesh& mesh) {
  if (!cursor.eat("{")) return cursor.expected("axes like {'x'}");
  std::vector<AxisPart> parts;
  while (cursor.peek() != '}') {
    if (!cursor.eat("?")) {
      LT_ASSIGN_OR_RETURN(const AxisPart part, read_axis(cursor, mesh));
      parts.push_back(part);
    }
    if (!cursor.eat(",")) break;
  }
  if (!cursor.eat("}")) return cursor.expected("',' or '}'");
  if (cursor.eat("p")) (void)cursor.integer();  // `{'x'}p1`: a priority of propagation
  return parts;
}

Result<DeviceList> devices_by(const Mesh& mesh, const std::vector<AxisPart>& named, NamedAxes where) {
  // Cut every axis at the borders of the parts, then sort the pieces.
  struct Piece {
    size_t axis;
    int64_t before, size;
  };
  std::vector<Piece> pieces;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    std::vector<int64_t> cuts = {1, mesh.axes[axis].size};
    for (const AxisPart& part : named) {
      if (part.axis == axis) cuts.insert(cuts.end(), {part.before, part.before * part.size});
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    if (cuts.size() == 1) pieces.push_back({axis, 1, 1});
    for (size_t c = 0; c + 1 < cuts.size(); ++c) {
      if (cuts[c + 1] % cuts[c] != 0) return Status::input("the parts of axis '" + mesh.axes[axis].name + "' overlap");
      pieces.push_back({axis, cuts[c], cuts[c + 1] / cuts[c]});
    }
  }
  DeviceList devices;
  std::vector<bool> placed(pieces.size(), false);
  for (const Piece& piece : pieces) devices.reshape.push_back(piece.size);
  for (const AxisPart& part : named) {
    for (size_t p = 0; p < pieces.size(); ++p) {
      const bool inside = pieces[p].axis == part.axis && pieces[p].before >= part.before &&
                          pieces[p].before * pieces[p].size <= part.before * part.size;
      if (!inside || pieces[p].size == 1) continue;
      if (placed[p]) return Status::input("axis '" + mesh.axes[part.axis].name + "' is used twice");
      placed[p] = true;
      devices.transpose.push_back(static_cast<int64_t>(p));
    }
  }
  Dims others;
  for (size_t p = 0; p < pieces.size(); ++p) {
    if (!placed[p]) others.push_back(static_cast<int64_t>(p));
  }
  Dims& order = devices.transpose;
  order.insert(where == NamedAxes::kMajor ? order.end() : order.begin(), others.begin(), others.end());
  if (devices.reshape.empty()) devices.reshape = {1}, devices.transpose = {0};
  if (!mesh.devices) return devices;

  // The mesh numbers its devices itself: translate positions to devices.
  const std::vector<int64_t> numbers = mesh.devices->ids();
  DeviceList listed;
  for (const int64_t position : devices.ids()) listed.listed.push_back(numbers[position]);
  return listed;
}

}  // namespace lowtide::engine
