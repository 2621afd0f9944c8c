#include "ops/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ops/op_rule.h"

// The constraints of every module; those of single operations are in the operations' rules.
//   (V1)  there is an entry computation, and nothing calls it
//   (V2)  every computation has a root, and it is one of its instructions
//   (V3)  instruction names are unique in their computation, computation names in the module
//   (V4)  parameters are numbered 0, 1, ... without gaps
//   (V5)  operands and control predecessors are in the same computation, before their users
//   (V6)  called computations belong to the module, and no computation reaches itself through calls
//   (V7)  an operation has as many operands as its opcode takes
//   (V8)  the declared shape is the one that operands and attributes give
//   (V9)  extents are not negative, and an array's bytes fit in 56 bits, padding included
//   (V10) a layout names every dimension once; its tiles and element sizes are positive
//   (V11) aliases and donors name an existing array of a parameter; aliased arrays have one size, each named once
//   (V12) entry_computation_layout has the parameters and the result of the entry
// Modules that are read:
//   (V13) all arrays together, each counted as often as it is on the timeline, have less than 2^60 bytes, and the
//         instructions, counted in the same way, are fewer than 2^24
// Modules that are run:
//   (V14) no constant's elements were omitted from the text

namespace lowtide::engine {
namespace {

constexpr int64_t kLargestArray = int64_t{1} << 56;  ///< bytes
/// Limit for the bytes of all arrays, so that sums over a program's buffers fit 63 bits even if passes duplicate some.
constexpr double kLargestSum = 0x1p60;
/// Limit for instructions on the timeline, where calls are inlined: their number doubles with each computation that
/// calls another one twice.
constexpr double kMostInstructions = 0x1p24;

Status input(std::string message) { return Status::input(std::move(message)); }

/// a * b, or nullopt if it exceeds the largest array. Both are positive.
std::optional<int64_t> bounded_product(int64_t a, int64_t b) {
  if (a > kLargestArray / b) return std::nullopt;
  return a * b;
}

Status verify_layout(const Shape& array, const Layout& layout) {
  std::vector<bool> seen(array.dims.size(), false);
  for (const int64_t d : layout.minor_to_major) {
    if (d < 0 || d >= array.rank() || seen[d]) {
      return input(fmt::format("the layout of {} names dimension {} that is absent or named twice (V10)",
                               to_string_without_layout(array), d));
    }
    seen[d] = true;
  }
  if (layout.minor_to_major.size() != array.dims.size()) {
    return input(fmt::format("the layout of {} has {} dimensions (V10)", to_string_without_layout(array),
                             layout.minor_to_major.size()));
  }
  for (const Dims& tile : layout.tiles) {
    for (const int64_t extent : tile) {
      if (extent <= 0 && extent != kCombineTile) {
        return input(fmt::format("a tile of {} has extent {} (V10)", to_string_without_layout(array), extent));
      }
    }
  }
  if (layout.element_bits < 0 || layout.element_bits > 1024) {
    return input(
        fmt::format("an element of {} can't take {} bits (V10)", to_string_without_layout(array), layout.element_bits));
  }
  return {};
}

Status verify_array(const Shape& array) {
  if (!array.dynamic.empty() && array.dynamic.size() != array.dims.size()) {
    return input(fmt::format("{} has {} dynamic flags for {} dimensions (V9)", to_string_without_layout(array),
                             array.dynamic.size(), array.dims.size()));
  }
  // Extents of zero count as one, so that they don't hide an overflow.
  std::optional<int64_t> bytes = 16;
  for (const int64_t extent : array.dims) {
    if (extent < 0 && extent != kUnboundedDim) {
      return input(fmt::format("{} has a negative extent (V9)", to_string_without_layout(array)));
    }
    if (bytes) bytes = bounded_product(*bytes, std::max<int64_t>(extent, 1));
  }
  if (bytes && array.layout) {
    LT_RETURN_IF_ERROR(verify_layout(array, *array.layout));
    if (array.layout->element_bits > 128) bytes = bounded_product(*bytes, array.layout->element_bits / 128 + 1);
    // n elements in tiles of t need at most n * t.
    for (const Dims& tile : array.layout->tiles) {
      for (const int64_t extent : tile) {
        if (bytes && extent > 1) bytes = bounded_product(*bytes, extent);
      }
    }
  }
  if (!bytes) return input(fmt::format("{} is larger than any memory (V9)", to_string(array)));
  return {};
}

Status verify_shape(const Shape& shape) {
  Status fault;
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    if (fault.ok() && leaf.is_array()) fault = verify_array(leaf);
    if (fault.ok() && leaf.type == ElementType::kBuffer) {
      for (const Shape& referent : leaf.elements) {
        if (fault.ok() && referent.is_array()) fault = verify_array(referent);
      }
    }
  });
  return fault;
}

