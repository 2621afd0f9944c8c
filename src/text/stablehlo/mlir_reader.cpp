#include "text/stablehlo/mlir_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lowtide::engine {
namespace {

constexpr int kDeepestRegion = 64;

bool is_module(std::string_view name) { return name == "module" || name == "builtin.module"; }
bool is_function(std::string_view name) { return name == "func.func"; }

/// Is this of a dialect that no program here uses, such as llvm.func, transform.named_sequence, memref.global?
bool is_foreign(std::string_view name) {
  constexpr std::array<std::string_view, 6> kOwn = {"func", "builtin", "sdy", "stablehlo", "chlo", "mhlo"};
  const size_t dot = name.find('.');
  return dot != std::string_view::npos && std::ranges::find(kOwn, name.substr(0, dot)) == kOwn.end();
}

/// Reads `name: ...`, separated by commas: `read_value` gets the name, and reads the text after the colon.
template <class F>
Status read_group(MlirScanner& scanner, std::string_view close, F&& read_value) {
  while (!scanner.eat(close)) {
    const std::string_view name = scanner.peek() == '"' ? scanner.plain_value() : scanner.identifier();
    if (name.empty() || !scanner.eat(":")) return scanner.expected(fmt::format("'name: value' or '{}'", close));
    LT_RETURN_IF_ERROR(read_value(name.starts_with('"') ? name.substr(1, name.size() - 2) : name));
    if (!scanner.eat(",") && !scanner.next_is(close)) {
      return scanner.expected(fmt::format("',' or '{}' behind a resource", close));
    }
  }
  return {};
}

}  // namespace

Result<MlirModule> MlirReader::read() {
  MlirScanner scanner(source_);
  if (source_.text.size() >= kNowhere) return Status::input(source_.name + ": the text has 4 GiB or more");
  (void)scanner.eat("\xef\xbb\xbf");  // a byte order mark
  LT_RETURN_IF_ERROR(read_aliases(scanner));
  if (scanner.next_is_word("module") || scanner.next_is_word("builtin.module")) {
    LT_RETURN_IF_ERROR(read_module(scanner));
  } else if (scanner.next_is("\"builtin.module\"")) {
    MlirOperation module;
    LT_RETURN_IF_ERROR(read_operation(scanner, module, 0));
    if (module.regions.size() != 1) return scanner.fault(module.place, "found a module without its one region");
    module_.attributes = std::move(module.attributes);
    module_.operations = std::move(module.regions[0].operations);
    if (const MlirAttribute* name = find_attribute(module_.attributes, "sym_name"); name && name->text.size() > 2) {
      module_.name = name->text.substr(1, name->text.size() - 2);
    }
  } else {
    while (!scanner.done() && scanner.peek() != '#' && scanner.peek() != '{') {
      LT_RETURN_IF_ERROR(read_operation(scanner, module_.operations.emplace_back(), 0));
    }
  }
  LT_RETURN_IF_ERROR(read_aliases(scanner));
  if (scanner.next_is("{-#")) LT_RETURN_IF_ERROR(read_resources(scanner));
  LT_RETURN_IF_ERROR(read_aliases(scanner));
  if (!scanner.done()) return scanner.expected("the end of the text behind the module");
  if (module_.operations.empty()) return scanner.expected("'module' or 'func.func'");
  return std::move(module_);
}

Status MlirReader::read_aliases(MlirScanner& scanner) {
  for (char sign = scanner.peek(); sign == '#' || sign == '!'; sign = scanner.peek()) {
    const std::string_view name = scanner.signed_name(sign);
    if (name.empty() || !scanner.eat("=")) return scanner.expected("an alias: '#name = value'");
    scanner.peek();
    const size_t begin = scanner.at();
    // `loc(...)`, `#dialect.kind<...>`, `tensor<...>`: a word with bracketed text, then possibly a type.
    std::string_view value = scanner.plain_value();
    while (!value.empty() && (scanner.peek() == '<' || scanner.peek() == '(')) {
      if (scanner.bracketed().empty()) value = {};
    }
    if (!value.empty() && scanner.eat(":")) value = scanner.plain_value();
    if (value.empty()) return scanner.expected("the value of the alias, with matching brackets");
    module_.aliases[name] = scanner.text().substr(begin, scanner.at() - begin);
  }
  return {};
}

