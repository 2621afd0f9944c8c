#include "text/bytecode/vhlo_properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "text/bytecode/vhlo_codes.h"
#include "text/bytecode/word_lists.h"
#include "text/stablehlo/dense.h"
#include "text/stablehlo/mlir_types.h"

namespace lowtide::engine {
namespace {

/// Properties by kind, as word lists (word_lists.h); all others are lists of integers.
constexpr std::string_view kIntegers =
    " all_gather_dim batch_dims batch_group_count concat_dimension dim dimension feature_group_count feature_index "
    "iota_dimension scatter_dimension split_count split_dimension ";
constexpr std::string_view kShortIntegers = " exponent_bits index mantissa_bits ";
constexpr std::string_view kFlags =
    " has_side_effect indices_are_sorted is_host_transfer is_stable left_side lower unique_indices unit_diagonal "
    "use_global_device_ids ";
constexpr std::string_view kStrings = " call_target_name einsum_config infeed_config outfeed_config ";
constexpr std::string_view kTables = " padding replica_groups source_target_pairs ";

struct Word {
  std::string_view name;
  VhloEnumeration enumeration;
  std::string_view otherwise;
};
constexpr std::array<Word, 6> kWords = {{
    {"compare_type", VhloEnumeration::kComparison, "NOTYPE"},
    {"comparison_direction", VhloEnumeration::kDirection, ""},
    {"fft_type", VhloEnumeration::kFft, ""},
    {"rng_algorithm", VhloEnumeration::kAlgorithm, "DEFAULT"},
    {"rng_distribution", VhloEnumeration::kDistribution, ""},
    {"transpose_a", VhloEnumeration::kTranspose, "NO_TRANSPOSE"},
}};

/// Fields of StableHLO's structures.
struct FieldStructure {
  std::string_view operations, attribute, fields;
};
constexpr std::array<FieldStructure, 3> kStructures = {{
    {" dot_general ", "dot_dimension_numbers",
     " lhs_batching_dimensions lhs_contracting_dimensions rhs_batching_dimensions rhs_contracting_dimensions "},
    {" gather dynamic_gather ", "dimension_numbers",
     " collapsed_slice_dims index_vector_dim offset_dims operand_batching_dims start_index_map "
     "start_indices_batching_dims "},
    {" scatter ", "scatter_dimension_numbers",
     " index_vector_dim input_batching_dims inserted_window_dims scatter_dims_to_operand_dims "
     "scatter_indices_batching_dims update_window_dims "},
}};
constexpr std::string_view kAlgorithmFields =
    " accumulation_type allow_imprecise_accumulation lhs_component_count lhs_precision_type num_primitive_operations "
    "rhs_component_count rhs_precision_type ";

std::string_view short_name(const MlirOperation& operation) {
  return operation.name.substr(operation.name.find('.') + 1);
}

}  // namespace

Status VhloProperties::fault(const MlirOperation& operation, std::string_view name) const {
  return Status(Fault::kUnsupported, fmt::format("'{}' of '{}' can't be written as bytecode", name, operation.name))
      .at(source_, operation.place);
}

Result<std::vector<EntryPool::Number>> VhloProperties::of(const MlirOperation& operation, std::string_view names) {
  std::vector<Number> all;
  while (!names.empty()) {
    const size_t end = std::min(names.find(' '), names.size());
    LT_ASSIGN_OR_RETURN(const Number one, property(operation, names.substr(0, end)));
    all.push_back(one);
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return all;
}

Result<EntryPool::Number> VhloProperties::property(const MlirOperation& operation, std::string_view name) {
  const std::string_view of = short_name(operation);
  for (const FieldStructure& structure : kStructures) {
    if (has_word(structure.operations, of) && has_word(structure.fields, name)) {
      return field(operation, name, structure.attribute);
    }
  }
  if (of == "dot_general" && has_word(kAlgorithmFields, name)) return algorithm(operation, name);
  if (of.ends_with("conv") || of == "convolution") {
    if (name.ends_with("_dimension") || name.ends_with("_dimensions")) return convolution_dimension(operation, name);
  }
  for (const Word& word : kWords) {
    if (word.name != name) continue;
    const MlirAttribute* given = find_attribute(operation.attributes, name);
    std::string_view text = word.otherwise;
    if (given) {
      LT_ASSIGN_OR_RETURN(text, values_.word(*given));
    }
    const std::optional<uint64_t> value = vhlo_word(word.enumeration, text);
    if (!value) return fault(operation, name);
    return pool_.vhlo_enumeration(static_cast<uint64_t>(word.enumeration), *value);
  }
  if (name == "value") return constant(operation);
  if (name == "result_accuracy") {
    if (find_attribute(operation.attributes, name)) return fault(operation, name);
    return pool_.vhlo_exactness();
  }
  if (name == "precision_config") return precisions(operation);
  if (name == "operand_layouts" || name == "result_layouts") return layouts(operation, name);
  if (name == "output_operand_aliases") return aliases(operation);
  if (name == "called_computations") {
    std::vector<Number> symbols;
    if (const MlirAttribute* given = find_attribute(operation.attributes, name)) {
      for (const MlirAttribute& symbol : values_.elements(*given)) {
        const bool quoted = symbol.text.size() > 2 && symbol.text[1] == '"';
        symbols.push_back(pool_.vhlo_string(quoted ? mlir_unquote(symbol.text.substr(2, symbol.text.size() - 3))
                                                   : std::string(symbol.text.substr(1))));
      }
    }
    return pool_.vhlo_array(symbols);
  }
  if (name == "callee") {
    const MlirAttribute* given = find_attribute(operation.attributes, name);
    if (!given || given->text.size() < 2) return fault(operation, name);
    const bool quoted = given->text[1] == '"';
    return pool_.vhlo_string(quoted ? mlir_unquote(given->text.substr(2, given->text.size() - 3))
                                    : std::string(given->text.substr(1)));
  }
  if (name == "api_version") {
    LT_ASSIGN_OR_RETURN(const int64_t api, number(operation, name, 1));
    return pool_.vhlo_enumeration(static_cast<uint64_t>(VhloEnumeration::kApi), static_cast<uint64_t>(api));
  }
  if (name == "backend_config") {
    const MlirAttribute* given = find_attribute(operation.attributes, name);
    return given ? plain(*given, false) : Result<Number>(pool_.vhlo_string(""));
  }
  if (name == "epsilon") {
    const MlirAttribute* given = find_attribute(operation.attributes, name);
    if (!given) return fault(operation, name);
    return plain(*given, false);
  }
  if (name == "channel_id" || name == "channel_type") {
    LT_ASSIGN_OR_RETURN(const int64_t value,
                        number(operation, name == "channel_id" ? "channel_handle.handle" : "channel_handle.type",
                               name == "channel_id" ? 0 : 1));
    return pool_.vhlo_integer(value);
  }
  if (has_word(kStrings, name)) {
    LT_ASSIGN_OR_RETURN(const std::string value, text(operation, name));
    return pool_.vhlo_string(value);
  }
  if (has_word(kFlags, name)) {
    LT_ASSIGN_OR_RETURN(const int64_t value, number(operation, name, 0));
    return pool_.vhlo_bool(value != 0);
  }
  if (has_word(kIntegers, name) || has_word(kShortIntegers, name)) {
    const bool last = name == "dimension" && of == "sort";
    LT_ASSIGN_OR_RETURN(const int64_t value, number(operation, name, last ? -1 : 1));
    return pool_.vhlo_integer(value, has_word(kShortIntegers, name) ? "i32" : "i64");
  }
  if (has_word(kTables, name)) return table(operation, name);
  if (name == "layout") return pool_.vhlo_array({});
  return list(operation, name, name);
}

Result<int64_t> VhloProperties::number(const MlirOperation& operation, std::string_view path, int64_t otherwise) {
  const auto given = values_.find(operation.attributes, path);
  if (!given) return otherwise;
  return values_.integer(*given);
}

Result<std::string> VhloProperties::text(const MlirOperation& operation, std::string_view name) {
  const MlirAttribute* given = find_attribute(operation.attributes, name);
  if (!given) return std::string();
  return values_.string(*given);
}

Result<EntryPool::Number> VhloProperties::field(const MlirOperation& operation, std::string_view name,
                                                std::string_view structure) {
  const std::string path = fmt::format("{}.{}", structure, name);
  if (name != "index_vector_dim") return list(operation, path, name);
  LT_ASSIGN_OR_RETURN(const int64_t value, number(operation, path, 0));
  return pool_.vhlo_integer(value);
}

Result<EntryPool::Number> VhloProperties::algorithm(const MlirOperation& operation, std::string_view name) {
  const auto given = values_.find(operation.attributes, fmt::format("algorithm.{}", name));
  if (!given) return pool_.vhlo_type(pool_.plain("none"));
  if (name.ends_with("_type")) {
    const std::string_view type = given->text.substr(0, given->text.find(' '));
    if (!vhlo_type_code(type)) return fault(operation, name);
    return pool_.vhlo_type(pool_.plain(type));
  }
  LT_ASSIGN_OR_RETURN(const int64_t value, values_.integer(*given));
  return name.starts_with("allow") ? pool_.vhlo_bool(value != 0) : pool_.vhlo_integer(value);
}

Result<EntryPool::Number> VhloProperties::list(const MlirOperation& operation, std::string_view path,
                                               std::string_view name) {
  const auto given = values_.find(operation.attributes, path);
  Dims all;
  if (given) {
    LT_ASSIGN_OR_RETURN(all, values_.integers(*given));
  } else if (name.ends_with("strides") || name.find("dilation") != name.npos || name == "window_reversal") {
    // Absent properties of windows default to 1 in each dimension, and to no reversal.
    const auto window = values_.find(operation.attributes, "window_dimensions");
    size_t rank = operation.operand_types.empty() ? 0 : operation.operand_types[0].dims.size();
    if (window) {
      LT_ASSIGN_OR_RETURN(const Dims extents, values_.integers(*window));
      rank = extents.size();
    } else if (short_name(operation) == "convolution") {
      rank = rank > 2 ? rank - 2 : 0;
    }
    all.assign(rank, name == "window_reversal" ? 0 : 1);
  }
  const bool flags = name == "window_reversal";
  return pool_.vhlo_integers({all.begin(), all.end()}, flags ? "i1" : "i64", {std::ssize(all)});
}

Result<EntryPool::Number> VhloProperties::table(const MlirOperation& operation, std::string_view name) {
  if (const auto given = values_.find(operation.attributes, name)) {
    LT_ASSIGN_OR_RETURN(const Dims all, values_.integers(*given));
    LT_ASSIGN_OR_RETURN(const Dims extents, values_.extents(*given));
    return pool_.vhlo_integers({all.begin(), all.end()}, "i64", {extents.begin(), extents.end()});
  }
  int64_t rows = 0;
  if (name == "padding" && !operation.operand_types.empty()) {
    rows = std::ssize(operation.operand_types[0].dims);
    if (short_name(operation) == "convolution") rows = std::max<int64_t>(rows - 2, 0);
  }
  const std::vector<int64_t> zeros(static_cast<size_t>(2 * rows), 0);
  return pool_.vhlo_integers(zeros, "i64", {rows, name == "replica_groups" ? 0 : 2});
}

Result<EntryPool::Number> VhloProperties::constant(const MlirOperation& operation) {
  const MlirAttribute* given = find_attribute(operation.attributes, "value");
  if (!given || operation.types.size() != 1 || !EntryPool::has(operation.types[0])) return fault(operation, "value");
  LT_ASSIGN_OR_RETURN(const Dense dense, read_dense(*given, operation.types[0], source_, module_));
  if (!dense.value->known()) {
    return Status::input("found a constant whose elements the text leaves out, expected them all")
        .at(source_, operation.place);
  }
  const Literal& literal = *dense.value;
  const Number type = pool_.of(operation.types[0]);
  if (literal.shape().type == ElementType::kPred) {
    const std::span<const bool> all = literal.data<bool>();
    return pool_.vhlo_tensor(type, EntryPool::packed_bits(std::vector<bool>(all.begin(), all.end())));
  }
  std::string bytes(reinterpret_cast<const char*>(literal.bytes().data()), literal.bytes().size());
  if (type_bits(literal.shape().type) < 8) {  // one byte each, with zeros in the upper bits
    const auto mask = static_cast<char>((1 << type_bits(literal.shape().type)) - 1);
    for (char& c : bytes) c = static_cast<char>(c & mask);
  }
  return pool_.vhlo_tensor(type, bytes);
}

Result<EntryPool::Number> VhloProperties::precisions(const MlirOperation& operation) {
  std::vector<Number> all;
  const auto add = [&](std::string_view word) {
    const std::optional<uint64_t> value = vhlo_word(VhloEnumeration::kPrecision, word);
    if (value) all.push_back(pool_.vhlo_enumeration(static_cast<uint64_t>(VhloEnumeration::kPrecision), *value));
    return value.has_value();
  };
  if (const MlirAttribute* given = find_attribute(operation.attributes, "precision_config")) {
    for (const MlirAttribute& one : values_.elements(*given)) {
      LT_ASSIGN_OR_RETURN(const std::string_view word, values_.word(one));
      if (!add(word)) return fault(operation, "precision_config");
    }
  }
  while (all.size() < 2) add("DEFAULT");
  return pool_.vhlo_array(all);
}

Result<EntryPool::Number> VhloProperties::layouts(const MlirOperation& operation, std::string_view name) {
  std::vector<Number> all;
  if (const MlirAttribute* given = find_attribute(operation.attributes, name)) {
    for (const MlirAttribute& one : values_.elements(*given)) {
      const size_t open = one.text.find('<');
      Dims order;
      if (one.text.substr(open, 2) != "<>") {  // a scalar has no layout order
        MlirAttribute list = one;
        list.text = one.text.substr(open + 1, one.text.find('>') - open - 1);
        list.place = one.place + static_cast<Offset>(open + 1);
        LT_ASSIGN_OR_RETURN(order, values_.integers(list));
      }
      all.push_back(pool_.vhlo_integers({order.begin(), order.end()}, "index", {std::ssize(order)}));
    }
  }
  return pool_.vhlo_array(all);
}

Result<EntryPool::Number> VhloProperties::aliases(const MlirOperation& operation) {
  std::vector<Number> all;
  if (const MlirAttribute* given = find_attribute(operation.attributes, "output_operand_aliases")) {
    for (const MlirAttribute& one : values_.elements(*given)) {
      LT_ASSIGN_OR_RETURN(const MlirAttributes fields, values_.fields(one));
      const MlirAttribute* output = find_attribute(fields, "output_tuple_indices");
      const MlirAttribute* operand = find_attribute(fields, "operand_index");
      const MlirAttribute* index = find_attribute(fields, "operand_tuple_indices");
      if (!output || !operand || !index) return fault(operation, "output_operand_aliases");
      LT_ASSIGN_OR_RETURN(const Dims outputs, values_.integers(*output));
      LT_ASSIGN_OR_RETURN(const int64_t number, values_.integer(*operand));
      LT_ASSIGN_OR_RETURN(const Dims indices, values_.integers(*index));
      all.push_back(pool_.vhlo_alias({outputs.begin(), outputs.end()}, number, {indices.begin(), indices.end()}));
    }
  }
  return pool_.vhlo_array(all);
}

/// The place of one letter in `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`, or those of all digits in
/// ascending order.
Result<EntryPool::Number> VhloProperties::convolution_dimension(const MlirOperation& operation, std::string_view name) {
  const MlirAttribute* given = find_attribute(operation.attributes, "dimension_numbers");
  if (!given) return fault(operation, name);
  std::string_view rest = given->text;
  const int which = name.starts_with("input") ? 0 : name.starts_with("kernel") ? 1 : 2;
  for (int i = 0;; ++i) {
    const size_t open = rest.find('['), close = rest.find(']');
    if (open == rest.npos || close == rest.npos || close < open) return fault(operation, name);
    if (i == which) {
      rest = rest.substr(open + 1, close - open - 1);
      break;
    }
    rest.remove_prefix(close + 1);
  }
  const char letter = name.ends_with("spatial_dimensions")        ? '0'
                      : name == "kernel_input_feature_dimension"  ? 'i'
                      : name == "kernel_output_feature_dimension" ? 'o'
                      : name.ends_with("batch_dimension")         ? 'b'
                                                                  : 'f';
  std::vector<std::pair<int64_t, int64_t>> places;  // digits with their places
  int64_t at = 0;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    std::string_view item = rest.substr(0, comma);
    while (item.starts_with(' ')) item.remove_prefix(1);
    if (letter != '0' && item == std::string_view(&letter, 1)) return pool_.vhlo_integer(at);
    int64_t digit = 0;
    if (std::from_chars(item.data(), item.data() + item.size(), digit).ec == std::errc())
      places.emplace_back(digit, at);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    ++at;
  }
  if (letter != '0') return fault(operation, name);
  std::ranges::sort(places);
  std::vector<int64_t> dims;
  for (const auto& [digit, place] : places) dims.push_back(place);
  return pool_.vhlo_integers(dims, "i64", {std::ssize(dims)});
}

Result<EntryPool::Number> VhloProperties::plain(const MlirAttribute& attribute, bool builtin) {
  const std::string_view text = attribute.text;
  const auto unknown = [&]() {
    return Status(Fault::kUnsupported, fmt::format("'{}' can't be written as bytecode", text))
        .at(source_, attribute.place);
  };
  if (text.starts_with('"')) {
    LT_ASSIGN_OR_RETURN(const std::string value, values_.string(attribute));
    return builtin ? pool_.builtin_string(value) : pool_.vhlo_string(value);
  }
  if (text.empty() || text == "true" || text == "false" || text == "unit") {
    if (builtin) return pool_.builtin_integer(text == "false" ? 0 : 1, 1);
    return pool_.vhlo_bool(text != "false");
  }
  if (text.starts_with('{')) {
    LT_ASSIGN_OR_RETURN(const MlirAttributes fields, values_.fields(attribute));
    std::vector<std::pair<Number, Number>> items;
    for (const MlirAttribute& field : fields) {
      const std::string key(field.key.starts_with('"') ? mlir_unquote(field.key.substr(1, field.key.size() - 2))
                                                       : std::string(field.key));
      LT_ASSIGN_OR_RETURN(const Number value, plain(field, builtin));
      items.emplace_back(builtin ? pool_.builtin_string(key) : pool_.vhlo_string(key), value);
    }
    return builtin ? pool_.builtin_dictionary(items) : pool_.vhlo_dictionary(items);
  }
  if (text.starts_with('[')) {
    if (builtin) return unknown();
    std::vector<Number> items;
    for (const MlirAttribute& one : values_.elements(attribute)) {
      LT_ASSIGN_OR_RETURN(const Number value, plain(one, builtin));
      items.push_back(value);
    }
    return pool_.vhlo_array(items);
  }
  const size_t colon = text.find(" : ");
  const std::string_view type = colon == text.npos ? "i64" : text.substr(colon + 3);
  if (type == "f32" || type == "f64") {
    LT_ASSIGN_OR_RETURN(const std::string_view digits, values_.number(attribute));
    const std::optional<double> value = mlir_number(digits, type == "f64");
    if (builtin || !value) return unknown();
    return pool_.vhlo_float(*value, type == "f64");
  }
  const bool integer = type.starts_with('i') || type.starts_with("ui");
  if (!integer || !vhlo_type_code(type)) return unknown();
  LT_ASSIGN_OR_RETURN(const int64_t value, values_.integer(attribute));
  if (!builtin) return pool_.vhlo_integer(value, type);
  if (type != "i32" && type != "i64") return unknown();
  return pool_.builtin_integer(value, type == "i32" ? 32 : 64);
}

Result<std::vector<std::pair<EntryPool::Number, EntryPool::Number>>> VhloProperties::others(
    const MlirAttributes& attributes, bool builtin_values) {
  std::vector<std::pair<Number, Number>> all;
  for (const MlirAttribute& attribute : attributes) {
    if (attribute.key.find('.') == attribute.key.npos) continue;
    LT_ASSIGN_OR_RETURN(const Number value, plain(attribute, builtin_values));
    all.emplace_back(pool_.builtin_string(attribute.key), value);
  }
  return all;
}

}  // namespace lowtide::engine
