#include "text/stablehlo/mlir_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "ops/number_text.h"
#include "ops/op_rule.h"
#include "ops/text_cursor.h"
#include "text/hlo/scanner.h"
#include "text/stablehlo/mlir_windows.h"

namespace lowtide::engine {
namespace {

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

/// The words of `{a,b}`.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  TextCursor cursor(text);
  cursor.eat("{");
  for (std::string_view word = cursor.word(); !word.empty(); word = cursor.word()) {
    words.emplace_back(word);
    (void)cursor.eat(",");
  }
  return words;
}

Dims dims_of(std::string_view text) {
  const Result<Dims> dims = parse_dims(text);
  return dims.ok() ? *dims : Dims();
}

/// Rows as dense elements; shorter rows are padded to equal length.
std::string dense_rows(const std::vector<std::vector<int64_t>>& rows) {
  size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.size());
  std::vector<std::string> lines;
  for (std::vector<int64_t> row : rows) {
    row.resize(width, -1);
    lines.push_back(mlir_list(row));
  }
  if (width == 0) return "dense<> : tensor<0x0xi64>";
  return fmt::format("dense<[{}]> : tensor<{}x{}xi64>", fmt::join(lines, ", "), rows.size(), width);
}

std::string rows_text(std::string_view hlo) {
  if (hlo.starts_with('{')) {
    std::vector<std::vector<int64_t>> rows;
    TextCursor cursor(hlo.substr(1));
    while (cursor.eat("{")) {
      rows.push_back(cursor.integers().value_or(Dims()));
      if (!cursor.eat("}")) break;
      (void)cursor.eat(",");
    }
    return dense_rows(rows);
  }
  const Result<ReplicaGroups> groups = parse_replica_groups(hlo);
  return dense_rows(groups.ok() ? groups->groups : std::vector<std::vector<int64_t>>());
}