Status MlirReader::read_resources(MlirScanner& scanner) {
  scanner.eat("{-#");
  // dialect_resources: { builtin: { name: "0x..." } }, external_resources: { tool: { option: true } }
  return read_group(scanner, "#-}", [&](std::string_view kind) {
    if (!scanner.eat("{")) return scanner.expected("'{' and the resources of each dialect");
    return read_group(scanner, "}", [&](std::string_view dialect) {
      if (!scanner.eat("{")) return scanner.expected("'{' and resources");
      const bool is_ours = kind == "dialect_resources" && dialect == "builtin";
      if (is_ours) module_.has_resources = true;
      return read_group(scanner, "}", [&](std::string_view name) -> Status {
        scanner.peek();
        const Offset place = scanner.place();
        const std::string_view value = scanner.plain_value();
        if (value.empty()) return scanner.expected("a string with its closing quote, true or false");
        if (!is_ours || module_.resources.emplace(name, value).second) return {};
        return scanner.fault(place, fmt::format("found the resource '{}' twice", name));
      });
    });
  });
}

Status MlirReader::read_module(MlirScanner& scanner) {
  (void)scanner.identifier();
  if (scanner.peek() == '@') module_.name = scanner.signed_name('@');
  if (scanner.eat_word("attributes")) LT_RETURN_IF_ERROR(read_dictionary(scanner, module_.attributes));
  scanner.peek();
  const Offset place = scanner.place();
  if (!scanner.eat("{")) return scanner.expected("'{' and the functions of the module");
  while (scanner.peek() != '}') {
    if (scanner.done()) return scanner.fault(place, "found no '}' that closes the module");
    LT_RETURN_IF_ERROR(read_operation(scanner, module_.operations.emplace_back(), 0));
  }
  scanner.eat("}");
  std::string_view location;
  return read_location(scanner, location);
}

/// Skips to the end of the line on which all brackets are closed.
void MlirReader::skip_declaration(MlirScanner& scanner) {
  const std::string_view text = scanner.text();
  size_t at = scanner.at();
  int open = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
    } else if (text.substr(at).starts_with("//")) {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (c == '(' || c == '[' || c == '{') {
      ++open;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--open < 0) break;
    } else if (c == '\n' && open == 0) {
      break;
    }
  }
  scanner.move_to(std::min(at, text.size()));
}

Status MlirReader::read_operation(MlirScanner& scanner, MlirOperation& operation, int depth) {
  if (depth > kDeepestRegion) return scanner.expected("regions nested less deeply");
  if (scanner.peek() == '%') LT_RETURN_IF_ERROR(read_results(scanner, operation));
  scanner.peek();
  operation.place = scanner.place();
  if (scanner.peek() == '"') {
    const std::string_view quoted = scanner.plain_value();
    if (quoted.size() < 3) return scanner.expected("an operation's name in quotes");
    operation.name = quoted.substr(1, quoted.size() - 2);
    if (depth == 0 && is_foreign(operation.name)) return skip_declaration(scanner), Status();
    LT_RETURN_IF_ERROR(read_generic(scanner, operation, depth));
    if (is_function(operation.name)) LT_RETURN_IF_ERROR(normalise_function(operation));
  } else {
    operation.name = scanner.identifier();
    if (operation.name.empty()) return scanner.expected("an operation");
    if (depth == 0 && is_foreign(operation.name)) return skip_declaration(scanner), Status();
    if (depth > 0 && is_module(operation.name)) {
      return scanner.fault(operation.place, "found a module in a function, expected an operation");
    }
    LT_RETURN_IF_ERROR(is_function(operation.name) ? read_function(scanner, operation)
                                                   : read_pretty(scanner, operation, depth));
  }
  return read_location(scanner, operation.location);
}

