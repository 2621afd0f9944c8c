#include "text/bytecode/stablehlo_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "text/bytecode/stablehlo_properties.h"
#include "text/bytecode/vhlo_operations.h"
#include "text/stablehlo/mlir_attributes.h"

namespace lowtide::engine {
namespace {

using Kind = BytecodeAttribute::Kind;

class StableHloWriter {
 public:
  StableHloWriter(const BytecodeTree& tree, BytecodeEntries& entries)
      : tree_(tree), entries_(entries), fault_(entries.fault()), names_(tree.value_types.size()) {}

  std::string write() {
    for (const BytecodeOperation& operation : tree_.operations) {
      if (!is_module(operation) || operation.regions.size() != 1) {
        fault_.raise(operation.place, "found an operation around all others that is no module");
      }
      if (!fault_.found()) write_operation(operation, "", 0);
    }
    return text_ + entries_.locations();
  }

 private:
  struct Name {
    std::string text;  ///< %3 or %3#1; empty until its operation is written
    uint64_t type = 0;
  };

  /// parent: StableHLO's name of the enclosing operation.
  void write_operation(const BytecodeOperation& operation, std::string_view parent, size_t depth) {
    if (operation.name == "unrealized_conversion_cast") return forward(operation);
    const std::string name = stablehlo_name(operation, parent);
    const std::string attributes = attributes_of(operation, name);
    if (fault_.found()) return;
    text_.append(2 * depth, ' ');
    name_results(operation);
    fmt::format_to(std::back_inserter(text_), "\"{}\"(", name);
    std::string types;
    for (size_t i = 0; i < operation.operands.size(); ++i) {
      const Name& operand = names_[operation.operands[i]];
      if (operand.text.empty())
        return fault_.raise(operation.place, "found the use of a value inside of what makes it");
      text_ += (i > 0 ? ", " : "") + operand.text;
      types += (i > 0 ? ", " : "") + entries_.type(operand.type).text;
    }
    text_ += ')';
    write_regions(operation, name, depth);
    text_ += attributes;
    fmt::format_to(std::back_inserter(text_), " : ({}) -> (", types);
    for (size_t i = 0; i < operation.types.size(); ++i) {
      text_ += (i > 0 ? ", " : "") + entries_.type(operation.types[i]).text;
    }
    text_ += ')' + location(operation.location) + '\n';
  }

  /// Forwards the operands of a cast between VHLO's types and others', which have the same text.
  void forward(const BytecodeOperation& operation) {
    if (operation.operands.size() != operation.types.size()) {
      return fault_.raise(operation.place, "found a cast of several values into one");
    }
    for (size_t i = 0; i < operation.operands.size(); ++i) {
      names_[operation.first_result + i].text = names_[operation.operands[i]].text;
      names_[operation.first_result + i].type = operation.types[i];
    }
  }

  std::string stablehlo_name(const BytecodeOperation& operation, std::string_view parent) {
    if (operation.dialect != "vhlo") return fmt::format("{}.{}", operation.dialect, operation.name);
    const VhloOperation* known = vhlo_operation(operation.name);
    if (!known) {
      fault_.raise(operation.place,
                   fmt::format("the operation '{}' of VHLO, written by {}, is not known", operation.name,
                               entries_.file().producer),
                   Fault::kUnsupported);
      return {};
    }
    if (known->name == "func" || known->name == "call") return fmt::format("func.{}", known->name);
    if (known->name == "return" && parent == "func.func") return "func.return";
    return fmt::format("stablehlo.{}", known->name);
  }

  void name_results(const BytecodeOperation& operation) {
    const size_t count = operation.types.size();
    if (count == 0) return;
    const std::string name = fmt::format("%{}", named_++);
    for (size_t i = 0; i < count; ++i) {
      names_[operation.first_result + i] = {count == 1 ? name : fmt::format("{}#{}", name, i), operation.types[i]};
    }
    text_ += name;
    if (count > 1) fmt::format_to(std::back_inserter(text_), ":{}", count);
    text_ += " = ";
  }

  void write_regions(const BytecodeOperation& operation, std::string_view name, size_t depth) {
    if (operation.regions.empty()) return;
    text_ += " (";
    if (name == "func.func") named_ = arguments_ = 0;
    for (size_t i = 0; i < operation.regions.size(); ++i) {
      const BytecodeRegion& region = operation.regions[i];
      text_ += i > 0 ? ", {" : "{";
      if (!region.arguments.empty()) {
        text_ += " ^bb0(";
        for (size_t a = 0; a < region.arguments.size(); ++a) {
          const BytecodeRegion::Argument& argument = region.arguments[a];
          const uint64_t type = tree_.value_types[argument.value];
          names_[argument.value] = {fmt::format("%arg{}", arguments_++), type};
          text_ += fmt::format("{}{}: {}", a > 0 ? ", " : "", names_[argument.value].text, entries_.type(type).text);
          if (argument.location) text_ += location(*argument.location);
        }
        text_ += "):";
      }
      text_ += '\n';
      for (const BytecodeOperation& inner : region.operations) {
        if (fault_.found()) return;
        write_operation(inner, name, depth + 1);
      }
      text_.append(2 * depth, ' ');
      text_ += '}';
    }
    text_ += ')';
  }

