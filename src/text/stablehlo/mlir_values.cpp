#include "text/stablehlo/mlir_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "text/stablehlo/dense.h"
#include "text/stablehlo/mlir_reader.h"
#include "text/stablehlo/mlir_types.h"

namespace lowtide::engine {
namespace {

/// A part of an attribute's text with its place in the source, for errors.
MlirAttribute piece(const MlirAttribute& whole, std::string_view text) {
  return {{}, text, whole.place + static_cast<Offset>(text.data() - whole.text.data())};
}

bool is_number(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_digit); }

}  // namespace

Status MlirValues::fault(const MlirAttribute& attribute, std::string message) const {
  return Status::input(std::move(message)).at(source_, attribute.place);
}

MlirAttribute MlirValues::resolve(MlirAttribute attribute) const {
  for (int steps = 0; steps < 8 && attribute.text.starts_with('#'); ++steps) {
    const auto alias = module_.aliases.find(attribute.text.substr(1));
    if (alias == module_.aliases.end()) break;
    attribute.text = alias->second;
    attribute.place = static_cast<Offset>(alias->second.data() - source_.text.data());
  }
  return attribute;
}

std::optional<MlirAttribute> MlirValues::find(const MlirAttributes& attributes, std::string_view path) const {
  // The whole path may be one name: mhlo.backend_config.
  if (const MlirAttribute* named = find_attribute(attributes, path)) return resolve(*named);
  const size_t dot = path.find('.');
  const MlirAttribute* whole = find_attribute(attributes, path.substr(0, dot));
  if (!whole) return std::nullopt;
  const MlirAttribute resolved = resolve(*whole);
  if (dot == path.npos) return resolved;
  const std::string_view field = path.substr(dot + 1);
  if (is_number(field)) {
    MlirScanner scanner(source_, resolved.place);
    std::string_view part = scanner.bracketed();
    if (field == "1") part = scanner.eat("x") ? scanner.bracketed() : std::string_view();
    if (part.empty()) return std::nullopt;
    return MlirAttribute{whole->key, part, static_cast<Offset>(part.data() - source_.text.data())};
  }
  const Result<MlirAttributes> all = fields(resolved);
  return all.ok() ? find(*all, field) : std::nullopt;
}

std::optional<MlirAttribute> MlirValues::find_any(const MlirAttributes& attributes, std::string_view paths) const {
  while (!paths.empty()) {
    const size_t bar = std::min(paths.find('|'), paths.size());
    if (std::optional<MlirAttribute> found = find(attributes, paths.substr(0, bar))) return found;
    paths.remove_prefix(std::min(bar + 1, paths.size()));
  }
  return std::nullopt;
}

Result<int64_t> MlirValues::integer(const MlirAttribute& attribute) const {
  if (attribute.text.empty() || attribute.text.starts_with("true")) return 1;
  if (attribute.text.starts_with("false")) return 0;
  if (attribute.text.starts_with("dense")) {
    LT_ASSIGN_OR_RETURN(const Dims all, integers(attribute));
    if (all.size() == 1) return all[0];
  }
  const std::optional<int64_t> value = TextCursor(attribute.text).integer();
  if (!value) return fault(attribute, "expected an integer");
  return *value;
}

Result<Dims> MlirValues::integers(const MlirAttribute& attribute) const {
  const size_t colon = attribute.text.rfind(": tensor<");
  if (attribute.text.starts_with("dense") && colon != attribute.text.npos) {
    MlirScanner scanner(source_, attribute.place + colon + 1);
    LT_ASSIGN_OR_RETURN(const Shape shape, read_mlir_type(scanner, module_.aliases));
    if (!is_integral(shape.type) && shape.type != ElementType::kPred) return fault(attribute, "expected integers");
    LT_ASSIGN_OR_RETURN(const Dense dense, read_dense(attribute, shape, source_, module_));
    constexpr int64_t kMostIntegers = 1 << 20;
    if (!dense.value->known() || element_count(shape) > kMostIntegers) {
      return fault(attribute, "expected a list of integers that stands in the text");
    }
    Dims all(static_cast<size_t>(element_count(shape)));
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = integer_at(*dense.value, dense.splat ? 0 : static_cast<int64_t>(i));
    return all;
  }
  std::string_view text = attribute.text;
  if (text.starts_with("array")) {
    const size_t types = text.find(':');
    if (types == text.npos) return Dims();  // array<i64>
    text.remove_prefix(types + 1);
  }
  Dims all;
  TextCursor cursor(text);
  while (!cursor.done()) {
    if (cursor.eat("dense") || cursor.eat("[") || cursor.eat("]") || cursor.eat(",") || cursor.eat("<")) continue;
    if (cursor.eat(">") || cursor.eat(":")) break;
    const bool yes = cursor.eat("true");
    const std::optional<int64_t> value = yes ? 1 : cursor.eat("false") ? std::optional<int64_t>(0) : cursor.integer();
    if (!value) return fault(attribute, "expected a list of integers");
    all.push_back(*value);
  }
  return all;
}

