#include "text/stablehlo/printer.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/entry_notes.h"
#include "ops/text_cursor.h"
#include "text/stablehlo.h"
#include "text/stablehlo/mlir_types.h"

namespace lowtide::engine {
namespace {

std::string types_text(const std::vector<Shape>& types) {
  std::vector<std::string> all;
  for (const Shape& type : types) all.push_back(mlir_type_text(type));
  return fmt::format("({})", fmt::join(all, ", "));
}

/// The notes on the entry's arguments, or results, as attributes.
class EntryNotes {
 public:
  EntryNotes(const Module& module, EntrySide side) {
    for (const EntryNote note : {EntryNote::kMemoryKind, EntryNote::kLayout}) {
      all_.emplace_back(attribute_of(note), entry_notes(module, side, note));
    }
  }
  bool are_none() const {
    return std::ranges::all_of(all_, [](const auto& notes) { return notes.second.empty(); });
  }
  std::vector<std::string> of(size_t number) const {
    std::vector<std::string> attributes;
    for (const auto& [name, notes] : all_) {
      if (number >= notes.size() || notes[number].empty()) continue;
      attributes.push_back(fmt::format("{} = {}", name, mlir_quote(notes[number])));
    }
    return attributes;
  }

 private:
  std::vector<std::pair<std::string_view, std::vector<std::string>>> all_;
};

}  // namespace

Result<std::string> StableHloPrinter::print() {
  symbols_[module_.entry] = "main";
  functions_ = {module_.entry};
  print_header();
  for (size_t i = 0; i < functions_.size(); ++i) LT_RETURN_IF_ERROR(print_function(*functions_[i]));
  out_ += "}\n";
  return std::move(out_);
}

void StableHloPrinter::print_header() {
  std::string name = module_.name.empty() ? "module" : module_.name;
  out_ += fmt::format("module {} attributes {{mhlo.num_partitions = {} : i32, mhlo.num_replicas = {} : i32",
                      mlir_symbol(name), module_.num_partitions.value_or(1), module_.replica_count);
  if (!module_.frontend_attributes.empty()) {
    out_ += ", mhlo.frontend_attributes = " + frontend_dictionary(module_.frontend_attributes);
  }
  out_ += "} {\n";
}

std::vector<Shape> StableHloPrinter::leaves(const Shape& shape) {
  std::vector<Shape> all;
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) { all.push_back(leaf); });
  return all;
}

std::string StableHloPrinter::fresh(std::string_view base) {
  std::string name(base);
  for (int n = 0; !used_.insert(name).second; ++n) name = fmt::format("{}_{}", base, n);
  visible_.push_back(name);
  return name;
}

std::string StableHloPrinter::symbol_of(const Computation& computation) {
  std::string& symbol = symbols_[&computation];
  if (!symbol.empty()) return mlir_symbol(symbol);
  symbol = computation.name;
  const auto taken = [&](const auto& entry) { return entry.first != &computation && entry.second == symbol; };
  for (int n = 1; std::ranges::any_of(symbols_, taken); ++n) symbol = fmt::format("{}.{}", computation.name, n);
  functions_.push_back(&computation);
  return mlir_symbol(symbol);
}

std::string StableHloPrinter::donation(int64_t parameter, const ShapeIndex& index) const {
  for (const AliasEntry& alias : module_.input_output_alias) {
    if (alias.operand != parameter || alias.operand_index != index) continue;
    int64_t number = 0, at = 0;
    for_each_leaf(module_.entry->root->shape, [&](const ShapeIndex& output, const Shape&) {
      if (output == alias.output) number = at;
      ++at;
    });
    return fmt::format("tf.aliasing_output = {} : i32", number);
  }
  for (const Module::Donor& donor : module_.buffer_donors) {
    if (donor.parameter == parameter && donor.index == index) return "jax.buffer_donor = true";
  }
  return {};
}

void StableHloPrinter::print_arguments(const Computation& function) {
  bool first = true;
  const EntryNotes notes(module_, EntrySide::kArguments);
  const auto parameters = function.parameters();
  for (size_t p = 0; p < parameters.size(); ++p) {
    const Instruction* parameter = parameters[p];
    if (!parameter) continue;
    Names& names = names_[parameter];
    for_each_leaf(parameter->shape, [&](const ShapeIndex& index, const Shape& leaf) {
      const std::string name = '%' + fresh(parameter->name);
      names.push_back(name);
      std::string attributes = annotations(*parameter);
      if (&function == module_.entry) {
        const auto add = [&](const std::string& attribute) {
          attributes += (attributes.empty() ? "" : ", ") + attribute;
        };
        const std::string donated = donation(static_cast<int64_t>(p), index);
        if (!donated.empty()) add(donated);
        for (const std::string& note : notes.of(p)) add(note);
      }
      out_ += fmt::format("{}{}: {}{}{}", first ? "" : ", ", name, mlir_type_text(leaf),
                          attributes.empty() ? "" : " {" + attributes + '}', location(*parameter));
      first = false;
    });
  }
}

