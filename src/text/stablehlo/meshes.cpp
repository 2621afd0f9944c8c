#include "text/stablehlo/meshes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ops/attribute_text.h"

namespace lowtide::engine {
namespace {

/// `<["x"=4, "y"=2], device_ids=[1, 0]>` as HLO writes it: `mesh['x'=4, 'y'=2], device_ids=(1, 0)`.
std::string hlo_mesh(std::string_view angles) {
  const size_t end = angles.find(']');
  std::string axes(angles.substr(1, end));
  std::ranges::replace(axes, '"', '\'');
  const size_t open = angles.find('[', end), close = angles.find(']', open);
  if (open == std::string_view::npos) return "mesh" + axes;
  return fmt::format("mesh{}, device_ids=({})", axes, angles.substr(open + 1, close - open - 1));
}

Result<std::string> written_mesh(const MlirAttribute& mesh, const MlirValues& values) {
  LT_ASSIGN_OR_RETURN(const MlirAttributes fields, values.fields(mesh));
  const std::optional<MlirAttribute> axes = values.find(fields, "axes"), ids = values.find(fields, "device_ids");
  std::vector<std::string> texts;
  for (const MlirAttribute& axis : axes ? values.elements(*axes) : MlirAttributes()) {
    LT_ASSIGN_OR_RETURN(const MlirAttributes parts, values.fields(axis));
    const std::optional<MlirAttribute> name = values.find(parts, "name"), size = values.find(parts, "size");
    if (!name || !size) return values.fault(axis, "expected an axis with a name and a size");
    LT_ASSIGN_OR_RETURN(const std::string called, values.string(*name));
    LT_ASSIGN_OR_RETURN(const int64_t extent, values.integer(*size));
    texts.push_back(fmt::format("'{}'={}", called, extent));
  }
  std::string text = fmt::format("mesh[{}]", fmt::join(texts, ","));
  if (!ids) return text;
  LT_ASSIGN_OR_RETURN(const Dims devices, values.integers(*ids));
  return text + fmt::format(", device_ids=({})", fmt::join(devices, ","));
}

}  // namespace

std::string_view mesh_text(std::string_view name, const MlirModule& module) {
  for (const MlirOperation& operation : module.operations) {
    if (operation.name != "sdy.mesh") continue;
    const MlirAttribute* symbol = find_attribute(operation.attributes, "callee");
    if (!symbol) symbol = find_attribute(operation.attributes, "sym_name");
    if (!symbol || (symbol->text != name && symbol->text != '"' + std::string(name) + '"')) continue;
    if (const MlirAttribute* angles = find_attribute(operation.attributes, "angles")) return angles->text;
    const MlirAttribute* mesh = find_attribute(operation.attributes, "mesh");
    const size_t open = mesh ? mesh->text.find('<') : std::string_view::npos;
    return open == std::string_view::npos ? std::string_view() : std::string_view(mesh->text).substr(open);
  }
  return {};
}

Result<std::string> mesh_groups_text(const MlirAttribute& attribute, const MlirValues& values) {
  LT_ASSIGN_OR_RETURN(const MlirAttributes fields, values.fields(attribute));
  const std::optional<MlirAttribute> mesh = values.find(fields, "mesh"), axes = values.find(fields, "axes");
  if (!mesh || !axes) return values.fault(attribute, "expected a mesh and axes");
  std::string text;
  if (mesh->text.starts_with('@')) {
    const std::string_view angles = mesh_text(std::string_view(mesh->text).substr(1), values.module());
    if (!angles.starts_with("<[") || angles.find(']') == std::string_view::npos)
      return values.fault(*mesh, fmt::format("there is no mesh {}", mesh->text));
    text = hlo_mesh(angles);
  } else {
    LT_ASSIGN_OR_RETURN(text, written_mesh(*mesh, values));
  }
  std::vector<std::string> named;
  for (const MlirAttribute& axis : values.elements(*axes)) {
    LT_ASSIGN_OR_RETURN(const MlirAttributes parts, values.fields(axis));
    const std::optional<MlirAttribute> name = values.find(parts, "name"), part = values.find(parts, "sub_axis_info");
    if (!name) return values.fault(axis, "expected the name of an axis");
    LT_ASSIGN_OR_RETURN(const std::string called, values.string(*name));
    named.push_back(fmt::format("'{}'{}{}", called, part ? ":" : "", part ? part->text : ""));
  }
  text += fmt::format(" {{{}}}", fmt::join(named, ","));
  const Result<ReplicaGroups> groups = parse_replica_groups(text);
  if (!groups.ok()) return values.fault(attribute, groups.status().message());
  if (groups->groups.empty()) return text;
  std::vector<std::string> listed;
  for (const auto& group : groups->groups) listed.push_back(fmt::format("{{{}}}", fmt::join(group, ",")));
  return fmt::format("{{{}}}", fmt::join(listed, ","));
}

}  // namespace lowtide::engine
