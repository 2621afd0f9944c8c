// Shardings of Shardy's dialect in HLO's words: axes of a mesh become tiles of devices.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ops/text_cursor.h"
#include "text/stablehlo/mlir_scanner.h"
#include "text/stablehlo/module_maker.h"

namespace lowtide {
namespace {

/// A named axis of a mesh, or a part of one.
struct Axis {
  std::string_view name;
  int64_t before = 1;  ///< what the parts of the same axis that are more major count
  int64_t size = 1;
};

/// `<["x"=2, "y"=2]>`; nothing where it isn't of that form.
std::optional<std::vector<Axis>> read_mesh(std::string_view text) {
  TextCursor cursor(text);
  if (!cursor.eat("<") || !cursor.eat("[")) return std::nullopt;
  std::vector<Axis> axes;
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
  return cursor.eat(">") ? std::optional(axes) : std::nullopt;  // a list of device numbers has no form here
}

std::optional<std::vector<Axis>> mesh_named(std::string_view name, const MlirModule& module) {
  for (const MlirOperation& operation : module.operations) {
    if (operation.name != "sdy.mesh") continue;
    const MlirAttribute* symbol = find_attribute(operation.attributes, "callee");
    if (!symbol) symbol = find_attribute(operation.attributes, "sym_name");
    if (!symbol || (symbol->text != name && symbol->text != '"' + std::string(name) + '"')) continue;
    if (const MlirAttribute* angles = find_attribute(operation.attributes, "angles")) return read_mesh(angles->text);
    const MlirAttribute* mesh = find_attribute(operation.attributes, "mesh");
    const size_t open = mesh ? mesh->text.find('<') : std::string_view::npos;
    return open == std::string_view::npos ? std::nullopt : read_mesh(mesh->text.substr(open));
  }
  return std::nullopt;
}

/// `{"x", "y":(1)2, ?}`: the axes of one dimension.
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

/// The mesh's axes cut where a part of one is used.
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

std::string tiled(const std::vector<Axis>& mesh, const std::vector<std::vector<Axis>>& dimensions) {
  const std::vector<Axis> pieces = cut(mesh, dimensions);
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
  std::string text = fmt::format("{{devices=[{}]<=[", fmt::join(tile, ","));
  text += std::ranges::is_sorted(order) ? fmt::format("{}]", total)
                                        : fmt::format("{}]T({})", fmt::join(reshape, ","), fmt::join(order, ","));
  return text + (used < total ? " last_tile_dim_replicate}" : "}");
}

}  // namespace

std::string hlo_sharding_of_shardy(std::string_view text, const MlirModule& module) {
  const size_t at = text.find("<@");
  if (at == text.npos) return {};
  const size_t name_end = text.find_first_of(",>", at);
  if (name_end == text.npos) return {};
  const auto mesh = mesh_named(text.substr(at + 2, name_end - at - 2), module);
  if (!mesh) return {};
  TextCursor cursor(text.substr(name_end));
  std::vector<std::vector<Axis>> dimensions;
  if (!cursor.eat(",") || !cursor.eat("[")) return {};
  while (!cursor.eat("]")) {
    if (!read_axes(cursor, *mesh, dimensions.emplace_back())) return {};
    (void)cursor.eat(",");
  }
  int64_t total = 1;
  for (const Axis& axis : *mesh) {
    constexpr int64_t kMostDevices = 1 << 20;
    if (axis.size > kMostDevices || (total *= axis.size) > kMostDevices) return {};
  }
  return tiled(*mesh, dimensions);
}

}  // namespace lowtide
