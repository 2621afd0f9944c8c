// Writes a module as a portable artifact: its StableHLO text is parsed to a syntax tree, which is written as VHLO.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "ops/text_cursor.h"
#include "text/bytecode.h"
#include "text/bytecode/entry_pool.h"
#include "text/bytecode/vhlo_operations.h"
#include "text/bytecode/vhlo_properties.h"
#include "text/stablehlo.h"
#include "text/stablehlo/mlir_reader.h"
#include "text/stablehlo/mlir_values.h"

namespace lowtide::engine {
namespace {

/// The VHLO version that is written: readers support a version for two years, and in this one operations of chlo are
/// allowed, too.
constexpr std::string_view kProducer = "StableHLO_v1.13.0";
constexpr uint64_t kOperations = 4;  // the section of nested operations

enum Parts : uint8_t { kAttributes = 0x01, kResults = 0x02, kOperands = 0x04, kRegions = 0x10, kHasProperties = 0x40 };

class VhloWriter {
 public:
  using Number = EntryPool::Number;
  VhloWriter(const Source& source, const MlirModule& module)
      : source_(source), module_(module), properties_(source, module, pool_) {}

  Result<std::string> write() {
    ByteWriter out, functions;
    out.flagged(1, false);  // a block with one operation
    out.varint(pool_.operation("builtin", "module"));
    LT_ASSIGN_OR_RETURN(const auto attributes, properties_.others(module_.attributes, true));
    out.byte(static_cast<uint8_t>(kHasProperties | kRegions | (attributes.empty() ? 0 : kAttributes)));
    out.varint(pool_.unknown_location());
    if (!attributes.empty()) out.varint(pool_.builtin_dictionary(attributes));
    out.varint(module_properties());
    out.flagged(1, true);
    functions.varint(1);
    functions.varint(0);
    functions.flagged(module_.operations.size(), false);
    for (const MlirOperation& function : module_.operations) LT_RETURN_IF_ERROR(write_function(functions, function));
    out.section(kOperations, functions.out());
    return pool_.file(kProducer, out.out());
  }

 private:
  struct Defined {
    Number first = 0;
    std::vector<Shape> types;
  };
  /// The numbering of values: `next` is the next number, and the first `reserved` numbers belong to the open regions.
  struct Scope {
    Number reserved = 0, next = 0;
  };

  Number module_properties() {
    // The properties are the name and the visibility, which is absent.
    const std::string name(module_.name.empty() ? "module" : module_.name);
    return pool_.optional_properties({pool_.builtin_string(name), std::nullopt});
  }

  Status unsupported(const MlirOperation& operation) const {
    return Status(Fault::kUnsupported, fmt::format("'{}' can't be written as bytecode", operation.name))
        .at(source_, operation.place);
  }

  Status check_types(const MlirOperation& operation) const {
    for (const Shape& type : operation.types) {
      if (!EntryPool::has(type)) return unsupported(operation);
    }
    return {};
  }

  Status write_function(ByteWriter& out, const MlirOperation& function) {
    if (function.name != "func.func" || function.regions.size() != 1) return unsupported(function);
    const MlirRegion& body = function.regions[0];
    std::vector<Shape> operands;
    bool any = false, any_result = false;
    for (const MlirArgument& argument : body.arguments) {
      operands.push_back(argument.type);
      if (!EntryPool::has(argument.type)) return unsupported(function);
      any |= !argument.attributes.empty();
    }
    for (const MlirAttributes& attributes : function.result_attributes) any_result |= !attributes.empty();
    LT_RETURN_IF_ERROR(check_types(function));
    std::vector<Number> arguments, results;
    for (const MlirArgument& argument : body.arguments) {
      if (any) LT_RETURN_IF_ERROR(add_dictionary(argument.attributes, arguments));
    }
    for (const MlirAttributes& attributes : function.result_attributes) {
      if (any_result) LT_RETURN_IF_ERROR(add_dictionary(attributes, results));
    }
    const MlirAttribute* name = find_attribute(function.attributes, "sym_name");
    const MlirAttribute* visibility = find_attribute(function.attributes, "sym_visibility");
    // An absent visibility is written as an empty one: it means the same as "public", and reads back as absent.
    const std::string visible = unquoted(visibility ? visibility->text.substr(0, visibility->text.find(' ')) : "");
    const Number all = pool_.properties(
        {pool_.vhlo_array(arguments), pool_.vhlo_type(pool_.function(operands, function.types)),
         pool_.vhlo_array(results), pool_.vhlo_string(unquoted(name ? name->text : "")), pool_.vhlo_string(visible)});
    out.varint(pool_.operation("vhlo", "func_v1"));
    out.byte(kHasProperties | kRegions);
    out.varint(location(function.location));
    out.varint(all);
    out.flagged(1, true);
    ByteWriter inner;
    values_.clear();
    scope_ = {};
    LT_RETURN_IF_ERROR(write_region(inner, body));
    out.section(kOperations, inner.out());
    return {};
  }