std::string StableHloPrinter::result_types(const Computation& function, const std::vector<Shape>& results) const {
  const bool outside = &function == module_.entry;
  const Sharding* sharding = outside ? function.root->sharding.get() : nullptr;
  const bool each = sharding && sharding->kind == ShardingKind::kTuple && sharding->parts.size() == results.size();
  if (sharding && !each && results.size() != 1) sharding = nullptr;
  const EntryNotes notes(module_, EntrySide::kResults);
  if (!sharding && (notes.are_none() || !outside)) {
    return results.size() == 1 ? mlir_type_text(results[0]) : types_text(results);
  }
  const bool shardy = module_.frontend_attributes.find("xla.sdy.meshes") != std::string::npos;
  std::vector<std::string> all;
  for (size_t r = 0; r < results.size(); ++r) {
    std::vector<std::string> attributes;
    if (sharding) {
      const Sharding& part = each ? sharding->parts[r] : *sharding;
      // In a program with Shardy's meshes, replicated results without Shardy's mark get no sharding.
      const auto* mark = function.root->opcode == Opcode::kTuple && r < function.root->operands.size()
                             ? function.root->operand(r).if_as<CustomCallAttributes>()
                             : nullptr;
      const bool silent = shardy && each && part.kind == ShardingKind::kReplicated && !mark;
      if (!silent) attributes.push_back("mhlo.sharding = " + mlir_quote(part.text));
    }
    for (std::string& note : notes.of(r)) attributes.push_back(std::move(note));
    all.push_back(mlir_type_text(results[r]));
    if (!attributes.empty()) all.back() += fmt::format(" {{{}}}", fmt::join(attributes, ", "));
  }
  return fmt::format("({})", fmt::join(all, ", "));
}

Status StableHloPrinter::print_function(const Computation& function) {
  used_.clear();
  visible_.clear();
  out_ += fmt::format("  func.func {} {}(", &function == module_.entry ? "public" : "private",
                      mlir_symbol(symbols_[&function]));
  print_arguments(function);
  out_ += ')';
  const std::vector<Shape> results = leaves(function.root->shape);
  if (!results.empty()) out_ += " -> " + result_types(function, results);
  out_ += " {\n";
  indent_ = 4;
  LT_RETURN_IF_ERROR(print_block(function, "func.return"));
  out_ += "  }\n";
  return {};
}

Status StableHloPrinter::print_block(const Computation& computation, std::string_view end) {
  for (const auto& instruction : computation.instructions()) LT_RETURN_IF_ERROR(print_instruction(*instruction));
  const Names& results = names_[computation.root];
  const std::vector<Shape> types = leaves(computation.root->shape);
  std::vector<std::string> texts;
  for (const Shape& type : types) texts.push_back(mlir_type_text(type));
  line(results.empty() ? std::string(end)
                       : fmt::format("{} {} : {}", end, fmt::join(results, ", "), fmt::join(texts, ", ")));
  return {};
}

void StableHloPrinter::line(const std::string& text) {
  out_.append(static_cast<size_t>(indent_), ' ').append(text).append("\n");
}

std::string StableHloPrinter::begin(const Instruction& instruction) {
  const size_t count = leaves(instruction.shape).size();
  Names& names = names_[&instruction];
  names.clear();
  if (count == 0) return {};
  const std::string name = '%' + fresh(instruction.name);
  if (count == 1) {
    names = {name};
    return name + " = ";
  }
  for (size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}#{}", name, i));
  return fmt::format("{}:{} = ", name, count);
}

StableHloPrinter::Names StableHloPrinter::operands_of(const Instruction& instruction) const {
  Names all;
  for (const Instruction* operand : instruction.operands) {
    const Names& names = names_.at(operand);
    all.insert(all.end(), names.begin(), names.end());
  }
  return all;
}

std::vector<Shape> StableHloPrinter::operand_types(const Instruction& instruction) const {
  std::vector<Shape> all;
  for (const Instruction* operand : instruction.operands) {
    for (Shape& leaf : leaves(operand->shape)) all.push_back(std::move(leaf));
  }
  return all;
}

