#include "report/cures.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/sizes.h"
#include "report/arguments.h"
#include "report/origin.h"

namespace lowtide {
namespace {

constexpr size_t kCuresShown = 2;
constexpr Step kLongIdle = 8;  // steps between making and first reading that make another order worth trying

constexpr int64_t kWorthACure = 1 << 20;  // bytes; below, reordering or a tile saves nothing
constexpr const char* kRandomBits = "not needed: counter-based random bits, computed where they are read";

using Cures = std::vector<Cure>;

void cure_argument(const Patient& patient, Cures& cures) {
  const ArgumentRow* argument = patient.argument;
  if (argument == nullptr || argument->fate != Fate::kCouldBeDonated) return;
  const std::vector<std::string> path = path_tokens(argument->path);
  const std::string name = path.size() > 1 ? path[0] : argument->path;
  cures.push_back({fmt::format("donate argument {}: result {} fits into it", argument->number, argument->result),
                   argument->bytes, fmt::format("jax.jit(..., donate_argnames=(\"{}\",))", name)});
}

// Values computed from indices, small tables or counters need no bytes: each reader computes its elements.
void cure_virtual(const Patient& patient, const ValueRef& value, Cures& cures) {
  const Graph& graph = patient.graph;
  const int64_t bytes = patient.buffer.bytes;
  if (is_one_hot(graph, value)) {
    const bool looks_up = feeds_contraction(graph, value);
    cures.push_back({looks_up ? "not needed: a one-hot of ids; gather the rows instead"
                              : "not needed: a one-hot of ids, compared where it is read",
                     bytes,
                     looks_up ? "table[ids] for one_hot(ids) @ table (maxtext: use_iota_embed=False)"
                              : "optax.softmax_cross_entropy_with_integer_labels, or take_along_axis"});
  } else if (is_made_of_indices(graph, value)) {
    const bool mask = shape_of(value).type == ElementType::kPred;
    cures.push_back(
        {fmt::format("not needed: {} made of indices alone, computed where it is read", mask ? "a mask" : "values"),
         bytes, ""});
  } else if (is_random_bits(graph, value)) {
    cures.push_back({kRandomBits, bytes, ""});
  } else if (is_broadcast(graph, value)) {
    cures.push_back({"not needed: a broadcast, read through its small operand", bytes, ""});
  } else if (is_widened(graph, value) && patient.category == Category::kTemporary && cures.empty()) {
    const ValueRef source = graph.source_of(value);
    const int64_t narrow = logical_bytes(source.instruction->operands[0]->shape);
    cures.push_back({fmt::format("not needed: a widened copy; read the {} and widen in the tile",
                                 type_name(source.instruction->operands[0]->shape.type)),
                     bytes, narrow > 0 ? "keep the operand narrow: preferred_element_type=float32 in the dot" : ""});
  }
}

void cure_stream(const Patient& patient, const ValueRef& value, Cures& cures) {
  switch (softmax_around(patient.graph, value)) {
    case Softmax::kAttention:
      cures.push_back({"stream the attention: running max and sum, tile by tile", patient.buffer.bytes,
                       "jax.nn.dot_product_attention, or a scan over blocks of queries"});
      break;
    case Softmax::kLoss:
      cures.push_back({"stream the loss over the vocabulary", patient.buffer.bytes,
                       "compute logits and loss per chunk of tokens: lax.map under jax.checkpoint"});
      break;
    case Softmax::kNone: break;
  }
}

void cure_grown(const Patient& patient, const ValueRef& value, Cures& cures) {
  if (!cures.empty() || patient.buffer.bytes < kWorthACure) return;
  const int64_t small = grown_from(patient.graph, value);
  if (small == 0) return;
  cures.push_back(
      {fmt::format("stream: grown from {} of operands, made tile by tile where it is read", format_bytes(small)),
       patient.buffer.bytes, ""});
}

// A result that has a donated argument to live in, or an update of an operand that could be written over.
void cure_in_place(const Patient& patient, const ValueRef& value, Cures& cures) {
  if (patient.buffer.kind != BufferKind::kTemporary) return;
  const Module& module = patient.graph.module();
  const int64_t result = patient.live.result_of(patient.buffer);
  for (const AliasEntry& alias : module.input_output_alias) {
    const int64_t leaf = alias.output.empty() ? 0 : alias.output[0];
    if (result < 0 || leaf != result || alias.output.size() > 1) continue;
    cures.push_back({fmt::format("in place: build result {} in donated argument {}", result, alias.operand),
                     patient.buffer.bytes, ""});
    return;
  }
  const Instruction& maker = *value.instruction;
  const bool updates = maker.opcode == Opcode::kDynamicUpdateSlice || maker.opcode == Opcode::kScatter;
  if (!updates || maker.operands.empty() || !same_shape(maker.operands[0]->shape, maker.shape)) return;
  if (!cures.empty()) return;
  cures.push_back(
      {fmt::format("in place: write the update into %{}", maker.operands[0]->name), patient.buffer.bytes, ""});
}

void cure_dead(const Patient& patient, Cures& cures) {
  const AccountBuffer& buffer = patient.buffer;
  if (buffer.kind != BufferKind::kTemporary || buffer.last_reader != nullptr || buffer.holds_output) return;
  if (buffer.bytes < kWorthACure || patient.live.result_of(buffer) >= 0) return;
  cures.push_back({"not needed: it is passed on, and nothing reads it", buffer.bytes, ""});
}

void cure_recompute(const Patient& patient, const Origin& origin, Cures& cures) {
  if (patient.category != Category::kSavedForBackward) return;
  if (stacks_its_input(patient.graph, patient.buffer)) {
    cures.push_back({"save every k-th layer's input, recompute the layers between", patient.buffer.bytes,
                     "nest two scans, with jax.checkpoint around the inner one"});
    return;
  }
  const bool has_policy = origin.op_name.find("checkpoint") != std::string::npos ||
                          patient.graph.module().name.find("train") != std::string::npos;
  const std::string scope = origin.scope.empty() ? "this value" : origin.scope;
  cures.push_back({"recompute from the layer's input in the backward pass", patient.buffer.bytes,
                   has_policy ? fmt::format("drop {} from what the jax.checkpoint policy saves", scope)
                              : "jax.checkpoint (nnx.remat, nn.remat) around the layer"});
}

void cure_gradient(const Patient& patient, Cures& cures) {
  if (patient.category != Category::kGradient) return;
  cures.push_back({"reorder: apply each gradient's update as soon as it is there", patient.buffer.bytes, ""});
}

void cure_copy(const Patient& patient, const ValueRef& value, Cures& cures) {
  if (!is_copy(patient.graph, value)) return;
  const Instruction& copy = *patient.graph.source_of(value).instruction;
  if (copy.operands.empty()) return;
  cures.push_back({fmt::format("in place: a copy of %{}", copy.operands[0]->name), patient.buffer.bytes, ""});
}

// A loop that stacks a new array of a donated argument's shape, while the argument itself is read: a cache, copied.
void cure_restacked(const Patient& patient, Cures& cures) {
  if (patient.category == Category::kSavedForBackward || patient.category == Category::kGradient) return;
  const Module& module = patient.graph.module();
  for (const ValueRef& value : patient.buffer.values) {
    if (value.instruction->opcode != Opcode::kWhile || value.index.size() != 1) continue;
    if (patient.graph.stack_update(*value.instruction, value.index[0]) == nullptr) return;
    for (const AliasEntry& alias : module.input_output_alias) {
      const auto parameters = module.entry->parameters();
      if (alias.operand < 0 || alias.operand >= static_cast<int64_t>(parameters.size())) continue;
      const Instruction* argument = parameters[static_cast<size_t>(alias.operand)];
      if (argument == nullptr || !same_shape(argument->shape, shape_of(value))) continue;
      cures.push_back(
          {fmt::format("in place: write into donated argument {} instead of stacking a new array of its shape",
                       alias.operand),
           patient.buffer.bytes, "carry it through the scan and update its slices with dynamic_update_index_in_dim"});
      return;
    }
    return;
  }
}

// A value made long before its first reader while the peak lies between: make it later.
void cure_idle(const Patient& patient, Cures& cures) {
  if (!cures.empty() || patient.buffer.values.empty() || patient.buffer.bytes < kWorthACure) return;
  const Instruction& maker = *patient.buffer.values[0].instruction;
  if (maker.opcode == Opcode::kWhile || maker.opcode == Opcode::kParameter) return;
  Step first_read = -1;
  for (const Instruction* user : patient.graph.users(maker)) {
    const Step step = patient.live.first_step(*user);
    if (step >= 0 && (first_read < 0 || step < first_read)) first_read = step;
  }
  if (first_read - patient.buffer.born < kLongIdle || first_read <= patient.account.peak_step) return;
  cures.push_back({fmt::format("reorder: make it just before %{} first reads it, or recompute it there",
                               patient.account.timeline[static_cast<size_t>(first_read)].instruction->name),
                   patient.buffer.bytes, ""});
}

// Whether the value is a loop's carry where the body takes it in.
bool enters_loop(const Graph& graph, const ValueRef& value) {
  const Instruction& i = *value.instruction;
  if (i.opcode != Opcode::kParameter || i.parent == nullptr) return false;
  const auto& callers = graph.callers(*i.parent);
  return !callers.empty() && callers[0]->opcode == Opcode::kWhile;
}

// Whether one instruction makes all the buffer ever holds: not a carry or an accumulator.
bool is_written_once(const Patient& patient) {
  return std::none_of(patient.buffer.values.begin(), patient.buffer.values.end(), [&](const ValueRef& value) {
    const Opcode opcode = value.instruction->opcode;
    return opcode == Opcode::kDynamicUpdateSlice || opcode == Opcode::kWhile || opcode == Opcode::kScatter ||
           enters_loop(patient.graph, value);
  });
}

}  // namespace

Cures cures_of(const Patient& patient) {
  Cures cures;
  if (patient.buffer.kind == BufferKind::kArgument) {
    cure_argument(patient, cures);
    return cures;
  }
  if (patient.buffer.values.empty() || patient.buffer.kind == BufferKind::kConstant) return cures;
  const ValueRef value = maker_of(patient.graph, patient.buffer);
  if (!shape_of(value).is_array()) return cures;
  const bool must_exist = patient.buffer.kind == BufferKind::kOutput;
  if (must_exist) return cures;
  cure_dead(patient, cures);
  cure_stream(patient, value, cures);
  if (is_written_once(patient)) {
    cure_virtual(patient, value, cures);
    cure_copy(patient, value, cures);
  } else if (is_random_bits(patient.graph, value)) {
    cures.push_back({kRandomBits, patient.buffer.bytes, ""});
  }
  cure_recompute(patient, origin_of(patient.graph, patient.buffer), cures);
  cure_gradient(patient, cures);
  cure_restacked(patient, cures);
  cure_in_place(patient, value, cures);
  if (is_written_once(patient)) cure_grown(patient, value, cures);
  cure_idle(patient, cures);
  if (cures.size() > kCuresShown) cures.resize(kCuresShown);
  return cures;
}

}  // namespace lowtide