  static std::string unquoted(std::string_view text) {
    return text.starts_with('"') ? mlir_unquote(text.substr(1, text.size() - 2)) : std::string(text);
  }

  Status add_dictionary(const MlirAttributes& attributes, std::vector<Number>& all) {
    std::vector<std::pair<Number, Number>> items;
    for (const MlirAttribute& attribute : attributes) {
      LT_ASSIGN_OR_RETURN(const Number value, properties_.plain(attribute, false));
      items.emplace_back(pool_.vhlo_string(attribute.key), value);
    }
    all.push_back(pool_.vhlo_dictionary(items));
    return {};
  }

  Status write_region(ByteWriter& out, const MlirRegion& region) {
    const Scope outer = scope_;
    const size_t first_new = visible_.size();
    scope_.next = scope_.reserved;
    // Casts are inserted before each operand of a chlo operation, and after each of its results.
    Number defined = static_cast<Number>(region.arguments.size()), operations = region.operations.size();
    for (const MlirOperation& operation : region.operations) {
      const size_t casts = is_foreign(operation) ? operation.operands.size() + operation.types.size() : 0;
      defined += operation.types.size() + casts;
      operations += casts;
    }
    scope_.reserved += defined;
    out.varint(1);
    out.varint(defined);
    out.flagged(operations, !region.arguments.empty());
    if (!region.arguments.empty()) {
      out.varint(region.arguments.size());
      for (const MlirArgument& argument : region.arguments) {
        if (!EntryPool::has(argument.type)) {
          return Status(Fault::kUnsupported, "this type can't be written as bytecode").at(source_, argument.place);
        }
        out.flagged(pool_.of(argument.type), true);
        out.varint(location(argument.location));
        define(argument.name, {argument.type});
      }
      out.byte(0);  // no use orders
    }
    for (const MlirOperation& operation : region.operations) LT_RETURN_IF_ERROR(write_operation(out, operation));
    while (visible_.size() > first_new) {
      auto& [name, before] = visible_.back();
      if (before) {
        values_[name] = *before;
      } else {
        values_.erase(name);
      }
      visible_.pop_back();
    }
    scope_ = outer;
    return {};
  }

  void define(std::string_view name, std::vector<Shape> types) {
    const auto found = values_.find(name);
    visible_.emplace_back(name, found == values_.end() ? std::nullopt : std::optional<Defined>(found->second));
    const Number count = types.size();
    values_[name] = {scope_.next, std::move(types)};
    scope_.next += count;
  }

  /// An operation of chlo, which VHLO lacks, and which doesn't use VHLO's types.
  static bool is_foreign(const MlirOperation& operation) { return operation.name.starts_with("chlo."); }

  Result<std::vector<Number>> operands_of(const MlirOperation& operation, std::vector<Shape>* types = nullptr) const {
    std::vector<Number> all;
    for (const MlirUse& use : operation.operands) {
      const auto found = values_.find(use.name);
      if (found == values_.end() || use.part >= std::ssize(found->second.types)) return unsupported(operation);
      all.push_back(found->second.first + static_cast<Number>(use.part));
      if (types) types->push_back(found->second.types[use.part]);
    }
    return all;
  }

  Status write_operation(ByteWriter& out, const MlirOperation& operation) {
    LT_RETURN_IF_ERROR(check_types(operation));
    if (is_foreign(operation)) return write_foreign(out, operation);
    std::string_view name = operation.name;
    if (!name.starts_with("stablehlo.") && name != "func.call" && name != "func.return") return unsupported(operation);
    name.remove_prefix(name.find('.') + 1);
    const std::string versioned = newest_vhlo_name(name);
    if (versioned.empty()) return unsupported(operation);
    LT_ASSIGN_OR_RETURN(const std::vector<Number> operands, operands_of(operation));
    const std::string_view words = vhlo_operation(versioned)->properties;
    LT_ASSIGN_OR_RETURN(const auto stored, properties_.of(operation, words));
    LT_ASSIGN_OR_RETURN(const auto others, properties_.others(operation.attributes, false));
    out.varint(pool_.operation("vhlo", versioned));
    begin(out, operation.location, operands, operation.types, stored, others, operation.regions.size(), false);
    define_results(operation);
    for (const MlirRegion& region : operation.regions) LT_RETURN_IF_ERROR(write_region(out, region));
    return {};
  }

