/// Two loops as a scan over layers and its gradient are: one stacks what each trip begins with and something that it
/// makes, a later one reads that slot by slot, mostly the last slot first, and stacks what it makes of it.

#include "operations.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kMostLayers = 4;
constexpr int64_t kMostElements = 64;  ///< of a slot

Shape stack_of(const Shape& slot, int64_t layers) {
  Dims dims = slot.dims;
  dims.insert(dims.begin(), layers);
  return with_dims(slot, dims);
}

/// A loop in the making, whose state is a counter and other values.
class Layers {
 public:
  Layers(Scope& scope, const std::vector<Instruction*>& others, int64_t layers)
      : scope_(scope),
        start_{scope.constant(ElementType::kS32, 0)},
        layers_(layers),
        test_(scope.nested()),
        body_(scope.nested()) {
    start_.insert(start_.end(), others.begin(), others.end());
    std::vector<Shape> shapes;
    Fact facts;
    for (const Instruction* value : start_) {
      shapes.push_back(value->shape);
      facts.parts.push_back(fact_of_carry(value->shape));
    }
    facts.parts[0].low = 0;
    facts.parts[0].high = static_cast<double>(layers);
    state_ = Shape::tuple(shapes);
    Instruction* count = test_.element_of(test_.parameter(0, state_, facts), 0);
    more_ = test_.append(Opcode::kCompare, Shape::scalar(ElementType::kPred), {count, limit(test_, 0)},
                         CompareAttributes{CompareDirection::kLt});
    body_.begin_gene(0);
    parameter_ = body_.parameter(0, state_, facts);
    counter_ = given(0);
  }

  Scope& body() { return body_; }
  Instruction* counter() { return counter_; }
  /// From the last slot to the first.
  Instruction* from_behind() {
    return body_.append(Opcode::kSubtract, counter_->shape, {limit(body_, -1), counter_}, {}, {}, false);
  }
  /// What stands in the state; stacks aren't offered to other operations, which would read them whole.
  Instruction* given(int64_t k, bool choosable = false) {
    return body_.append(Opcode::kGetTupleElement, state_.elements[k], {parameter_}, TupleIndexAttributes{k}, {},
                        choosable);
  }

  Instruction* load(Instruction* stack, Instruction* slot) {
    Dims dims = stack->shape.dims;
    dims[0] = 1;
    Instruction* read = body_.append(Opcode::kDynamicSlice, with_dims(stack->shape, dims), starts(stack, {stack}, slot),
                                     DynamicSliceAttributes{dims}, {}, false);
    dims.erase(dims.begin());
    return body_.append(Opcode::kReshape, with_dims(stack->shape, dims), {read});
  }

  Instruction* store(Instruction* stack, Instruction* value, Instruction* slot) {
    Instruction* row = body_.append(Opcode::kReshape, stack_of(value->shape, 1), {value}, {}, {}, false);
    return body_.append(Opcode::kDynamicUpdateSlice, stack->shape, starts(stack, {stack, row}, slot), {}, {}, false);
  }

  Instruction* finish(std::vector<Instruction*> next) {
    next.insert(next.begin(),
                body_.append(Opcode::kAdd, counter_->shape, {counter_, body_.constant(ElementType::kS32, 1)}));
    for (const Instruction* value : next) {
      if (value == nullptr) return nullptr;
    }
    Computation* condition = test_.finish("condition", more_);
    Computation* step = body_.finish("layer", body_.tuple(next));
    return scope_.append(Opcode::kWhile, state_, {scope_.tuple(start_)}, {}, {condition, step});
  }

 private:
  Instruction* limit(Scope& scope, int64_t more) {
    return scope.constant(ElementType::kS32, static_cast<double>(layers_ + more));
  }
  std::vector<Instruction*> starts(const Instruction* stack, std::vector<Instruction*> operands, Instruction* slot) {
    operands.push_back(slot);
    for (int64_t d = 1; d < stack->shape.rank(); ++d) operands.push_back(body_.constant(ElementType::kS32, 0));
    return operands;
  }

  Scope& scope_;
  std::vector<Instruction*> start_;
  int64_t layers_;
  Scope test_, body_;
  Shape state_;
  Instruction *more_ = nullptr, *parameter_ = nullptr, *counter_ = nullptr;
};

