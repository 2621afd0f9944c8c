#include <fmt/format.h>

#include <algorithm>

#include "text/hlo/parser.h"
#include "text/hlo/shape_reader.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kMostReplicas = int64_t{1} << 30;  // a larger number is treated as a mistake

/// The element at `index`, or null if there is none.
const Shape* find_subshape(const Shape& shape, const ShapeIndex& index) {
  const Shape* at = &shape;
  for (const int64_t i : index) {
    if (!at->is_tuple() || i < 0 || static_cast<size_t>(i) >= at->elements.size()) return nullptr;
    at = &at->elements[i];
  }
  return at;
}

Result<std::vector<Module::Donor>> read_donors(Scanner& scanner) {
  std::vector<Module::Donor> donors;
  if (!scanner.eat("{")) return scanner.expected("'{'");
  while (scanner.eat("(")) {
    Module::Donor donor;
    const std::optional<int64_t> parameter = scanner.integer();
    if (!parameter || *parameter < 0) return scanner.expected("a parameter number");
    donor.parameter = *parameter;
    if (scanner.eat(",")) {
      if (!scanner.eat("{")) return scanner.expected("a tuple index like {0}");
      while (const std::optional<int64_t> index = scanner.integer()) {
        donor.index.push_back(*index);
        if (!scanner.eat(",")) break;
      }
      if (!scanner.eat("}")) return scanner.expected("an integer or '}'");
    }
    if (!scanner.eat(")")) return scanner.expected("')'");
    donors.push_back(std::move(donor));
    if (!scanner.eat(",")) break;
  }
  if (!scanner.eat("}")) return scanner.expected("'(' or '}'");
  return donors;
}

/// Reads a row such as `{line=14 column=9}`, and calls visit(key, value) for each column.
template <class F>
Status read_row(Scanner& scanner, F&& visit) {
  if (!scanner.eat("{")) return scanner.expected("'{' and the columns of the row");
  while (scanner.peek() != '}') {
    const std::string_view key = scanner.word();
    if (key.empty() || !scanner.eat("=")) return scanner.expected("key=value or '}'");
    const std::optional<int64_t> value = scanner.integer();
    if (!value) return scanner.expected("an integer");
    visit(key, *value);
    (void)scanner.eat(",");
  }
  scanner.eat("}");
  return {};
}

}  // namespace

Status HloParser::read_header(Scanner& scanner) {
  scanner.eat("HloModule");
  scanner.peek();
  const size_t begin = scanner.at();
  const std::string_view text = scanner.text();
  size_t end = begin;
  while (end < text.size() && !is_space(text[end]) && text[end] != ',') ++end;
  if (end == begin) return scanner.expected("the name of the module");
  module_->name = std::string(text.substr(begin, end - begin));
  scanner.move_to(end);
  while (scanner.eat(",")) {
    scanner.peek();
    const Offset place = scanner.place();
    const std::string_view key = scanner.word();
    if (key.empty() || !scanner.eat("=")) return scanner.expected("an attribute of the module: key=value");
    LT_RETURN_IF_ERROR(read_header_attribute(scanner, key, place));
  }
  return {};
}

Status HloParser::read_header_attribute(Scanner& scanner, std::string_view key, Offset place) {
  scanner.peek();
  const Offset value_place = scanner.place();
  const std::string_view value = scanner.attribute_value();
  if (value.empty()) return scanner.expected(fmt::format("a value for '{}', with matching brackets", key));
  const auto fault = [&](std::string_view expected) {
    return scanner.fault(value_place, fmt::format("{}: found '{}', expected {}", key, value.substr(0, 40), expected));
  };
  if (key == "is_scheduled") {
    if (value != "true" && value != "false") return fault("true or false");
    module_->is_scheduled = value == "true";
  } else if (key == "replica_count" || key == "num_partitions") {
    Scanner number(*source_, value_place);
    const std::optional<int64_t> count = number.integer();
    if (!count || *count < 1 || *count > kMostReplicas) return fault("a positive integer");
    if (key == "replica_count") {
      module_->replica_count = *count;
    } else {
      module_->num_partitions = count;
    }
  } else if (key == "input_output_alias") {
    Result<std::vector<AliasEntry>> aliases = parse_aliases(value);
    if (!aliases.ok()) return scanner.fault(value_place, "input_output_alias: " + aliases.status().message());
    module_->input_output_alias = aliases.take();
    alias_place_ = place;
  } else if (key == "buffer_donor") {
    Scanner list(*source_, value_place);
    LT_ASSIGN_OR_RETURN(module_->buffer_donors, read_donors(list));
    donor_place_ = place;
  } else if (key == "entry_computation_layout") {
    LT_RETURN_IF_ERROR(read_entry_layout(value, value_place));
  } else if (key == "frontend_attributes") {
    module_->frontend_attributes = std::string(value);
  } else {
    module_->extra.push_back({std::string(key), std::string(value)});
  }
  return {};
}