bool has_unbounded(const Shape& shape) {
  bool found = false;
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    for (const int64_t extent : leaf.dims) found = found || extent == kUnboundedDim;
  });
  return found;
}

/// Adds the operation and its place to an error; without a source, the instruction's name instead of the place.
Status blame(const Module& module, const Instruction& instruction, const Status& fault) {
  std::string message = fault.message();
  const std::string_view opcode = opcode_name(instruction.opcode);
  if (!message.starts_with(fmt::format("{}:", opcode))) message = fmt::format("{}: {}", opcode, message);
  if (!module.source || instruction.place == kNowhere) return {fault.fault(), message + " in %" + instruction.name};
  return Status(fault.fault(), std::move(message)).at(*module.source, instruction.place);
}

Status blame(const Module& module, const Computation& computation, std::string message) {
  Status fault = input(fmt::format("computation {}: {}", computation.name, message));
  return module.source ? fault.at(*module.source, computation.place) : fault;
}

/// Checks everything that doesn't depend on shapes. `position` is indexed by instruction id.
Status verify_structure(const Module& module, const Computation& computation, std::vector<int32_t>& position) {
  std::unordered_set<std::string_view> names;
  std::vector<const Instruction*> parameters;
  bool has_root = false;
  int32_t next = 0;
  for (const auto& owned : computation.instructions()) {
    const Instruction& i = *owned;
    if (!names.insert(i.name).second) {
      return blame(module, i, input(fmt::format("%{} is the name of an earlier instruction (V3)", i.name)));
    }
    for (const auto* list : {&i.operands, &i.control_predecessors}) {
      for (const Instruction* before : *list) {
        if (before->parent != &computation || position[before->id] < 0) {
          return blame(module, i,
                       input(fmt::format("%{} doesn't stand before its user %{} (V5)", before->name, i.name)));
        }
      }
    }
    if (const int arity = opcode_arity(i.opcode);
        arity != kAnyArity && i.operands.size() != static_cast<size_t>(arity)) {
      return blame(module, i, input(fmt::format("takes {} operands, got {} (V7)", arity, i.operands.size())));
    }
    if (i.opcode == Opcode::kParameter) parameters.push_back(&i);
    position[i.id] = next++;
    has_root = has_root || &i == computation.root;
  }
  if (!has_root) return blame(module, computation, "has no root (V2)");
  std::vector<bool> taken(parameters.size(), false);
  for (const Instruction* p : parameters) {
    const int64_t number = p->as<ParameterAttributes>().number;
    if (number < 0 || number >= static_cast<int64_t>(taken.size()) || taken[number]) {
      return blame(module, *p,
                   input(fmt::format("number {} is taken or leaves a gap: {} has {} parameters (V4)", number,
                                     computation.name, taken.size())));
    }
    taken[number] = true;
  }
  return {};
}

