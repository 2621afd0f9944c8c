#include "text/stablehlo/hlo_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "ops/number_text.h"
#include "ops/text_cursor.h"
#include "text/stablehlo/hlo_windows.h"
#include "text/stablehlo/meshes.h"

namespace lowtide::engine {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

class Collector {
 public:
  Collector(const MlirOperation& operation, const std::vector<Shape>& operands, const MlirValues& values)
      : operation_(operation), operands_(operands), values_(values) {}
  std::vector<HloAttribute> all;

  Status add(const Spelling& spelling) {
    switch (spelling.how) {
      case Spell::kSlice: return put(spelling, operation_.place, slice_text(operation_, values_));
      case Spell::kPadding: {
        LT_ASSIGN_OR_RETURN(std::string text, padding_text(operation_, values_));
        all.push_back({std::string(spelling.hlo), std::move(text), operation_.place});  // empty for a scalar
        return {};
      }
      case Spell::kWindow: return put(spelling, operation_.place, window_text(operation_, operands_, values_));
      default: break;
    }
    const std::optional<MlirAttribute> found = values_.find_any(operation_.attributes, spelling.mlir);
    if (!found) return add_absent(spelling);
    return put(spelling, found->place, text_of(spelling, *found));
  }

 private:
  Status put(const Spelling& spelling, Offset place, Result<std::string> text) {
    if (!text.ok()) return text.status();
    if (!text->empty()) all.push_back({std::string(spelling.hlo), text.take(), place});
    return {};
  }

  /// MLIR may omit empty lists, and dimension 0 in a structure.
  Status add_absent(const Spelling& spelling) {
    if (spelling.how == Spell::kDims) return put(spelling, operation_.place, std::string("{}"));
    if (spelling.how == Spell::kInteger && spelling.mlir.find('.') != std::string_view::npos) {
      return put(spelling, operation_.place, std::string("0"));
    }
    return {};
  }

  Result<std::string> text_of(const Spelling& spelling, const MlirAttribute& attribute) {
    switch (spelling.how) {
      case Spell::kDims: {
        LT_ASSIGN_OR_RETURN(const Dims dims, values_.integers(attribute));
        return braced_dims(dims);
      }
      case Spell::kInteger:
      case Spell::kOneDim: {
        Result<int64_t> value = values_.integer(attribute);
        if (!value.ok() && attribute.key == "brackets") {  // get_tuple_element %t[0]
          LT_ASSIGN_OR_RETURN(const Dims dims, values_.integers(attribute));
          if (dims.size() == 1) value = dims[0];
        }
        if (!value.ok()) return value.status();
        return spelling.how == Spell::kOneDim ? braced_dims({*value}) : std::to_string(*value);
      }
      case Spell::kFlag: {
        LT_ASSIGN_OR_RETURN(const int64_t value, values_.integer(attribute));
        return std::string(value != 0 ? "true" : "false");
      }
      case Spell::kWord: {
        LT_ASSIGN_OR_RETURN(const std::string_view word, values_.word(attribute));
        return std::string(word == "NOTYPE" ? std::string_view() : word);
      }
      case Spell::kLowerWord: {
        LT_ASSIGN_OR_RETURN(const std::string_view word, values_.word(attribute));
        return std::string(spelling.prefix) + lower(word);
      }
      case Spell::kWords: return words(attribute);
      case Spell::kPairs:
        return values_.resolve(attribute).text.find("mesh_axes<") != std::string_view::npos
                   ? mesh_groups_text(values_.resolve(attribute), values_)
                   : rows(attribute);
      case Spell::kNumber: {
        LT_ASSIGN_OR_RETURN(const std::string_view number, values_.number(attribute));
        const std::optional<double> value = number.starts_with("0x") ? mlir_number(number, false) : std::nullopt;
        if (!value) return std::string(number);
        std::string text;
        append_real(static_cast<float>(*value), text);
        return text;
      }
      case Spell::kHandle: {
        LT_ASSIGN_OR_RETURN(const MlirAttributes fields, values_.fields(attribute));
        const std::optional<MlirAttribute> handle = values_.find(fields, "handle");
        if (!handle) return std::string();
        LT_ASSIGN_OR_RETURN(const int64_t number, values_.integer(*handle));
        return number > 0 ? std::to_string(number) : std::string();
      }
      case Spell::kDimLabels: return dim_labels_text(attribute, values_);
      case Spell::kAlgorithm: return algorithm(attribute);
      case Spell::kAccuracy: return accuracy(attribute);
      default: return std::string();
    }
  }

  Result<std::string> words(const MlirAttribute& attribute) {
    std::string text;
    bool any = false;
    for (const MlirAttribute& element : values_.elements(attribute)) {
      LT_ASSIGN_OR_RETURN(const std::string_view word, values_.word(element));
      any |= lower(word) != "default";
      text += (text.empty() ? "" : ",") + lower(word);
    }
    return any ? '{' + text + '}' : std::string();
  }

