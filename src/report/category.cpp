#include "report/category.h"

#include <algorithm>
#include <array>

#include "report/arguments.h"

namespace lowtide::engine {
namespace {

constexpr size_t kLargestCone = 400;         // instructions followed back from one result
constexpr int64_t kSmallestParameter = 256;  // elements; scalars and step counts aren't parameters

bool mentions(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

Dims sorted_dims(const Shape& shape) {
  Dims dims = shape.dims;
  std::erase(dims, 1);
  std::sort(dims.begin(), dims.end());
  return dims;
}

bool is_collective(const Instruction& i) {
  if (memory_class(i.opcode) == MemoryClass::kCollective) return true;
  if (const auto* async = i.if_as<std::shared_ptr<const AsyncAttributes>>(); async != nullptr && *async != nullptr) {
    return memory_class((*async)->wrapped) == MemoryClass::kCollective;
  }
  for (const Computation* called : i.called) {
    if (i.opcode != Opcode::kAsyncStart) break;
    if (called->root != nullptr && memory_class(called->root->opcode) == MemoryClass::kCollective) return true;
  }
  return false;
}

// Operations of which an optimiser's update consists: element i of the result needs element i of the operands.
bool walks_in_step(const Instruction& i) {
  const MemoryClass kind = memory_class(i.opcode);
  return kind == MemoryClass::kElementwise || kind == MemoryClass::kView || i.opcode == Opcode::kFusion ||
         i.opcode == Opcode::kCall || i.opcode == Opcode::kGetTupleElement || i.opcode == Opcode::kTuple;
}

bool has_elements(const Shape& shape, int64_t count) {
  bool found = false;
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    found = found || (leaf.is_array() && element_count(leaf) == count);
  });
  return found;
}

}  // namespace

bool is_backward(const Instruction& i) { return mentions(i.metadata.op_name, "transpose("); }
bool is_forward(const Instruction& i) { return mentions(i.metadata.op_name, "jvp(") && !is_backward(i); }

}  // namespace lowtide::engine

namespace lowtide {

const char* name_of(Category category) {
  constexpr std::array kNames = {
      "parameter",       "optimiser state", "gradient", "saved for backward", "collective in flight",
      "library scratch", "constant",        "result",   "temporary"};
  return kNames[static_cast<size_t>(category)];
}

}  // namespace lowtide