Status MlirReader::read_results(MlirScanner& scanner, MlirOperation& operation) {
  constexpr int64_t kMostResults = 1 << 20;
  do {
    scanner.peek();
    MlirResult result;
    result.name = scanner.signed_name('%');
    if (result.name.empty()) return scanner.expected("the name of a result: '%name'");
    if (scanner.eat(":")) {
      const std::optional<int64_t> count = scanner.integer();
      if (!count || *count < 1 || *count > kMostResults) return scanner.expected("the number of results");
      result.count = *count;
    }
    operation.results.push_back(result);
  } while (scanner.eat(","));
  return scanner.eat("=") ? Status() : scanner.expected("'=' behind the results");
}

Status MlirReader::read_generic(MlirScanner& scanner, MlirOperation& operation, int depth) {
  if (!scanner.eat("(")) return scanner.expected("'(' and the operands");
  while (scanner.peek() != ')') {
    LT_RETURN_IF_ERROR(read_use(scanner, operation.operands));
    if (!scanner.eat(",")) break;
  }
  if (!scanner.eat(")")) return scanner.expected("',' or ')' behind an operand");
  if (scanner.peek() == '[') return scanner.expected("an operation without successors");
  if (scanner.eat("<")) {
    if (scanner.peek() != '{') return scanner.expected("'{' and the properties");
    LT_RETURN_IF_ERROR(read_dictionary(scanner, operation.attributes));
    if (!scanner.eat(">")) return scanner.expected("'>' behind the properties");
  }
  if (scanner.eat("(")) {
    do {
      LT_RETURN_IF_ERROR(read_region(scanner, operation.regions.emplace_back(), depth));
    } while (scanner.eat(","));
    if (!scanner.eat(")")) return scanner.expected("',' or ')' behind a region");
  }
  if (scanner.peek() == '{') LT_RETURN_IF_ERROR(read_dictionary(scanner, operation.attributes));
  if (!scanner.eat(":")) return scanner.expected("':' and the types of operands and results");
  LT_ASSIGN_OR_RETURN(MlirFunctionType type, read_mlir_function_type(scanner, module_.aliases));
  operation.operand_types = std::move(type.operands);
  operation.types = std::move(type.results);
  return {};
}

Status MlirReader::read_region(MlirScanner& scanner, MlirRegion& region, int depth) {
  scanner.peek();
  region.place = scanner.place();
  if (!scanner.eat("{")) return scanner.expected("'{' and a region");
  if (scanner.peek() == '^') {
    if (scanner.signed_name('^').empty()) return scanner.expected("the name of a block");
    if (scanner.eat("(")) LT_RETURN_IF_ERROR(read_arguments(scanner, region.arguments, ")"));
    if (!scanner.eat(":")) return scanner.expected("':' behind the arguments of the block");
  }
  while (scanner.peek() != '}') {
    if (scanner.done()) return scanner.fault(region.place, "found no '}' that closes this region");
    if (scanner.peek() == '^') return scanner.expected("a region of one block");
    LT_RETURN_IF_ERROR(read_operation(scanner, region.operations.emplace_back(), depth + 1));
  }
  scanner.eat("}");
  return {};
}

Status MlirReader::read_arguments(MlirScanner& scanner, std::vector<MlirArgument>& arguments, std::string_view close) {
  while (!scanner.eat(close)) {
    MlirArgument& argument = arguments.emplace_back();
    scanner.peek();
    argument.place = scanner.place();
    argument.name = scanner.signed_name('%');
    if (argument.name.empty()) return scanner.expected("an argument: '%name: type'");
    if (!scanner.eat(":")) return scanner.expected("':' and the type of the argument");
    LT_ASSIGN_OR_RETURN(argument.type, read_mlir_type(scanner, module_.aliases));
    if (scanner.peek() == '{') LT_RETURN_IF_ERROR(read_dictionary(scanner, argument.attributes));
    LT_RETURN_IF_ERROR(read_location(scanner, argument.location));
    if (scanner.eat(",")) continue;
    if (!scanner.next_is(close)) return scanner.expected(fmt::format("',' or '{}' behind an argument", close));
  }
  return {};
}