  Result<std::string> rows(const MlirAttribute& attribute) {
    LT_ASSIGN_OR_RETURN(const Dims all, values_.integers(attribute));
    LT_ASSIGN_OR_RETURN(const Dims extents, values_.extents(attribute));
    const size_t width = extents.size() == 2 ? static_cast<size_t>(std::max<int64_t>(extents[1], 1)) : all.size();
    std::string text;
    for (size_t row = 0; row < all.size(); row += width) {
      Dims ids;
      for (size_t i = row; i < std::min(row + width, all.size()); ++i) {
        if (all[i] >= 0) ids.push_back(all[i]);
      }
      text += (text.empty() ? "" : ",") + braced_dims(ids);
    }
    return '{' + text + '}';
  }

  /// The presets that HLO has a name for.
  Result<std::string> algorithm(const MlirAttribute& attribute) {
    LT_ASSIGN_OR_RETURN(const MlirAttributes fields, values_.fields(attribute));
    const auto word = [&](std::string_view key) -> Result<std::string> {
      const std::optional<MlirAttribute> found = values_.find(fields, key);
      if (!found) return std::string();
      LT_ASSIGN_OR_RETURN(const std::string_view text, values_.word(*found));
      return std::string(text);
    };
    LT_ASSIGN_OR_RETURN(const std::string left, word("lhs_precision_type"));
    LT_ASSIGN_OR_RETURN(const std::string right, word("rhs_precision_type"));
    LT_ASSIGN_OR_RETURN(const std::string sum, word("accumulation_type"));
    LT_ASSIGN_OR_RETURN(const std::string imprecise, word("allow_imprecise_accumulation"));
    LT_ASSIGN_OR_RETURN(const std::string products, word("num_primitive_operations"));
    const auto side = [](const std::string& type) { return type.starts_with("f8") ? std::string("any_f8") : type; };
    return fmt::format("dot_{}_{}_{}{}{}", side(left), side(right), sum, imprecise == "true" ? "_fast_accum" : "",
                       products.empty() || products == "1" ? "" : "_x" + products);
  }

  Result<std::string> accuracy(const MlirAttribute& attribute) {
    LT_ASSIGN_OR_RETURN(const MlirAttributes fields, values_.fields(attribute));
    const std::optional<MlirAttribute> mode = values_.find(fields, "mode");
    if (!mode) return std::string();
    LT_ASSIGN_OR_RETURN(const std::string_view word, values_.word(*mode));
    if (word == "HIGHEST") return std::string("{mode=highest}");
    if (word != "TOLERANCE") return std::string();
    const auto number = [&](std::string_view key) -> Result<std::string_view> {
      const std::optional<MlirAttribute> found = values_.find(fields, key);
      if (!found) return std::string_view("0");
      return values_.number(*found);
    };
    LT_ASSIGN_OR_RETURN(const std::string_view atol, number("atol"));
    LT_ASSIGN_OR_RETURN(const std::string_view rtol, number("rtol"));
    LT_ASSIGN_OR_RETURN(const std::string_view ulps, number("ulps"));
    return fmt::format("{{tolerance={{atol={},rtol={},ulps={}}}}}", atol, rtol, ulps);
  }

  const MlirOperation& operation_;
  const std::vector<Shape>& operands_;
  const MlirValues& values_;
};

/// Splits `format = e5m10` into HLO's two attributes.
Status add_format(const MlirOperation& operation, const MlirValues& values, std::vector<HloAttribute>& all) {
  const std::optional<MlirAttribute> format = values.find(operation.attributes, "format");
  if (!format) return {};
  TextCursor cursor(format->text);
  const bool e = cursor.eat("e");
  const std::optional<int64_t> exponent = cursor.integer();
  const bool m = cursor.eat("m");
  const std::optional<int64_t> mantissa = cursor.integer();
  if (!e || !m || !exponent || !mantissa) return values.fault(*format, "expected a format like e5m10");
  all.push_back({"exponent_bits", std::to_string(*exponent), format->place});
  all.push_back({"mantissa_bits", std::to_string(*mantissa), format->place});
  return {};
}

}  // namespace

std::string braced_dims(const Dims& dims) { return fmt::format("{{{}}}", fmt::join(dims, ",")); }

Result<std::vector<HloAttribute>> hlo_attributes(const OperationSpelling& spelling, const MlirOperation& operation,
                                                 const std::vector<Shape>& operands, const MlirValues& values) {
  Collector collector(operation, operands, values);
  for (const Spelling& attribute : spelling.attributes) LT_RETURN_IF_ERROR(collector.add(attribute));
  LT_RETURN_IF_ERROR(add_format(operation, values, collector.all));
  return std::move(collector.all);
}

}  // namespace lowtide::engine