Result<Dims> MlirValues::extents(const MlirAttribute& attribute) const {
  const size_t colon = attribute.text.rfind(": tensor<");
  if (colon != attribute.text.npos) {
    MlirScanner scanner(source_, attribute.place + colon + 1);
    LT_ASSIGN_OR_RETURN(Shape shape, read_mlir_type(scanner, module_.aliases));
    return std::move(shape.dims);
  }
  LT_ASSIGN_OR_RETURN(const Dims all, integers(attribute));
  const auto rows = std::max<int64_t>(static_cast<int64_t>(elements(attribute).size()), 1);
  return Dims{rows, static_cast<int64_t>(all.size()) / rows};
}

Result<std::string_view> MlirValues::word(const MlirAttribute& attribute) const {
  std::string_view text = resolve(attribute).text;
  if (text.starts_with('"')) {
    if (text.size() > 1) text = text.substr(1, text.size() - 2);
  } else if (!text.starts_with('#')) {
    text = text.substr(0, text.find_first_of(" :"));
  } else if (const size_t end = text.rfind('>'); end != text.npos) {
    const size_t begin = text.find_last_of("< ", end - 1);
    text = text.substr(begin + 1, end - begin - 1);
  }
  if (!std::ranges::all_of(text, is_name_char)) return fault(attribute, "expected a word");
  return text;
}

Result<std::string_view> MlirValues::number(const MlirAttribute& attribute) const {
  const std::string_view text = attribute.text.substr(0, attribute.text.find_first_of(" :"));
  const auto of_number = [](char c) { return is_name_char(c) || c == '+'; };
  if (text.empty() || !std::ranges::all_of(text, of_number)) return fault(attribute, "expected a number");
  return text;
}

Result<std::string> MlirValues::string(const MlirAttribute& attribute) const {
  const size_t end = attribute.text.starts_with('"') ? end_of_string(attribute.text, 0) : std::string_view::npos;
  if (end == std::string_view::npos) return fault(attribute, "expected a string");
  return mlir_unquote(attribute.text.substr(1, end - 2));
}

std::optional<double> mlir_number(std::string_view text, bool is_double) {
  double value = 0;
  if (text.starts_with("0x")) {
    float narrow = 0;
    if ((is_double ? read_float_bits(text, value) : read_float_bits(text, narrow)) != nullptr) return std::nullopt;
    return is_double ? value : narrow;
  }
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

std::string mlir_unquote(std::string_view inner) {
  // Bytes are escaped as two hexadecimal digits.
  std::string out;
  const auto digit = [](char c) { return is_digit(c) ? c - '0' : (c >= 'a' ? c - 'a' : c - 'A') + 10; };
  const auto is_hexadecimal = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  for (size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] != '\\' || i + 1 == inner.size()) {
      out += inner[i];
      continue;
    }
    const char next = inner[++i];
    if (is_hexadecimal(next) && i + 1 < inner.size() && is_hexadecimal(inner[i + 1])) {
      out += static_cast<char>(digit(next) * 16 + digit(inner[++i]));
    } else {
      out += next == 'n' ? '\n' : next == 't' ? '\t' : next;
    }
  }
  return out;
}

MlirAttributes MlirValues::elements(const MlirAttribute& attribute) const {
  MlirAttributes all;
  const MlirAttribute list = resolve(attribute);
  if (!list.text.starts_with('[')) return all;
  MlirScanner scanner(source_, list.place + 1);
  while (!scanner.eat("]")) {
    scanner.peek();
    const std::string_view text = scanner.dictionary_value();
    if (text.empty()) return all;
    all.push_back(piece(list, text));
    (void)scanner.eat(",");
  }
  return all;
}

Result<MlirAttributes> MlirValues::fields(const MlirAttribute& attribute) const {
  const MlirAttribute whole = resolve(attribute);
  const size_t open = whole.text.find_first_of("<{");
  if (open == whole.text.npos) return fault(whole, "expected fields in brackets");
  MlirScanner scanner(source_, whole.place + open + 1);
  scanner.eat_word("raw");  // #stablehlo.conv<raw input_batch_dimension = 0, ...>
  MlirAttributes all;
  LT_RETURN_IF_ERROR(read_mlir_entries(scanner, all, whole.text[open] == '<' ? ">" : "}"));
  return all;
}

}  // namespace lowtide::engine