/// dot_bf16_bf16_f32_x3
std::string algorithm_text(std::string_view name) {
  std::string text(name.substr(4));
  for (size_t at = text.find("any_f8"); at != text.npos; at = text.find("any_f8")) text.replace(at, 6, "f8E5M2");
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('_', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const bool fast = text.ends_with("_fast_accum");
  const std::string products = !fast && parts.size() > 3 && parts[3].starts_with('x') ? parts[3].substr(1) : "1";
  if (parts.size() < 3) return {};
  return fmt::format(
      "#stablehlo.dot_algorithm<lhs_precision_type = {}, rhs_precision_type = {}, accumulation_type = {}, "
      "lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = {}, "
      "allow_imprecise_accumulation = {}>",
      parts[0], parts[1], parts[2], products, fast);
}

/// {mode=highest}, {tolerance={atol=0,rtol=0,ulps=2}}
std::string accuracy_text(std::string_view text) {
  if (text.find("highest") != text.npos) {
    return "#stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>";
  }
  const auto number = [&](std::string_view key) {
    const size_t at = text.find(key);
    const std::string_view rest = at == text.npos ? "0" : text.substr(at + key.size() + 1);
    return std::string(rest.substr(0, rest.find_first_of(",}")));
  };
  return fmt::format(
      "#stablehlo.result_accuracy<atol = {}, rtol = {}, ulps = {}, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>",
      mlir_float(number("atol")), mlir_float(number("rtol")), number("ulps"));
}

class Writer {
 public:
  Writer(const OperationSpelling& row, const Instruction& instruction)
      : row_(row), instruction_(instruction), items_(hlo_items(instruction)) {}

  std::vector<MlirText> write() {
    for (const Spelling& spelling : row_.attributes) add(spelling);
    for (auto& [key, fields] : structures_) {
      all_.push_back({key, fmt::format("#{}.{}<{}>", row_.dialect, row_.structure, fields)});
    }
    return std::move(all_);
  }

 private:
  const std::string* find(std::string_view key) const {
    for (const RawAttribute& item : items_) {
      if (item.key == key) return &item.text;
    }
    return nullptr;
  }

  void add(const Spelling& spelling) {
    if (spelling.how == Spell::kSlice || spelling.how == Spell::kPadding || spelling.how == Spell::kWindow) {
      add_geometry(instruction_, all_);
      return;
    }
    const std::string_view path = spelling.mlir.substr(0, spelling.mlir.find('|'));
    const size_t dot = path.find('.');
    const std::string* item = find(spelling.hlo);
    if (dot != path.npos) return add_field(spelling, path, dot, item);
    if (!item && !spelling.always) return;
    const std::string text = item ? text_of(spelling, *item) : usual(spelling);
    if (spelling.detail == "unit") {
      if (text == "true") all_.push_back({std::string(path), ""});
    } else if (!text.empty()) {
      all_.push_back({std::string(path), text});
    }
  }

  void add_field(const Spelling& spelling, std::string_view path, size_t dot, const std::string* item) {
    const std::string key(path.substr(0, dot)), field(path.substr(path.rfind('.') + 1));
    auto structure = std::ranges::find(structures_, key, &std::pair<std::string, std::string>::first);
    if (structure == structures_.end()) structure = structures_.insert(structures_.end(), {key, ""});
    if (!item) return;
    std::string text = *item;
    if (spelling.how == Spell::kDims) {
      const Dims dims = dims_of(*item);
      if (dims.empty()) return;
      text = mlir_list(dims);
    }
    structure->second += fmt::format("{}{} = {}", structure->second.empty() ? "" : ", ", field, text);
  }

  /// The default values, which HLO omits.
  static std::string usual(const Spelling& spelling) {
    switch (spelling.how) {
      case Spell::kDims: return mlir_array({});
      case Spell::kFlag: return "false";
      case Spell::kInteger: return spelling.hlo.ends_with("group_count") ? "1 : i64" : "0 : i64";
      case Spell::kPairs: return dense_rows({});
      default: return {};
    }
  }

  /// The meaning of `{}`: no pairs for `source_target_pairs`, otherwise one group of all participants.
  std::string all_devices(const Spelling& spelling) const {
    if (spelling.hlo == "source_target_pairs") return "dense<> : tensor<0x2xi64>";
    const Module& module = instruction_.parent->module();
    const std::string* ids = find("use_global_device_ids");
    const int64_t partitions = find("channel_id") ? module.num_partitions.value_or(1) : 1;
    const int64_t replicas = !find("channel_id") || (ids && *ids == "true") ? module.replica_count : 1;
    constexpr int64_t kMostDevices = 1 << 16;
    std::vector<int64_t> group;
    for (int64_t d = 0; d < std::min(partitions * replicas, kMostDevices); ++d) group.push_back(d);
    return dense_rows({group});
  }

  std::string text_of(const Spelling& spelling, const std::string& item) {
    const std::string_view integer_type = spelling.detail.empty() ? "i64" : spelling.detail;
    switch (spelling.how) {
      case Spell::kDims: return mlir_array(dims_of(item));
      case Spell::kInteger: return fmt::format("{} : {}", item, integer_type);
      case Spell::kOneDim: {
        const Dims dims = dims_of(item);
        return fmt::format("{} : i64", dims.empty() ? 0 : dims[0]);
      }
      case Spell::kFlag: return item;
      case Spell::kWord: return fmt::format("#stablehlo<{} {}>", spelling.detail, item);
      case Spell::kLowerWord:
        return fmt::format("#stablehlo<{} {}>", spelling.detail,
                           upper(std::string_view(item).substr(std::min(spelling.prefix.size(), item.size()))));
      case Spell::kWords: {
        std::vector<std::string> words;
        for (const std::string& word : words_of(item)) {
          words.push_back(fmt::format("#{}<{} {}>", row_.dialect, spelling.detail, upper(word)));
        }
        return fmt::format("[{}]", fmt::join(words, ", "));
      }
      case Spell::kPairs: return item == "{}" ? all_devices(spelling) : rows_text(item);
      case Spell::kNumber: return fmt::format("{} : {}", mlir_float(item), spelling.detail);
      case Spell::kHandle: return fmt::format("#stablehlo.channel_handle<handle = {}, type = 1>", item);
      case Spell::kDimLabels: return conv_labels(item);
      case Spell::kAlgorithm: return algorithm_text(item);
      case Spell::kAccuracy: return accuracy_text(item);
      default: return {};
    }
  }

  const OperationSpelling& row_;
  const Instruction& instruction_;
  std::vector<RawAttribute> items_;
  std::vector<MlirText> all_;
  std::vector<std::pair<std::string, std::string>> structures_;
};

}  // namespace