/// Checks (V1) and (V6): calls between computations form an acyclic graph, and nothing calls the entry.
Status verify_calls(const Module& module) {
  enum class Colour : uint8_t { kNew, kOpen, kDone };
  std::unordered_map<const Computation*, Colour> colour;
  std::unordered_map<const Computation*, std::vector<std::pair<const Computation*, const Instruction*>>> calls;
  for (const auto& c : module.computations()) {
    if (!colour.emplace(c.get(), Colour::kNew).second) continue;
    for (const auto& i : c->instructions()) {
      for (const Computation* called : i->called) calls[c.get()].emplace_back(called, i.get());
    }
  }
  for (const auto& [caller, callees] : calls) {
    for (const auto& [called, by] : callees) {
      if (called && colour.contains(called) && called != module.entry) continue;
      return blame(module, *by,
                   input(called && called == module.entry ? "calls the entry computation (V1)"
                                                          : "calls no computation of the module (V6)"));
    }
  }
  struct Visit {
    const Computation* computation;
    size_t next;
  };
  for (const auto& start : module.computations()) {
    if (colour[start.get()] != Colour::kNew) continue;
    std::vector<Visit> open{{start.get(), 0}};
    colour[start.get()] = Colour::kOpen;
    while (!open.empty()) {
      Visit& top = open.back();
      const auto& callees = calls[top.computation];
      if (top.next == callees.size()) {
        colour[top.computation] = Colour::kDone;
        open.pop_back();
        continue;
      }
      const auto& [called, by] = callees[top.next++];
      if (colour[called] == Colour::kOpen) {
        return blame(module, *by, input(fmt::format("{} calls itself through this instruction (V6)", called->name)));
      }
      if (colour[called] == Colour::kNew) {
        colour[called] = Colour::kOpen;
        open.push_back({called, 0});
      }
    }
  }
  return {};
}

/// The array at `index` of `shape`, or null if there is none.
const Shape* array_at(const Shape& shape, const ShapeIndex& index) {
  const Shape* at = &shape;
  for (const int64_t i : index) {
    if (!at->is_tuple() || i < 0 || i >= static_cast<int64_t>(at->elements.size())) return nullptr;
    at = &at->elements[i];
  }
  return at->is_array() ? at : nullptr;
}

Status verify_aliases(const Module& module) {
  const std::vector<Instruction*> parameters = module.entry->parameters();
  const auto parameter_array = [&](int64_t number, const ShapeIndex& index) -> const Shape* {
    if (number < 0 || number >= static_cast<int64_t>(parameters.size())) return nullptr;
    return array_at(parameters[number]->shape, index);
  };
  std::unordered_set<std::string> outputs, operands;
  for (const AliasEntry& alias : module.input_output_alias) {
    const std::string from = fmt::format("({}, {})", alias.operand, to_string(alias.operand_index));
    const Shape* result = array_at(module.entry->root->shape, alias.output);
    const Shape* argument = parameter_array(alias.operand, alias.operand_index);
    if (!result) {
      return blame(
          module, *module.entry,
          fmt::format("input_output_alias names the result {}, which is no array (V11)", to_string(alias.output)));
    }
    if (!argument) {
      return blame(module, *module.entry,
                   fmt::format("input_output_alias names the argument {}, which is no array (V11)", from));
    }
    if (logical_bytes(*result) != logical_bytes(*argument)) {
      return blame(module, *module.entry,
                   fmt::format("input_output_alias puts the result {} of {} into the argument {} of {} (V11)",
                               to_string(alias.output), to_string(*result), from, to_string(*argument)));
    }
    if (!outputs.insert(to_string(alias.output)).second || !operands.insert(from).second) {
      return blame(module, *module.entry,
                   fmt::format("input_output_alias names the result {} or the argument {} twice (V11)",
                               to_string(alias.output), from));
    }
  }
  for (const Module::Donor& donor : module.buffer_donors) {
    if (!parameter_array(donor.parameter, donor.index)) {
      return blame(module, *module.entry,
                   fmt::format("buffer_donor names the argument ({}, {}), which is no array (V11)", donor.parameter,
                               to_string(donor.index)));
    }
  }
  return {};
}

Status verify_entry_layout(const Module& module) {
  if (!module.entry_layout) return {};
  const Shape& layout = *module.entry_layout;
  LT_ASSERT(layout.elements.size() == 2, "an entry layout is ((parameters...), result)");
  LT_RETURN_IF_ERROR(verify_shape(layout));
  const std::vector<Instruction*> parameters = module.entry->parameters();
  const std::vector<Shape>& declared = layout.elements[0].elements;
  bool agrees = declared.size() == parameters.size() && same_shape(layout.elements[1], module.entry->root->shape);
  for (size_t i = 0; agrees && i < declared.size(); ++i) agrees = same_shape(declared[i], parameters[i]->shape);
  if (agrees) return {};
  return blame(module, *module.entry, "entry_computation_layout has other parameters or another result (V12)");
}

}  // namespace