Status MlirReader::read_use(MlirScanner& scanner, std::vector<MlirUse>& uses) {
  scanner.peek();
  MlirUse use;
  use.place = scanner.place();
  use.name = scanner.signed_name('%');
  if (use.name.empty()) return scanner.expected("an operand: '%name'");
  if (scanner.at() < scanner.text().size() && scanner.text()[scanner.at()] == '#') {
    scanner.eat("#");
    const std::optional<int64_t> part = scanner.integer();
    if (!part || *part < 0) return scanner.expected("which of the results");
    use.part = *part;
  }
  uses.push_back(use);
  return {};
}

Status read_mlir_entries(MlirScanner& scanner, MlirAttributes& entries, std::string_view close) {
  while (!scanner.eat(close)) {
    MlirAttribute entry;
    scanner.peek();
    entry.place = scanner.place();
    if (scanner.peek() == '"') {
      entry.key = scanner.plain_value();
      if (entry.key.size() > 2) entry.key = entry.key.substr(1, entry.key.size() - 2);
    } else {
      entry.key = scanner.identifier();
    }
    if (entry.key.empty()) return scanner.expected("an attribute: 'name = value'");
    if (scanner.eat("=")) {
      scanner.peek();
      entry.place = scanner.place();
      entry.text = scanner.peek() == '{' ? scanner.bracketed() : scanner.dictionary_value();
      if (entry.text.empty())
        return scanner.expected(fmt::format("a value for '{}', with matching brackets", entry.key));
    }
    entries.push_back(entry);
    if (scanner.eat(",")) continue;
    if (!scanner.next_is(close)) return scanner.expected(fmt::format("',' or '{}' behind an attribute", close));
  }
  return {};
}

Status MlirReader::read_dictionary(MlirScanner& scanner, MlirAttributes& attributes, std::string_view close) {
  if (!scanner.eat("{")) return scanner.expected("'{' and attributes");
  return read_mlir_entries(scanner, attributes, close);
}

Status MlirReader::read_location(MlirScanner& scanner, std::string_view& location) {
  if (!scanner.next_is_word("loc")) return {};
  MlirScanner ahead = scanner;
  ahead.eat("loc");
  if (ahead.peek() != '(') return {};
  const std::string_view text = ahead.bracketed();
  if (text.empty()) return ahead.expected("a location with matching parentheses");
  location = text.substr(1, text.size() - 2);
  scanner.move_to(ahead.at());
  return {};
}

