#include <fmt/format.h>

#include "ops/op_rule.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

constexpr size_t kIndexEvery = 5;  // operands between two `/*index=5*/`, as XLA counts them

class Printer {
 public:
  explicit Printer(const HloPrintOptions& options) : options_(options) {}

  std::string print(const Module& module) {
    print_header(module);
    if (options_.metadata && !module.stack.empty()) print_stack(module.stack);
    for (const Computation* computation : module.callees_first()) print_computation(*computation);
    return std::move(out_);
  }

  std::string print(const Instruction& instruction) {
    print_instruction(instruction);
    return std::move(out_);
  }

 private:
  void print_header(const Module& module) {
    out_ += "HloModule " + module.name;
    AttributeWriter header(out_);
    if (module.is_scheduled) header.boolean("is_scheduled", true);
    if (!module.input_output_alias.empty()) {
      header.text("input_output_alias", to_string(module.input_output_alias, true));
    }
    if (!module.buffer_donors.empty()) {
      std::string donors = "{ ";
      for (const Module::Donor& donor : module.buffer_donors) {
        donors += fmt::format("{}({}, {})", donors.size() > 2 ? ", " : "", donor.parameter, to_string(donor.index));
      }
      header.text("buffer_donor", donors + " }");
    }
    if (module.entry_layout) {
      const std::vector<Shape>& sides = module.entry_layout->elements;
      header.text("entry_computation_layout", fmt::format("{{{}->{}}}", to_string(sides[0]), to_string(sides[1])));
    }
    for (const RawAttribute& attribute : module.extra) header.text(attribute.key, attribute.text);
    if (module.replica_count != 1) header.integer("replica_count", module.replica_count);
    if (module.num_partitions) header.integer("num_partitions", *module.num_partitions);
    if (!module.frontend_attributes.empty()) header.text("frontend_attributes", module.frontend_attributes);
    out_ += "\n\n";
  }

  void print_stack(const StackFrames& stack) {
    const auto names = [&](const char* table, const std::vector<std::string>& rows) {
      out_ += fmt::format("{}\n", table);
      for (size_t i = 0; i < rows.size(); ++i) out_ += fmt::format("{} {}\n", i + 1, quote(rows[i]));
      out_ += '\n';
    };
    names("FileNames", stack.files);
    names("FunctionNames", stack.functions);
    out_ += "FileLocations\n";
    for (size_t i = 0; i < stack.locations.size(); ++i) {
      const StackFrames::Location& l = stack.locations[i];
      out_ += fmt::format("{} {{file_name_id={} function_name_id={} line={} end_line={} column={} end_column={}}}\n",
                          i + 1, l.file, l.function, l.line, l.end_line, l.column, l.end_column);
    }
    out_ += "\nStackFrames\n";
    for (size_t i = 0; i < stack.frames.size(); ++i) {
      out_ += fmt::format("{} {{file_location_id={} parent_frame_id={}}}\n", i + 1, stack.frames[i].location,
                          stack.frames[i].parent);
    }
    out_ += "\n\n";
  }

  void print_computation(const Computation& computation) {
    if (computation.module().entry == &computation) out_ += "ENTRY ";
    out_ += '%' + computation.name + " (";
    bool first = true;
    for (const Instruction* parameter : computation.parameters()) {
      if (!parameter) continue;
      if (!first) out_ += ", ";
      first = false;
      out_ += parameter->name + ": " + to_string_without_layout(parameter->shape);
    }
    out_ += ") -> " + to_string_without_layout(computation.root->shape) + " {\n";
    for (const auto& instruction : computation.instructions()) {
      out_ += instruction.get() == computation.root ? "  ROOT " : "  ";
      print_instruction(*instruction);
      out_ += '\n';
    }
    out_ += '}';
    if (!computation.execution_thread.empty()) out_ += ", execution_thread=" + quote(computation.execution_thread);
    out_ += "\n\n";
  }

  void print_instruction(const Instruction& i) {
    out_ += '%' + i.name + " = " + to_string(i.shape) + ' ';
    std::string payload, attributes;
    AttributeWriter writer(attributes, &payload, options_.large_constants);
    if (const auto* async = i.if_as<std::shared_ptr<const AsyncAttributes>>()) {
      const char* stage = i.opcode == Opcode::kAsyncStart  ? "-start"
                          : i.opcode == Opcode::kAsyncDone ? "-done"
                                                           : "-update";
      out_.append(opcode_name((*async)->wrapped)).append(stage);
      const OpRule& rule = rule_of((*async)->wrapped);
      if (i.opcode == Opcode::kAsyncStart && rule.print) {
        Instruction wrapped = i;
        wrapped.attributes = (*async)->inner;
        rule.print(wrapped, writer);
      }
    } else {
      out_ += opcode_name(i.opcode);
      if (const OpRule& rule = rule_of(i.opcode); rule.print) rule.print(i, writer);
    }
    for (const RawAttribute& attribute : i.extra) {
      if (options_.metadata || attribute.key != "metadata") writer.text(attribute.key, attribute.text);
    }
    out_ += '(' + payload;
    for (size_t n = 0; n < i.operands.size(); ++n) {
      if (n > 0) out_ += ", ";
      if (n > 0 && n % kIndexEvery == 0) out_ += fmt::format("/*index={}*/", n);
      out_ += '%' + i.operands[n]->name;
    }
    out_ += ')' + attributes;
    print_shared(i);
  }

  /// Prints the attributes that every operation may have.
  void print_shared(const Instruction& i) {
    AttributeWriter writer(out_);
    if (i.sharding) writer.text("sharding", i.sharding->text);
    if (!i.frontend_attributes.empty()) writer.text("frontend_attributes", i.frontend_attributes);
    if (!i.control_predecessors.empty()) {
      std::string names;
      for (const Instruction* before : i.control_predecessors) names += (names.empty() ? "%" : ", %") + before->name;
      writer.text("control-predecessors", '{' + names + '}');
    }
    if (options_.metadata && !i.metadata.empty()) writer.text("metadata", metadata_text(i.metadata));
    if (!i.backend_config.empty()) writer.text("backend_config", i.backend_config);
  }

  static std::string metadata_text(const Metadata& metadata) {
    std::string text;
    const auto field = [&](std::string_view key, const std::string& value) {
      text.append(text.empty() ? "{" : " ").append(key).append("=").append(value);
    };
    if (!metadata.op_type.empty()) field("op_type", quote(metadata.op_type));
    if (!metadata.op_name.empty()) field("op_name", quote(metadata.op_name));
    if (!metadata.source_file.empty()) field("source_file", quote(metadata.source_file));
    if (metadata.source_line != 0) field("source_line", std::to_string(metadata.source_line));
    for (const RawAttribute& attribute : metadata.rest) field(attribute.key, attribute.text);
    if (metadata.stack_frame_id != 0) field("stack_frame_id", std::to_string(metadata.stack_frame_id));
    return text + '}';
  }

  const HloPrintOptions& options_;
  std::string out_;
};

}  // namespace

std::string print_hlo(const Module& module, const HloPrintOptions& options) { return Printer(options).print(module); }

std::string print_hlo(const Instruction& instruction, const HloPrintOptions& options) {
  return Printer(options).print(instruction);
}

}  // namespace lowtide::engine