Status verify(const Instruction& instruction) {
  LT_RETURN_IF_ERROR(verify_shape(instruction.shape));
  const auto infer = rule_of(instruction.opcode).infer;
  if (!infer) return {};
  LT_ASSIGN_OR_RETURN(const Shape shape, infer(instruction));
  if (same_shape(shape, instruction.shape) || has_unbounded(shape) || has_unbounded(instruction.shape)) return {};
  return input(fmt::format("{}: declared {}, but operands and attributes give {} (V8)", opcode_name(instruction.opcode),
                           to_string_without_layout(instruction.shape), to_string_without_layout(shape)));
}

Status verify(const Module& module) {
  if (!module.entry) return input("the module has no entry computation (V1)");
  std::unordered_set<std::string_view> names;
  std::vector<int32_t> position(static_cast<size_t>(module.id_limit()), -1);
  for (const auto& c : module.computations()) {
    if (!names.insert(c->name).second) return blame(module, *c, "is the name of an earlier computation (V3)");
    LT_RETURN_IF_ERROR(verify_structure(module, *c, position));
  }
  LT_RETURN_IF_ERROR(verify_calls(module));
  // Shapes are checked first, since rules may multiply extents.
  for (const auto& c : module.computations()) {
    for (const auto& i : c->instructions()) {
      if (Status fault = verify_shape(i->shape); !fault.ok()) return blame(module, *i, fault);
    }
  }
  for (const auto& c : module.computations()) {
    for (const auto& i : c->instructions()) {
      if (Status fault = verify(*i); !fault.ok()) return blame(module, *i, fault);
    }
  }
  LT_RETURN_IF_ERROR(verify_aliases(module));
  return verify_entry_layout(module);
}

Status verify_sizes(const Module& module) {
  const std::vector<Computation*> callees_first = module.callees_first();
  std::unordered_map<const Computation*, double> times;  // on the timeline, where calls are inlined
  times[module.entry] = 1;
  double sum = 0, instructions = 0;
  for (auto c = callees_first.rbegin(); c != callees_first.rend(); ++c) {
    const double often = times[*c];
    for (const auto& i : (*c)->instructions()) {
      for (const Computation* called : i->called) times[called] += often;
      if ((instructions += often) >= kMostInstructions) {
        return blame(module, *i,
                     input("the program's calls, each with what it calls, come to 2^24 instructions or more (V13)"));
      }
      // Aliases of arrays and parameters of called computations aren't separate arrays.
      const bool is_name = memory_class(i->opcode) == MemoryClass::kView && i->shape.is_tuple();
      if (is_name || (i->opcode == Opcode::kParameter && *c != module.entry)) continue;
      double bytes = 0;
      for_each_leaf(i->shape, [&](const ShapeIndex&, const Shape& leaf) {
        if (leaf.is_array()) bytes += static_cast<double>(padded_bytes(leaf));
      });
      sum += often * bytes;
      if (sum < kLargestSum) continue;
      return blame(module, *i,
                   input(fmt::format("with {} the program's arrays have 2^60 bytes together or more, which no memory "
                                     "holds and no plan counts (V13)",
                                     to_string_without_layout(i->shape))));
    }
  }
  return {};
}

Status verify_runnable(const Module& module) {
  for (const auto& c : module.computations()) {
    for (const auto& i : c->instructions()) {
      const auto* constant = i->if_as<ConstantAttributes>();
      if (!constant || !constant->value || constant->value->known()) continue;
      return blame(
          module, *i,
          input(fmt::format("the elements of {} {} were left out of the text: expected them in full, since the "
                            "program is to be run. XLA's dumps have them with "
                            "XLA_FLAGS=--xla_dump_large_constants or as .hlo.pb, HloPrintOptions with "
                            "print_large_constants, MLIR without a limit for large elements (V14)",
                            i->name, to_string_without_layout(i->shape))));
    }
  }
  return {};
}

}  // namespace lowtide::engine
