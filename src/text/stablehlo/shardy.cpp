// Converts shardings of Shardy's dialect to HLO's: axes of a mesh become tiles of devices.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ops/text_cursor.h"
#include "text/stablehlo/meshes.h"
#include "text/stablehlo/mlir_scanner.h"
#include "text/stablehlo/module_maker.h"

namespace lowtide::engine {
namespace {

/// A named axis of a mesh, or a sub-axis.
struct Axis {
  std::string_view name;
  int64_t before = 1;  ///< the product of the sizes of more major parts of the same axis
  int64_t size = 1;
};

struct Mesh {
  std::vector<Axis> axes;
  Dims device_ids;  ///< in the axes' order; empty: 0, 1, 2, ...
};

/// Reads `<["x"=2, "y"=2]>`, `<["x"=2], device_ids=[1, 0]>`; nullopt for another form.
std::optional<Mesh> read_mesh(std::string_view text) {
  TextCursor cursor(text);
  if (!cursor.eat("<") || !cursor.eat("[")) return std::nullopt;
  Mesh mesh;
  std::vector<Axis>& axes = mesh.axes;
  while (!cursor.eat("]")) {
    const std::string_view rest = cursor.rest();
    const size_t end = cursor.peek() == '"' ? end_of_string(rest, 0) : std::string_view::npos;
    if (end == std::string_view::npos) return std::nullopt;
    Axis axis;
    axis.name = rest.substr(1, end - 2);
    cursor.eat(rest.substr(0, end));
    const std::optional<int64_t> size = cursor.eat("=") ? cursor.integer() : std::nullopt;
    if (!size || *size < 1) return std::nullopt;
    axis.size = *size;
    axes.push_back(axis);
    (void)cursor.eat(",");
  }
  if (cursor.eat(",")) {
    if (!cursor.eat("device_ids") || !cursor.eat("=") || !cursor.eat("[")) return std::nullopt;
    std::optional<Dims> ids = cursor.integers();
    if (!ids || !cursor.eat("]")) return std::nullopt;
    mesh.device_ids = std::move(*ids);
  }
  return cursor.eat(">") ? std::optional(std::move(mesh)) : std::nullopt;
}

std::optional<Mesh> mesh_named(std::string_view name, const MlirModule& module) {
  const std::string_view angles = mesh_text(name, module);
  return angles.empty() ? std::nullopt : read_mesh(angles);
}

/// Reads the axes of one dimension: `{"x", "y":(1)2, ?}`.
bool read_axes(TextCursor& cursor, const std::vector<Axis>& mesh, std::vector<Axis>& axes) {
  if (!cursor.eat("{")) return false;
  while (!cursor.eat("}")) {
    if (cursor.eat(",") || cursor.eat("?")) continue;
    const std::string_view rest = cursor.rest();
    const size_t end = cursor.peek() == '"' ? end_of_string(rest, 0) : std::string_view::npos;
    if (end == std::string_view::npos) return false;
    Axis axis;
    axis.name = rest.substr(1, end - 2);
    const auto whole = std::ranges::find(mesh, axis.name, &Axis::name);
    if (whole == mesh.end()) return false;
    axis.size = whole->size;
    cursor.eat(rest.substr(0, end));
    if (cursor.eat(":")) {
      const std::optional<int64_t> before = cursor.eat("(") ? cursor.integer() : std::nullopt;
      const std::optional<int64_t> size = before && cursor.eat(")") ? cursor.integer() : std::nullopt;
      if (!size || *before < 1 || *size < 1 || whole->size % (*before * *size) != 0) return false;
      axis.before = *before;
      axis.size = *size;
    }
    axes.push_back(axis);
  }
  (void)(cursor.eat("p") && cursor.integer());  // a priority
  return true;
}

/// Splits the mesh's axes wherever a sub-axis is used.
std::vector<Axis> cut(const std::vector<Axis>& mesh, const std::vector<std::vector<Axis>>& dimensions) {
  std::vector<Axis> pieces;
  for (const Axis& axis : mesh) {
    std::vector<int64_t> borders = {1, axis.size};
    for (const auto& axes : dimensions) {
      for (const Axis& used : axes) {
        if (used.name != axis.name) continue;
        borders.push_back(used.before);
        borders.push_back(used.before * used.size);
      }
    }
    std::ranges::sort(borders);
    borders.erase(std::ranges::unique(borders).begin(), borders.end());
    for (size_t i = 0; i + 1 < borders.size(); ++i) {
      pieces.push_back({axis.name, borders[i], borders[i + 1] / borders[i]});
    }
  }
  return pieces;
}

std::string tiled(const Mesh& mesh, const std::vector<std::vector<Axis>>& dimensions) {
  const std::vector<Axis> pieces = cut(mesh.axes, dimensions);
  Dims tile, reshape, order;
  int64_t used = 1, total = 1;
  for (const Axis& piece : pieces) {
    reshape.push_back(piece.size);
    total *= piece.size;
  }
  std::vector<bool> taken(pieces.size(), false);
  for (const auto& axes : dimensions) {
    int64_t parts = 1;
    for (const Axis& axis : axes) {
      parts *= axis.size;
      for (size_t p = 0; p < pieces.size(); ++p) {
        const bool inside = pieces[p].name == axis.name && pieces[p].before >= axis.before &&
                            pieces[p].before * pieces[p].size <= axis.before * axis.size;
        if (!inside || taken[p]) continue;
        taken[p] = true;
        order.push_back(static_cast<int64_t>(p));
      }
    }
    tile.push_back(parts);
    used *= parts;
  }
  if (used == 1) return "{replicated}";
  for (size_t p = 0; p < pieces.size(); ++p) {
    if (!taken[p]) order.push_back(static_cast<int64_t>(p));
  }
  if (used < total) tile.push_back(total / used);
  if (!mesh.device_ids.empty()) {
    DeviceList order_of;
    order_of.reshape = reshape;
    order_of.transpose = order;
    Dims ids;
    for (const int64_t id : order_of.ids()) ids.push_back(mesh.device_ids[id]);
    return fmt::format("{{devices=[{}]{}{}}}", fmt::join(tile, ","), fmt::join(ids, ","),
                       used < total ? " last_tile_dim_replicate" : "");
  }
  std::string text = fmt::format("{{devices=[{}]<=[", fmt::join(tile, ","));
  text += std::ranges::is_sorted(order) ? fmt::format("{}]", total)
                                        : fmt::format("{}]T({})", fmt::join(reshape, ","), fmt::join(order, ","));
  return text + (used < total ? " last_tile_dim_replicate}" : "}");
}

}  // namespace

std::string hlo_sharding_of_shardy(std::string_view text, const MlirModule& module) {
  // `<@name, [...]>`, or the mesh itself: `<mesh<["x"=2]>, [...]>`.
  const size_t at = text.find("<@"), inline_at = text.find("<mesh<");
  std::optional<Mesh> mesh;
  size_t name_end = text.npos;
  if (at != text.npos) {
    name_end = text.find_first_of(",>", at);
    if (name_end != text.npos) mesh = mesh_named(text.substr(at + 2, name_end - at - 2), module);
  } else if (inline_at != text.npos) {
    const size_t close = text.find('>', inline_at);
    name_end = close == text.npos ? close : close + 1;
    if (close != text.npos) mesh = read_mesh(text.substr(inline_at + 5, close - inline_at - 4));
  }
  if (!mesh) return {};
  TextCursor cursor(text.substr(name_end));
  std::vector<std::vector<Axis>> dimensions;
  if (!cursor.eat(",") || !cursor.eat("[")) return {};
  while (!cursor.eat("]")) {
    if (!read_axes(cursor, mesh->axes, dimensions.emplace_back())) return {};
    (void)cursor.eat(",");
  }
  int64_t total = 1;
  for (const Axis& axis : mesh->axes) {
    constexpr int64_t kMostDevices = 1 << 20;
    if (axis.size > kMostDevices || (total *= axis.size) > kMostDevices) return {};
  }
  if (mesh->axes.empty()) {
    return mesh->device_ids.size() == 1 && mesh->device_ids[0] >= 0
               ? fmt::format("{{maximal device={}}}", mesh->device_ids[0])
               : "{replicated}";
  }
  if (!mesh->device_ids.empty() && std::ssize(mesh->device_ids) != total) return {};
  return tiled(*mesh, dimensions);
}

std::string hlo_shardings_of_shardy(std::string_view text, const MlirModule& module) {
  std::string all;
  size_t at = text.find('[');
  while (at != text.npos && (at = text.find('<', at)) != text.npos) {
    const size_t end = end_of_mlir_brackets(text, at);
    if (end == text.npos) return {};
    const std::string one = hlo_sharding_of_shardy(text.substr(at, end - at), module);
    if (one.empty()) return {};
    all += (all.empty() ? "{" : ", ") + one;
    at = end;
  }
  return all.empty() ? all : all + '}';
}

}  // namespace lowtide::engine