Status MlirReader::read_function(MlirScanner& scanner, MlirOperation& function) {
  scanner.peek();
  const Offset place = scanner.place();
  for (const std::string_view visibility : {"public", "private", "nested"}) {
    if (scanner.eat_word(visibility)) function.attributes.push_back({"sym_visibility", visibility, place});
  }
  scanner.peek();
  const Offset name_place = scanner.place();
  const std::string_view name = scanner.signed_name('@');
  if (name.empty()) return scanner.expected("the name of the function: '@name'");
  function.attributes.push_back({"sym_name", name, name_place});
  MlirRegion& body = function.regions.emplace_back();
  if (!scanner.eat("(")) return scanner.expected("'(' and the parameters");
  if (scanner.peek() == '%' || scanner.peek() == ')') {
    LT_RETURN_IF_ERROR(read_arguments(scanner, body.arguments, ")"));
  } else {
    LT_RETURN_IF_ERROR(read_declared(scanner));
  }
  if (scanner.eat("->")) {
    if (scanner.eat("(")) {
      while (!scanner.eat(")")) {
        LT_ASSIGN_OR_RETURN(Shape type, read_mlir_type(scanner, module_.aliases));
        function.types.push_back(std::move(type));
        MlirAttributes& attributes = function.result_attributes.emplace_back();
        if (scanner.peek() == '{') LT_RETURN_IF_ERROR(read_dictionary(scanner, attributes));
        if (scanner.eat(",")) continue;
        if (scanner.peek() != ')') return scanner.expected("',' or ')' behind a result");
      }
    } else {
      LT_ASSIGN_OR_RETURN(Shape type, read_mlir_type(scanner, module_.aliases));
      function.types.push_back(std::move(type));
      function.result_attributes.emplace_back();
    }
  }
  if (scanner.eat_word("attributes")) LT_RETURN_IF_ERROR(read_dictionary(scanner, function.attributes));
  if (scanner.peek() != '{') {
    function.regions.clear();
    return {};
  }
  MlirRegion block;
  LT_RETURN_IF_ERROR(read_region(scanner, block, 0));
  if (!block.arguments.empty()) return scanner.fault(block.place, "found parameters twice");
  body.operations = std::move(block.operations);
  body.place = block.place;
  return {};
}

Status MlirReader::read_declared(MlirScanner& scanner) {
  while (!scanner.eat(")")) {
    const Result<Shape> type = read_mlir_type(scanner, module_.aliases);
    if (!type.ok()) return type.status();
    MlirAttributes attributes;
    if (scanner.peek() == '{') LT_RETURN_IF_ERROR(read_dictionary(scanner, attributes));
    if (!scanner.eat(",") && !scanner.next_is(")")) return scanner.expected("',' or ')' behind a type");
  }
  return {};
}

Status MlirReader::normalise_function(MlirOperation& function) {
  const MlirScanner fault(source_);
  if (function.regions.size() != 1) return fault.fault(function.place, "expected a function with one region");
  const auto scanner_at = [&](const MlirAttribute& attribute) { return MlirScanner(source_, attribute.place); };
  MlirAttribute* name = nullptr;
  for (MlirAttribute& attribute : function.attributes) {
    if (attribute.key == "sym_name") name = &attribute;
  }
  if (!name || name->text.size() < 3) return fault.fault(function.place, "found a function without a name");
  name->text = name->text.substr(1, name->text.size() - 2);
  function.types.clear();
  if (const MlirAttribute* type = find_attribute(function.attributes, "function_type")) {
    MlirScanner scanner = scanner_at(*type);
    LT_ASSIGN_OR_RETURN(MlirFunctionType read, read_mlir_function_type(scanner, module_.aliases));
    function.types = std::move(read.results);
  }
  function.result_attributes.resize(function.types.size());
  const auto read_list = [&](std::string_view key, size_t count, const auto& attributes_of) -> Status {
    const MlirAttribute* list = find_attribute(function.attributes, key);
    if (!list) return {};
    MlirScanner scanner = scanner_at(*list);
    if (!scanner.eat("[")) return scanner.expected("a list of dictionaries");
    for (size_t i = 0; !scanner.eat("]"); ++i) {
      if (i == count) return scanner.expected(fmt::format("']' behind {} dictionaries", count));
      LT_RETURN_IF_ERROR(read_dictionary(scanner, attributes_of(i)));
      if (!scanner.eat(",") && !scanner.next_is("]")) return scanner.expected("',' or ']' behind a dictionary");
    }
    return {};
  };
  if (function.regions[0].operations.empty()) return function.regions.clear(), Status();
  std::vector<MlirArgument>& arguments = function.regions[0].arguments;
  LT_RETURN_IF_ERROR(
      read_list("arg_attrs", arguments.size(), [&](size_t i) -> MlirAttributes& { return arguments[i].attributes; }));
  return read_list("res_attrs", function.types.size(),
                   [&](size_t i) -> MlirAttributes& { return function.result_attributes[i]; });
}

}  // namespace lowtide::engine