  std::string location(uint64_t number) {
    const std::string name = entries_.location(number);
    return name.empty() ? name : fmt::format(" loc({})", name);
  }

  // Properties by their names, then other attributes.

  std::string attributes_of(const BytecodeOperation& operation, std::string_view name) {
    std::vector<BytecodeProperty> properties, others;
    read_properties(operation, properties);
    if (operation.attributes) {
      const BytecodeAttribute& all = entries_.attribute(*operation.attributes);
      const std::vector<std::string_view> known = known_of(operation);  // older files have properties here, too
      for (size_t i = 0; i < std::min(all.keys.size(), all.items.size()); ++i) {
        const bool stored = std::ranges::find(known, all.keys[i]) != known.end();
        (stored ? properties : others).emplace_back(all.keys[i], all.items[i]);
      }
    }
    if (fault_.found()) return {};
    std::string text;
    const auto add = [&](std::string_view piece) {
      text += text.empty() ? " {" : ", ";
      text += piece;
    };
    if (name == "func.func") {
      for (const std::string& piece : function_properties(properties)) add(piece);
    } else {
      const size_t dot = name.find('.');
      for (const std::string& piece : stablehlo_properties(name.substr(dot + 1), properties, entries_)) add(piece);
    }
    for (const auto& [key, value] : others) {
      add(value->kind == Kind::kNothing ? mlir_key(key) : fmt::format("{} = {}", mlir_key(key), value->text));
    }
    return text.empty() ? text : text + '}';
  }

  static bool is_module(const BytecodeOperation& operation) {
    return operation.dialect == "builtin" && operation.name == "module";
  }

  /// The names of an operation's properties, in alphabetical order.
  std::vector<std::string_view> known_of(const BytecodeOperation& operation) const {
    std::string_view words;
    if (operation.dialect == "vhlo") {
      const VhloOperation* known = vhlo_operation(operation.name);
      words = known ? known->properties : "";
    } else {
      words = foreign_properties(operation.dialect, operation.name);
    }
    std::vector<std::string_view> names;
    while (!words.empty()) {
      const size_t end = std::min(words.find(' '), words.size());
      names.push_back(words.substr(0, end));
      words.remove_prefix(std::min(end + 1, words.size()));
    }
    return names;
  }

  void read_properties(const BytecodeOperation& operation, std::vector<BytecodeProperty>& properties) {
    if (!operation.properties || fault_.found()) return;
    const BytecodeFile& file = entries_.file();
    ByteCursor cursor = file.cursor(file.properties[*operation.properties], fault_);
    for (std::string_view name : known_of(operation)) {
      const bool may_be_absent = name.ends_with('?');
      if (may_be_absent) name.remove_suffix(1);
      bool present = true;
      const uint64_t number = may_be_absent ? cursor.flagged(present) : cursor.varint();
      if (present) properties.emplace_back(name, &entries_.attribute(number));
    }
    if (cursor.done()) return;
    const std::string name = fmt::format("{}.{}", operation.dialect, operation.name);
    const bool is_known = operation.dialect == "vhlo" || !properties.empty();
    cursor.raise(is_known ? fmt::format("found more properties than '{}' has", name)
                          : fmt::format("the properties of '{}' are not known", name),
                 is_known ? Fault::kInput : Fault::kUnsupported);
  }

  std::vector<std::string> function_properties(const std::vector<BytecodeProperty>& properties) const {
    std::vector<std::string> all;
    for (const auto& [name, value] : properties) {
      const bool is_default =
          (name == "sym_visibility" && value->string.empty()) || (name.ends_with("_attrs") && value->items.empty());
      if (!is_default) all.push_back(fmt::format("{} = {}", name, value->text));
    }
    return all;
  }

  const BytecodeTree& tree_;
  BytecodeEntries& entries_;
  BytecodeFault& fault_;
  std::vector<Name> names_;  ///< by value
  std::string text_;
  int64_t named_ = 0, arguments_ = 0;  ///< numbers of names given in this function
};

}  // namespace

std::string stablehlo_of_bytecode(const BytecodeTree& tree, BytecodeEntries& entries) {
  if (entries.fault().found()) return {};
  return StableHloWriter(tree, entries).write();
}

}  // namespace lowtide::engine