Status HloParser::read_entry_layout(std::string_view text, Offset place) {
  Scanner scanner(*source_, place);
  if (!text.starts_with('{')) return scanner.expected("{(parameters)->result}");
  scanner.eat("{");
  if (scanner.peek() != '(') return scanner.expected("'(' and the parameters' shapes");
  LT_ASSIGN_OR_RETURN(Shape parameters, read_shape(scanner));
  if (!scanner.eat("->")) return scanner.expected("'->' and the result's shape");
  LT_ASSIGN_OR_RETURN(Shape result, read_shape(scanner));
  if (!scanner.eat("}")) return scanner.expected("'}'");
  module_->entry_layout = Shape::tuple({std::move(parameters), std::move(result)});
  return {};
}

Status HloParser::read_stack_tables(Scanner& scanner) {
  StackFrames& stack = module_->stack;
  while (true) {
    Scanner ahead = scanner;
    const std::string_view table = ahead.word();
    const bool names = table == "FileNames" || table == "FunctionNames";
    if (!names && table != "FileLocations" && table != "StackFrames") return {};
    if (ahead.peek() == '(' || ahead.peek() == '{') return {};  // a computation of that name
    scanner.move_to(ahead.at());
    for (int64_t row = 1; is_digit(scanner.peek()); ++row) {
      const Offset place = scanner.place();
      if (scanner.integer() != row) return scanner.fault(place, fmt::format("{}: expected row {}", table, row));
      if (names) {
        scanner.peek();
        const Offset string_place = scanner.place();
        Result<std::string> name = unquote(scanner.attribute_value());
        if (!name.ok()) return name.status().at(*source_, string_place);
        (table == "FileNames" ? stack.files : stack.functions).push_back(name.take());
      } else if (table == "FileLocations") {
        StackFrames::Location& location = stack.locations.emplace_back();
        LT_RETURN_IF_ERROR(read_row(scanner, [&](std::string_view key, int64_t value) {
          int64_t* const column = key == "file_name_id"       ? &location.file
                                  : key == "function_name_id" ? &location.function
                                  : key == "line"             ? &location.line
                                  : key == "end_line"         ? &location.end_line
                                  : key == "column"           ? &location.column
                                  : key == "end_column"       ? &location.end_column
                                                              : nullptr;
          if (column) *column = value;
        }));
      } else {
        StackFrames::Frame& frame = stack.frames.emplace_back();
        frame.parent = row;
        LT_RETURN_IF_ERROR(read_row(scanner, [&](std::string_view key, int64_t value) {
          if (key == "file_location_id") frame.location = value;
          if (key == "parent_frame_id") frame.parent = value;
        }));
      }
    }
  }
}

Status HloParser::check_header() {
  // The header's references must exist: the entry's parameters and elements of tuples.
  const Scanner scanner(*source_);
  std::vector<const Instruction*> parameters;
  for (const auto& instruction : module_->entry->instructions()) {
    const auto* parameter = instruction->if_as<ParameterAttributes>();
    if (!parameter) continue;
    const auto number = static_cast<size_t>(parameter->number);
    parameters.resize(std::max(parameters.size(), number + 1), nullptr);
    parameters[number] = instruction.get();
  }
  const auto is_part = [&](int64_t parameter, const ShapeIndex& index) {
    return parameter >= 0 && parameter < static_cast<int64_t>(parameters.size()) &&
           find_subshape(parameters[parameter]->shape, index);
  };
  for (const AliasEntry& entry : module_->input_output_alias) {
    if (!find_subshape(module_->entry->root->shape, entry.output)) {
      return scanner.fault(alias_place_,
                           fmt::format("input_output_alias: the result has no element {}", to_string(entry.output)));
    }
    if (is_part(entry.operand, entry.operand_index)) continue;
    return scanner.fault(alias_place_, fmt::format("input_output_alias: parameter {} has no element {}", entry.operand,
                                                   to_string(entry.operand_index)));
  }
  for (const Module::Donor& donor : module_->buffer_donors) {
    if (is_part(donor.parameter, donor.index)) continue;
    return scanner.fault(donor_place_, fmt::format("buffer_donor: parameter {} has no element {}", donor.parameter,
                                                   to_string(donor.index)));
  }
  return {};
}

}  // namespace lowtide::engine