std::vector<RawAttribute> hlo_items(const Instruction& instruction) {
  std::string text;
  AttributeWriter writer(text);
  if (const OpRule& rule = rule_of(instruction.opcode); rule.print) rule.print(instruction, writer);
  std::vector<RawAttribute> items;
  const Source source{"", text};
  Scanner scanner(source);
  while (scanner.eat(",")) {
    const std::string key(scanner.word());
    if (!scanner.eat("=")) break;
    items.push_back({key, std::string(scanner.attribute_value())});
  }
  items.insert(items.end(), instruction.extra.begin(), instruction.extra.end());
  return items;
}

std::vector<MlirText> mlir_attributes(const OperationSpelling& row, const Instruction& instruction) {
  return Writer(row, instruction).write();
}

std::string frontend_dictionary(std::string_view braces) {
  const Source source{"", std::string(braces)};
  Scanner scanner(source);
  scanner.eat("{");
  std::string text;
  while (scanner.peek() != '}' && !scanner.done()) {
    std::string key(scanner.peek() == '"' ? scanner.attribute_value() : scanner.word());
    if (key.size() > 2 && key.front() == '"') key = key.substr(1, key.size() - 2);
    if (key.empty() || !scanner.eat("=")) break;
    const std::string_view value = scanner.attribute_value();
    if (value.empty()) break;
    const Result<std::string> string = value.starts_with('"') ? unquote(value) : std::string(value);
    // Values of any kind are printed as strings: XLA crashes if it reads anything else.
    const bool bare = is_name_start(key[0]) && std::ranges::all_of(key, is_name_char) && key.find('-') == key.npos;
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", bare ? key : '"' + key + '"',
                        mlir_quote(string.ok() ? *string : std::string(value)));
    (void)scanner.eat(",");
  }
  return '{' + text + '}';
}

std::string mlir_list(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims, ", ")); }

std::string mlir_array(const Dims& dims) {
  return dims.empty() ? "array<i64>" : fmt::format("array<i64: {}>", fmt::join(dims, ", "));
}

std::string mlir_quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || byte < 0x20 || byte >= 0x7f) {
      out += c == '\\' ? "\\\\" : fmt::format("\\{:02X}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string mlir_symbol(std::string_view name) {
  const bool bare = name.find('-') == name.npos && !name.empty() && is_name_start(name[0]);
  return bare ? '@' + std::string(name) : '@' + mlir_quote(name);
}

std::string mlir_float(std::string_view number) {
  float value = 0;
  if (read_real(number, value) == nullptr && !std::isfinite(value)) return fmt::format("0x{:08X}", bits_of(value));
  std::string text(number);
  const size_t exponent = std::min(text.find_first_of("eE"), text.size());
  if (text.find('.') == text.npos) text.insert(exponent, ".0");
  return text;
}

std::string joined(const std::vector<MlirText>& attributes) {
  std::string text;
  for (const auto& [key, value] : attributes) {
    text += (text.empty() ? "" : ", ") + key + (value.empty() ? "" : " = " + value);
  }
  return text;
}

}  // namespace lowtide::engine