std::string StableHloPrinter::annotations(const Instruction& instruction) const {
  std::string text;
  if (!instruction.frontend_attributes.empty()) {
    text += "mhlo.frontend_attributes = " + frontend_dictionary(instruction.frontend_attributes);
  }
  if (instruction.sharding) {
    text += (text.empty() ? "" : ", ") + ("mhlo.sharding = " + mlir_quote(instruction.sharding->text));
  }
  return text;
}

std::string StableHloPrinter::location(const Instruction& instruction) const {
  const std::optional<SourceLocation> source = module_.location_of(instruction);
  std::string text;
  if (source && !source->file.empty()) text = fmt::format("{}:{}:0", mlir_quote(source->file), source->line);
  const std::string& name = instruction.metadata.op_name;
  if (!name.empty()) text = mlir_quote(name) + (text.empty() ? "" : '(' + text + ')');
  return text.empty() ? text : " loc(" + text + ')';
}

void StableHloPrinter::generic(const Instruction& instruction, std::string_view operation, const Names& operands,
                               const std::vector<Shape>& operand_types, const std::vector<MlirText>& properties,
                               const std::string& regions) {
  const std::vector<Shape> results = leaves(instruction.shape);
  std::string text = begin(instruction) + fmt::format("\"{}\"({})", operation, fmt::join(operands, ", "));
  if (!properties.empty()) text += " <{" + joined(properties) + "}>";
  if (!regions.empty()) text += " (" + regions + ')';
  if (const std::string discardable = annotations(instruction); !discardable.empty()) text += " {" + discardable + '}';
  text += fmt::format(" : {} -> {}", types_text(operand_types),
                      results.size() == 1 ? mlir_type_text(results[0]) : types_text(results));
  line(text + location(instruction));
}

Status StableHloPrinter::print_instruction(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kParameter: return {};
    case Opcode::kTuple: names_[&i] = operands_of(i); return {};
    case Opcode::kGetTupleElement: {
      const Shape& tuple = i.operand(0).shape;
      const auto index = static_cast<size_t>(i.as<TupleIndexAttributes>().index);
      size_t first = 0;
      for (size_t e = 0; e < index; ++e) first += leaves(tuple.elements[e]).size();
      const Names& names = names_.at(i.operands[0]);
      const size_t count = leaves(i.shape).size();
      names_[&i] =
          Names(names.begin() + static_cast<ptrdiff_t>(first), names.begin() + static_cast<ptrdiff_t>(first + count));
      return {};
    }
    case Opcode::kConstant: return print_constant(i);
    case Opcode::kWhile: return print_while(i);
    case Opcode::kConditional: return print_conditional(i);
    case Opcode::kCall:
    case Opcode::kFusion: return print_call(i);
    case Opcode::kCustomCall: return print_custom_call(i);
    default: break;
  }
  LT_ASSIGN_OR_RETURN(const bool done, print_special(i));
  if (done) return {};
  const OperationSpelling* row = spelling_of(i.opcode);
  OperationSpelling plain{"", i.opcode};
  std::string name(row ? row->name : opcode_name(i.opcode));
  std::ranges::replace(name, '-', '_');
  if (!row) {
    plain.name = name;
    row = &plain;
  }
  const std::vector<MlirText> properties = mlir_attributes(*row, i);
  const bool alike =
      std::ranges::all_of(i.operands, [&](const Instruction* o) { return same_shape(o->shape, i.shape); });
  if (memory_class(i.opcode) == MemoryClass::kElementwise && i.opcode != Opcode::kSelect && alike &&
      properties.empty() && i.called.empty() && annotations(i).empty() && row->dialect == "stablehlo") {
    const std::string left = begin(i);
    line(fmt::format("{}stablehlo.{} {} : {}{}", left, name, fmt::join(operands_of(i), ", "), mlir_type_text(i.shape),
                     location(i)));
    return {};
  }
  std::string regions;
  for (const Computation* callee : i.called) {
    LT_ASSIGN_OR_RETURN(const std::string text, region(*callee, true));
    regions += (regions.empty() ? "" : ", ") + text;
  }
  generic(i, fmt::format("{}.{}", row->dialect, name), operands_of(i), operand_types(i), properties, regions);
  return {};
}

Result<std::string> print_stablehlo(const Module& module) { return StableHloPrinter(module).print(); }

}  // namespace lowtide::engine