  void begin(ByteWriter& out, std::string_view where, const std::vector<Number>& operands,
             const std::vector<Shape>& types, const std::vector<Number>& stored,
             const std::vector<std::pair<Number, Number>>& others, size_t regions, bool builtin) {
    out.byte(static_cast<uint8_t>((others.empty() ? 0 : kAttributes) | (stored.empty() ? 0 : kHasProperties) |
                                  (types.empty() ? 0 : kResults) | (operands.empty() ? 0 : kOperands) |
                                  (regions == 0 ? 0 : kRegions)));
    out.varint(location(where));
    if (!others.empty()) out.varint(pool_.builtin_dictionary(others));
    if (!stored.empty()) out.varint(pool_.properties(stored));
    if (!types.empty()) out.varint(types.size());
    for (const Shape& type : types) out.varint(builtin ? *pool_.builtin_of(type) : pool_.of(type));
    if (!operands.empty()) out.varint(operands.size());
    for (const Number operand : operands) out.varint(operand);
    if (regions > 0) out.flagged(regions, false);
  }

  void define_results(const MlirOperation& operation) {
    size_t at = 0;
    for (const MlirResult& result : operation.results) {
      const auto from = operation.types.begin() + static_cast<ptrdiff_t>(at);
      define(result.name, {from, from + result.count});
      at += static_cast<size_t>(result.count);
    }
    scope_.next += operation.types.size() - at;  // results without names
  }

  /// Casts the operands to the builtin dialect's types, and the results back to VHLO's.
  Status write_foreign(ByteWriter& out, const MlirOperation& operation) {
    std::vector<Shape> types;
    LT_ASSIGN_OR_RETURN(const std::vector<Number> operands, operands_of(operation, &types));
    const std::string_view words = foreign_properties("chlo", operation.name.substr(5));
    const bool has_others = !operation.attributes.empty() && words.empty();
    if (has_others || !operation.regions.empty()) return unsupported(operation);
    for (const std::vector<Shape>* all : std::array<const std::vector<Shape>*, 2>{&types, &operation.types}) {
      for (const Shape& type : *all) {
        if (!pool_.builtin_of(type)) return unsupported(operation);
      }
    }
    std::vector<Number> stored, casts, results;
    if (words == "k") {
      const MlirAttribute* k = find_attribute(operation.attributes, "k");
      if (!k) return unsupported(operation);
      LT_ASSIGN_OR_RETURN(const Number number, properties_.plain(*k, true));
      stored.push_back(number);
    } else if (!words.empty()) {
      return unsupported(operation);
    }
    for (size_t i = 0; i < operands.size(); ++i) casts.push_back(cast(out, operands[i], types[i], true));
    out.varint(pool_.operation("chlo", operation.name.substr(5)));
    begin(out, operation.location, casts, operation.types, stored, {}, 0, true);
    for (size_t i = 0; i < operation.types.size(); ++i) results.push_back(scope_.next++);
    const Number first = scope_.next;
    for (size_t i = 0; i < operation.types.size(); ++i) cast(out, results[i], operation.types[i], false);
    scope_.next = first;
    define_results(operation);
    return {};
  }

  Number cast(ByteWriter& out, Number value, const Shape& type, bool to_builtin) {
    out.varint(pool_.operation("builtin", "unrealized_conversion_cast"));
    begin(out, {}, {value}, {type}, {}, {}, 0, to_builtin);
    return scope_.next++;
  }

  /// "name"("file":3:0), either part, or nothing.
  Number location(std::string_view text) {
    if (!text.starts_with('"')) return pool_.unknown_location();
    const size_t end = end_of_string(text, 0);
    if (end == std::string_view::npos) return pool_.unknown_location();
    const std::string name = mlir_unquote(text.substr(1, end - 2));
    TextCursor cursor(text.substr(end));
    if (cursor.eat(":")) return pool_.file_location(name, std::max<int64_t>(cursor.integer().value_or(0), 0));
    if (!cursor.eat("(")) return pool_.named_location(name, pool_.unknown_location());
    return pool_.named_location(name, location(cursor.rest()));
  }

  const Source& source_;
  const MlirModule& module_;
  EntryPool pool_;
  VhloProperties properties_;
  std::unordered_map<std::string_view, Defined> values_;
  std::vector<std::pair<std::string_view, std::optional<Defined>>> visible_;  ///< names with their earlier meanings
  Scope scope_;
};

}  // namespace

Result<std::string> print_bytecode(const Module& module) {
  LT_ASSIGN_OR_RETURN(std::string text, print_stablehlo(module));
  const Source source{module.name, std::move(text)};
  LT_ASSIGN_OR_RETURN(const MlirModule syntax, MlirReader(source).read());
  return VhloWriter(source, syntax).write();
}

}  // namespace lowtide::engine