namespace lowtide::engine {

Categories::Categories(const Graph& graph) : graph_(graph) {
  optimiser_state_.resize(static_cast<size_t>(graph.module().id_limit()));
  gradient_.resize(static_cast<size_t>(graph.module().id_limit()));
  mark_update_cones();
  for (const Instruction* parameter : graph.module().entry->parameters()) {
    if (parameter == nullptr || of_argument(*parameter) != Category::kParameter) continue;
    if (argument_group(parameter->metadata.op_name) == "batch") continue;
    for_each_leaf(parameter->shape, [&](const ShapeIndex&, const Shape& leaf) {
      if (leaf.is_array() && leaf.rank() > 0 && element_count(leaf) >= kSmallestParameter) {
        parameter_dims_.insert(sorted_dims(leaf));
      }
    });
  }
}

// Goes back from each result through elementwise operations: the arguments that it finds are parameters (also read
// elsewhere) and optimiser state (read only here); all other values that it finds with two such arguments are
// gradients.
void Categories::mark_update_cones() {
  const Module& module = graph_.module();
  if (module.entry->root == nullptr) return;
  std::vector<bool> in_any(optimiser_state_.size());
  struct Cone {
    std::vector<const Instruction*> arguments, made;
  };
  std::vector<Cone> cones;
  for_each_leaf(module.entry->root->shape, [&](const ShapeIndex& index, const Shape& leaf) {
    if (!leaf.is_array() || leaf.rank() == 0 || element_count(leaf) < kSmallestParameter) return;
    const int64_t count = element_count(leaf);
    ValueRef start{module.entry->root, index};
    while (start.instruction->opcode == Opcode::kTuple && !start.index.empty()) start = *graph_.behind(start);
    if (!walks_in_step(*start.instruction)) return;
    Cone cone;
    std::vector<const Instruction*> open = {start.instruction};
    std::set<int32_t> seen = {start.instruction->id};
    while (!open.empty() && seen.size() < kLargestCone) {
      const Instruction& i = *open.back();
      open.pop_back();
      in_any[i.id] = true;
      bool from_smaller = !i.operands.empty();
      for (const Instruction* operand : i.operands) {
        if (!has_elements(operand->shape, count)) continue;
        from_smaller = false;
        if (!seen.insert(operand->id).second) continue;
        if (operand->opcode == Opcode::kParameter) {
          cone.arguments.push_back(operand);
        } else if (walks_in_step(*operand)) {
          open.push_back(operand);
        } else if (operand->opcode != Opcode::kBroadcast && operand->opcode != Opcode::kConstant) {
          cone.made.push_back(operand);
        }
      }
      if (from_smaller && i.opcode == Opcode::kFusion) cone.made.push_back(&i);  // a fused scatter, dot or reduction
    }
    cones.push_back(std::move(cone));
  });
  const auto read_by_update_alone = [&](const Instruction& argument) {
    return std::all_of(graph_.users(argument).begin(), graph_.users(argument).end(),
                       [&](const Instruction* user) { return in_any[user->id]; });
  };
  for (const Cone& cone : cones) {
    if (cone.arguments.size() < 2) continue;
    const bool updates_parameter = std::any_of(cone.arguments.begin(), cone.arguments.end(),
                                               [&](const Instruction* a) { return !read_by_update_alone(*a); });
    if (!updates_parameter || cone.made.empty()) continue;
    for (const Instruction* a : cone.arguments) {
      if (read_by_update_alone(*a)) optimiser_state_[a->id] = true;
    }
    for (const Instruction* i : cone.made) gradient_[i->id] = true;
  }
}

Category Categories::of_argument(const Instruction& parameter) const {
  if (argument_group(parameter.metadata.op_name) == "opt_state") return Category::kOptimiserState;
  return optimiser_state_[parameter.id] ? Category::kOptimiserState : Category::kParameter;
}

bool Categories::has_parameter_shape(const Shape& shape) const {
  return shape.is_array() && parameter_dims_.contains(sorted_dims(shape));
}

// A carry into which a loop stacks slices, and which a backward operation or another loop reads afterwards.
bool Categories::is_saved_stack(const ValueRef& value) const {
  const Instruction& loop = *value.instruction;
  if (loop.opcode != Opcode::kWhile || value.index.size() != 1) return false;
  if (graph_.stack_update(loop, value.index[0]) == nullptr) return false;
  for (const Instruction* element : graph_.users(loop)) {
    if (element->opcode != Opcode::kGetTupleElement || element->as<TupleIndexAttributes>().index != value.index[0]) {
      continue;
    }
    for (const Instruction* user : graph_.users(*element)) {
      if (is_backward(*user)) return true;
      if (user->opcode != Opcode::kTuple) continue;
      for (const Instruction* reader : graph_.users(*user)) {
        if (reader->opcode == Opcode::kWhile) return true;
      }
    }
  }
  return false;
}

// Whether a loop carries what an earlier loop stacked.
bool Categories::reads_stacks(const Instruction& loop) const {
  if (loop.operands.empty() || loop.operands[0]->opcode != Opcode::kTuple) return false;
  for (const Instruction* carried : loop.operands[0]->operands) {
    if (carried->opcode != Opcode::kGetTupleElement || carried->operands.empty()) continue;
    const Instruction& earlier = *carried->operands[0];
    if (earlier.opcode != Opcode::kWhile) continue;
    if (graph_.stack_update(earlier, carried->as<TupleIndexAttributes>().index) != nullptr) return true;
  }
  return false;
}

Category Categories::of_value(const ValueRef& value) const {
  const Instruction& i = *value.instruction;
  if (i.opcode == Opcode::kConstant) return Category::kConstant;
  if (is_collective(i)) return Category::kCollective;
  if (i.opcode == Opcode::kParameter && i.parent == graph_.module().entry) return of_argument(i);
  const Shape& shape = shape_of(value);
  if (is_saved_stack(value)) {  // a backward loop stacks its layers' gradients
    const Instruction* update = graph_.stack_update(i, value.index[0]);
    const bool backward = is_backward(i) || (update != nullptr && is_backward(*update)) || reads_stacks(i);
    return backward && has_parameter_shape(shape) ? Category::kGradient : Category::kSavedForBackward;
  }
  if (gradient_[i.id] && has_parameter_shape(shape)) return Category::kGradient;
  if (is_backward(i) && has_parameter_shape(shape)) return Category::kGradient;
  return Category::kTemporary;
}

Category Categories::of(const AccountBuffer& buffer) const {
  switch (buffer.kind) {
    case BufferKind::kConstant: return Category::kConstant;
    case BufferKind::kScratch: return Category::kLibraryScratch;
    case BufferKind::kArgument:
      return buffer.values.empty() ? Category::kParameter : of_argument(*buffer.values[0].instruction);
    case BufferKind::kOutput:
    case BufferKind::kTemporary: break;
  }
  if (buffer.values.empty()) return Category::kTemporary;
  if (is_collective(*buffer.values[0].instruction)) return Category::kCollective;
  for (const ValueRef& value : buffer.values) {
    const Category category = of_value(value);
    if (category == Category::kSavedForBackward || category == Category::kGradient) return category;
  }
  if (buffer.kind == BufferKind::kOutput) return Category::kResult;
  const bool made_forward = is_forward(*buffer.values[0].instruction);
  if (made_forward && buffer.last_reader != nullptr && is_backward(*buffer.last_reader)) {
    return Category::kSavedForBackward;
  }
  return Category::kTemporary;
}

}  // namespace lowtide::engine
