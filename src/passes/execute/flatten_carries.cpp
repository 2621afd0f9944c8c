#include "passes/execute/flatten_carries.h"

#include <algorithm>
#include <unordered_set>

#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

bool is_nested(const Shape& shape) {
  return std::ranges::any_of(shape.elements, [](const Shape& element) { return element.is_tuple(); });
}

Shape flat(const Shape& shape) {
  std::vector<Shape> leaves;
  for_each_leaf(shape, [&](const ShapeIndex&, const Shape& leaf) { leaves.push_back(leaf); });
  return Shape::tuple(std::move(leaves));
}

bool is_loop_or_branches(const Instruction& i) {
  return i.opcode == Opcode::kWhile || i.opcode == Opcode::kConditional;
}

/// Computations with nested tuples as parameter or result that only loops and conditionals call.
std::unordered_set<const Computation*> nested_bodies(const Module& module) {
  std::unordered_set<const Computation*> nested, kept;
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      bool fits = is_loop_or_branches(*i) && !i->sharding;
      for (const Computation* callee : i->called) {
        for (const auto& inner : callee->instructions()) {
          if (inner->opcode == Opcode::kParameter || inner.get() == callee->root) fits &= !inner->sharding;
        }
      }
      for (const Computation* callee : i->called) {
        if (!fits) kept.insert(callee);
        if (std::ranges::any_of(callee->parameters(), [](const Instruction* p) { return p && is_nested(p->shape); }) ||
            is_nested(callee->root->shape)) {
          nested.insert(callee);
        }
      }
    }
  }
  // Either all computations that an instruction calls are flattened, or none.
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& computation : module.computations()) {
      for (const auto& i : computation->instructions()) {
        if (std::ranges::none_of(i->called, [&](const Computation* c) { return kept.contains(c); })) continue;
        for (const Computation* callee : i->called) grew |= kept.insert(callee).second;
      }
    }
  }
  std::erase_if(nested, [&](const Computation* c) { return kept.contains(c); });
  return nested;
}

class Flattener {
 public:
  Flattener(Computation& computation, const std::unordered_set<const Computation*>& nested)
      : computation_(computation), nested_(nested), names_(computation) {}

  void run() {
    std::vector<Instruction*> originals;
    for (const auto& i : computation_.instructions()) originals.push_back(i.get());
    const bool is_body = nested_.contains(&computation_);
    bool changed = is_body;
    for (Instruction* i : originals) {
      const bool calls = std::ranges::any_of(i->called, [&](const Computation* c) { return nested_.contains(c); });
      if (calls) {
        flatten_run(*i);
        changed = true;
      } else if (is_body && i->opcode == Opcode::kParameter && is_nested(i->shape)) {
        flatten_parameter(*i);
      } else {
        order_.push_back(i);
      }
    }
    if (is_body && is_nested(computation_.root->shape)) computation_.root = flattened(computation_.root);
    if (changed) computation_.reorder(order_);
  }

 private:
  void flatten_parameter(Instruction& old) {
    turn_into_bundle(old, make(Opcode::kParameter, flat(old.shape), {}, old.attributes));
  }

  /// Gives a loop or conditional flat operands; a nested tuple of the flat result replaces its old result.
  void flatten_run(Instruction& old) {
    std::vector<Instruction*> operands = old.operands;
    for (Instruction*& operand : operands) {
      if (is_nested(operand->shape)) operand = flattened(operand);
    }
    if (!is_nested(old.shape)) {
      old.operands = std::move(operands);
      order_.push_back(&old);
      return;
    }
    auto copy = copy_of(old);
    copy->operands = std::move(operands);
    copy->name = names_.unused(old.name);
    copy->shape = flat(old.shape);
    turn_into_bundle(old, append(std::move(copy)));
  }

  void turn_into_bundle(Instruction& old, Instruction* flat) {
    size_t next = 0;
    std::vector<Instruction*> elements;
    for (const Shape& element : old.shape.elements) elements.push_back(bundle(element, flat, next));
    turn_into(old, Opcode::kTuple, std::move(elements));
    order_.push_back(&old);
  }

  Instruction* bundle(const Shape& shape, Instruction* flat, size_t& next) {
    if (!shape.is_tuple()) return element(flat, next++);
    std::vector<Instruction*> elements;
    for (const Shape& inner : shape.elements) elements.push_back(bundle(inner, flat, next));
    return make(Opcode::kTuple, shape, std::move(elements), {});
  }

  Instruction* flattened(Instruction* value) {
    std::vector<Instruction*> leaves;
    take_apart(value, leaves);
    return make(Opcode::kTuple, flat(value->shape), std::move(leaves), {});
  }
  void take_apart(Instruction* value, std::vector<Instruction*>& leaves) {
    if (!value->shape.is_tuple()) {
      leaves.push_back(value);
      return;
    }
    for (size_t k = 0; k < value->shape.elements.size(); ++k) {
      take_apart(value->opcode == Opcode::kTuple ? value->operands[k] : element(value, k), leaves);
    }
  }

  Instruction* element(Instruction* tuple, size_t k) {
    return make(Opcode::kGetTupleElement, tuple->shape.elements[k], {tuple},
                TupleIndexAttributes{static_cast<int64_t>(k)});
  }
  Instruction* make(Opcode opcode, const Shape& shape, std::vector<Instruction*> operands, Attributes attributes) {
    auto added = std::make_unique<Instruction>();
    added->opcode = opcode;
    added->shape = shape;
    added->operands = std::move(operands);
    added->attributes = std::move(attributes);
    added->name = names_.unused("carry");
    return append(std::move(added));
  }
  Instruction* append(std::unique_ptr<Instruction> added) {
    order_.push_back(computation_.append(std::move(added)));
    return order_.back();
  }

  Computation& computation_;
  const std::unordered_set<const Computation*>& nested_;
  Names names_;
  std::vector<Instruction*> order_;
};

}  // namespace

Result<PassResult> flatten_carries(Module& module) {
  const std::unordered_set<const Computation*> nested = nested_bodies(module);
  if (!nested.empty()) {
    for (const auto& computation : module.computations()) Flattener(*computation, nested).run();
  }
  return rewritten(std::ssize(nested), "bodies flattened");
}

}  // namespace lowtide::engine