bool is_slot(const Scope::Entry& e) {
  const Shape& shape = e.instruction->shape;
  return shape.is_array() && shape.rank() > 0 && element_count(shape) > 0 && element_count(shape) <= kMostElements &&
         !is_complex(shape.type) && (!is_floating(shape.type) || e.fact.magnitude() <= 4);
}

/// In a type that is wider, now and then: gradients of narrow products are summed so.
Instruction* widened(Scope& body, Draws& choices, Instruction* value) {
  const ElementType type = value->shape.type;
  const bool narrow = is_floating(type) && type_bits(type) == 16;
  if (!narrow || choices.one_in(2)) return value;
  return body.append(Opcode::kConvert, with_type(value->shape, ElementType::kF32), {value}, {}, {}, false);
}

Instruction* opposite(Scope& scope, Instruction* value) {
  const ElementType type = value->shape.type;
  const bool is_number = is_floating(type) || type_kind(type) == TypeKind::kSigned;
  return scope.append(is_number ? Opcode::kNegate : Opcode::kNot, value->shape, {value});
}

}  // namespace

bool make_layers(Scope& scope, Draws& choices, const Gene& gene) {
  if (scope.depth() > 0) return false;
  Instruction* first = scope.choose(choices, is_slot);
  Instruction* cotangent = scope.choose(choices, is_slot);
  if (!first || !cotangent) return false;
  const int64_t layers = choices.between(1, kMostLayers);
  const auto empty = [&](const Shape& slot) {
    const Shape stack = stack_of(slot, layers);
    return scope.broadcast(scope.constant(slot.type, 0), stack.dims, {});
  };

  Layers forward(scope, {first, empty(first->shape)}, layers);
  Instruction *x = forward.given(1, true), *xs = forward.given(2);
  grow(forward.body(), nested(gene));
  Instruction* made = result_of_shape(forward.body(), choices, first->shape);
  if (!made) return false;
  Instruction* through = forward.finish({made, forward.store(xs, x, forward.counter())});
  if (!through) return false;
  scope.element_of(through, 1);
  Instruction* saved = scope.append(Opcode::kGetTupleElement, through->shape.elements[2], {through},
                                    TupleIndexAttributes{2}, {}, choices.one_in(4));

  // What the gradients are is known when their body stands: its shapes are those of a trial.
  const bool in_order = choices.one_in(4);
  std::vector<Shape> slots;
  const auto begin = [&](Layers& backward) {
    Instruction* slot = in_order ? backward.counter() : backward.from_behind();
    Instruction *d = backward.given(1, true), *all = backward.given(2);
    backward.load(all, slot);
    Gene own = gene;
    for (uint64_t& seed : own.inner) seed = mix(seed + 7);
    grow(backward.body(), nested(own));
    return std::pair(slot, d);
  };
  {
    Layers trial(scope, {cotangent, saved}, layers);
    begin(trial);
    for (int64_t k = choices.between(1, 2); k > 0; --k) {
      Instruction* gradient = trial.body().choose(choices, is_slot);
      if (!gradient) return false;
      Draws wide(gene.seed + static_cast<uint64_t>(k));
      const Instruction* given = widened(trial.body(), wide, gradient);
      if (!given) return false;
      slots.push_back(given->shape);
    }
  }
  std::vector<Instruction*> state{cotangent, saved};
  for (const Shape& slot : slots) state.push_back(empty(slot));
  Layers backward(scope, state, layers);
  const auto [slot, d] = begin(backward);
  std::vector<Instruction*> next{result_of_shape(backward.body(), choices, d->shape), backward.given(2)};
  for (size_t k = 0; k < slots.size(); ++k) {
    Instruction* gradient = result_of_shape(backward.body(), choices, slots[k]);
    if (!gradient) return false;
    next.push_back(backward.store(backward.given(static_cast<int64_t>(3 + k)), gradient, slot));
  }
  Instruction* back = backward.finish(next);
  if (!back) return false;
  scope.element_of(back, 1);
  for (size_t k = 0; k < slots.size(); ++k) {
    const auto element = static_cast<int64_t>(3 + k);
    Instruction* stack = scope.append(Opcode::kGetTupleElement, back->shape.elements[3 + k], {back},
                                      TupleIndexAttributes{element}, {}, false);
    opposite(scope, stack);
  }
  return true;
}

}  // namespace lowtide::engine
