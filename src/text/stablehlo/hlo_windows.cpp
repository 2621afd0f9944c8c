#include "text/stablehlo/hlo_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ops/text_cursor.h"

namespace lowtide::engine {
namespace {

/// The list in the first of these attributes that exists; empty if there is none.
Result<Dims> list(const MlirOperation& operation, std::string_view paths, const MlirValues& values) {
  const std::optional<MlirAttribute> found = values.find_any(operation.attributes, paths);
  if (!found) return Dims();
  return values.integers(*found);
}

Status other_lengths(const MlirOperation& operation, const MlirValues& values, std::string_view what) {
  MlirAttribute here;
  here.place = operation.place;
  return values.fault(here,
                      fmt::format("found lists of different lengths, expected one entry per dimension in {}", what));
}

std::string crossed(const Dims& dims) { return fmt::format("{}", fmt::join(dims, "x")); }
bool all_are(const Dims& dims, int64_t value) {
  return std::ranges::all_of(dims, [&](int64_t d) { return d == value; });
}

/// `[0:1, 2:8:2]`
Result<std::string> range_text(const MlirAttribute& ranges, const MlirValues& values) {
  TextCursor cursor(ranges.text.substr(1, ranges.text.size() - 2));
  std::string text;
  while (!cursor.done()) {
    const std::optional<int64_t> start = cursor.integer();
    const bool colon = cursor.eat(":");
    const std::optional<int64_t> limit = cursor.integer();
    std::optional<int64_t> stride = 1;
    if (cursor.eat(":")) stride = cursor.integer();
    if (!start || !colon || !limit || !stride) return values.fault(ranges, "expected ranges like [0:4, 2:8:2]");
    text += fmt::format("{}[{}:{}:{}]", text.empty() ? "" : ",", *start, *limit, *stride);
    if (!cursor.eat(",") && !cursor.done()) return values.fault(ranges, "expected ranges like [0:4, 2:8:2]");
  }
  return '{' + text + '}';
}

/// The kernel's spatial extents, in the order of their labels.
Dims kernel_extents(const std::string& labels, const Shape& kernel) {
  const size_t begin = labels.find('_') + 1;
  const std::string_view own = std::string_view(labels).substr(begin, labels.find("->") - begin);
  Dims extents;
  for (char digit = '0'; digit <= '9'; ++digit) {
    const size_t at = own.find(digit);
    if (at == own.npos || at >= kernel.dims.size()) break;
    extents.push_back(kernel.dims[at]);
  }
  return extents;
}

}  // namespace

Result<std::string> slice_text(const MlirOperation& operation, const MlirValues& values) {
  if (const auto ranges = values.find(operation.attributes, "brackets")) return range_text(*ranges, values);
  LT_ASSIGN_OR_RETURN(const Dims starts, list(operation, "start_indices", values));
  LT_ASSIGN_OR_RETURN(const Dims limits, list(operation, "limit_indices", values));
  LT_ASSIGN_OR_RETURN(Dims strides, list(operation, "strides", values));
  if (strides.empty()) strides.assign(starts.size(), 1);
  if (starts.size() != limits.size() || starts.size() != strides.size()) {
    return other_lengths(operation, values, "a slice");
  }
  std::string text;
  for (size_t d = 0; d < starts.size(); ++d) {
    text += fmt::format("{}[{}:{}:{}]", d > 0 ? "," : "", starts[d], limits[d], strides[d]);
  }
  return '{' + text + '}';
}

Result<std::string> padding_text(const MlirOperation& operation, const MlirValues& values) {
  LT_ASSIGN_OR_RETURN(const Dims low, list(operation, "edge_padding_low|low", values));
  LT_ASSIGN_OR_RETURN(const Dims high, list(operation, "edge_padding_high|high", values));
  LT_ASSIGN_OR_RETURN(Dims interior, list(operation, "interior_padding|interior", values));
  if (interior.empty()) interior.assign(low.size(), 0);
  if (low.size() != high.size() || low.size() != interior.size()) return other_lengths(operation, values, "a padding");
  std::string text;
  for (size_t d = 0; d < low.size(); ++d) {
    text += fmt::format("{}{}_{}_{}", d > 0 ? "x" : "", low[d], high[d], interior[d]);
  }
  return text;
}

Result<std::string> window_text(const MlirOperation& operation, const std::vector<Shape>& operands,
                                const MlirValues& values) {
  LT_ASSIGN_OR_RETURN(Dims size, list(operation, "window_dimensions", values));
  if (const auto labels = values.find_any(operation.attributes, "dimension_numbers|dim_numbers")) {
    LT_ASSIGN_OR_RETURN(const std::string text, dim_labels_text(*labels, values));
    if (operands.size() > 1) size = kernel_extents(text, operands[1]);
  }
  if (size.empty()) return std::string();
  std::string text = "{size=" + crossed(size);
  const auto add = [&](std::string_view paths, std::string_view key, int64_t usual) -> Status {
    LT_ASSIGN_OR_RETURN(const Dims dims, list(operation, paths, values));
    if (dims.empty() || all_are(dims, usual)) return {};
    if (dims.size() != size.size()) return other_lengths(operation, values, "a window");
    text += fmt::format(" {}={}", key, crossed(dims));
    return {};
  };
  LT_RETURN_IF_ERROR(add("window_strides|window.stride", "stride", 1));
  LT_ASSIGN_OR_RETURN(const Dims padding, list(operation, "padding|window.pad", values));
  if (!padding.empty() && !all_are(padding, 0)) {
    if (padding.size() != 2 * size.size()) return other_lengths(operation, values, "a window's padding");
    text += " pad=";
    for (size_t d = 0; d < size.size(); ++d) {
      text += fmt::format("{}{}_{}", d > 0 ? "x" : "", padding[2 * d], padding[2 * d + 1]);
    }
  }
  LT_RETURN_IF_ERROR(add("lhs_dilation|base_dilations|window.lhs_dilate", "lhs_dilate", 1));
  LT_RETURN_IF_ERROR(add("rhs_dilation|window_dilations|window.rhs_dilate", "rhs_dilate", 1));
  LT_RETURN_IF_ERROR(add("window_reversal|window.reverse", "rhs_reversal", 0));
  return text + '}';
}

namespace {

/// The labels for `raw` dimension numbers, which state each array's batch, feature and spatial dimensions.
Result<std::string> raw_labels(const MlirAttribute& attribute, const MlirValues& values) {
  struct Array {
    std::string_view first, second, spatial;
    char first_label, second_label;
  };
  constexpr std::array<Array, 3> kArrays = {
      {{"input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions", 'b', 'f'},
       {"kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions", 'i', 'o'},
       {"output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions", 'b', 'f'}}};
  LT_ASSIGN_OR_RETURN(const MlirAttributes fields, values.fields(attribute));
  std::string all;
  for (size_t a = 0; a < kArrays.size(); ++a) {
    const Array& array = kArrays[a];
    Dims spatial;
    if (const auto found = values.find(fields, array.spatial)) {
      LT_ASSIGN_OR_RETURN(spatial, values.integers(*found));
    }
    std::string labels(spatial.size() + 2, '?');
    const auto put = [&](int64_t at, char label) {
      const bool known = at >= 0 && at < static_cast<int64_t>(labels.size()) && labels[at] == '?';
      if (known) labels[at] = label;
      return known;
    };
    bool each_once = spatial.size() < 10;
    for (size_t d = 0; d < spatial.size() && each_once; ++d) each_once = put(spatial[d], static_cast<char>('0' + d));
    for (const auto& [key, label] :
         {std::pair{array.first, array.first_label}, std::pair{array.second, array.second_label}}) {
      const auto found = values.find(fields, key);  // dimension 0 may be omitted
      int64_t at = 0;
      if (found) {
        LT_ASSIGN_OR_RETURN(at, values.integer(*found));
      }
      each_once = each_once && put(at, label);
    }
    if (!each_once) return values.fault(attribute, fmt::format("expected each dimension once: {} is taken", labels));
    all += (a == 1 ? "_" : a == 2 ? "->" : "") + labels;
  }
  return all;
}

}  // namespace

Result<std::string> dim_labels_text(const MlirAttribute& attribute, const MlirValues& values) {
  std::string_view text = values.resolve(attribute).text;
  if (text.find("raw") != text.npos) return raw_labels(attribute, values);
  if (text.starts_with('#')) text = text.substr(text.find('<') + 1);
  std::string labels;
  for (const char c : text) {
    if (c == 'x') labels += '_';
    if (c == '-' || c == '>') labels += c;
    if (is_digit(c) || c == 'b' || c == 'f' || c == 'i' || c == 'o' || c == '?') labels += c;
    if (c == '>' && !labels.ends_with("->")) labels.pop_back();
  }
  return labels;
}

}  // namespace lowtide::engine
