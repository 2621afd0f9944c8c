#include "passes/rules/maker.h"

#include <algorithm>
#include <utility>

#include "ops/combiner.h"

namespace lowtide::engine {
namespace {

template <class Number>
Value scalar_of(ElementType type, Number number) {
  auto literal = std::make_shared<Literal>(Shape::scalar(type));
  dispatch(type, [&]<class T>() {
    if constexpr (requires { T(number); }) {
      literal->data<T>()[0] = T(number);
    } else {
      literal->data<T>()[0] = T(static_cast<float>(number));
    }
  });
  return literal;
}

}  // namespace

std::vector<Instruction*> mapped(const Instruction& i, const InstructionMap& now) {
  std::vector<Instruction*> operands;
  for (const Instruction* operand : i.operands) operands.push_back(now.at(operand));
  return operands;
}

void read_instead(std::vector<Instruction*>& operands, const InstructionMap& now) {
  for (Instruction*& operand : operands) {
    if (const auto found = now.find(operand); found != now.end()) operand = found->second;
  }
}

Instruction* Maker::make(Opcode opcode, Shape shape, std::vector<Instruction*> operands, Attributes attributes) {
  std::string name = names_.unused(origin_ ? origin_->name : std::string(opcode_name(opcode)));
  order_.push_back(
      append_new(computation_, std::move(name), opcode, std::move(shape), std::move(operands), std::move(attributes)));
  if (origin_) order_.back()->metadata = origin_->metadata;
  return order_.back();
}

Instruction* Maker::like(const Instruction& pattern, Shape shape, std::vector<Instruction*> operands) {
  const Instruction* origin = std::exchange(origin_, origin_ ? origin_ : &pattern);
  Instruction* made = make(pattern.opcode, std::move(shape), std::move(operands), pattern.attributes);
  origin_ = origin;
  made->called = pattern.called;
  made->metadata = pattern.metadata;
  made->extra = pattern.extra;
  return made;
}

Instruction* Maker::copy(const Instruction& i, std::vector<Instruction*> operands) {
  Instruction* made = like(i, i.shape, std::move(operands));
  made->sharding = i.sharding;
  made->frontend_attributes = i.frontend_attributes;
  made->backend_config = i.backend_config;
  return made;
}

Instruction* Maker::element(Instruction& tuple, size_t k) {
  return make(Opcode::kGetTupleElement, tuple.shape.elements[k], {&tuple},
              TupleIndexAttributes{static_cast<int64_t>(k)});
}

Instruction* Maker::constant(ElementType type, int64_t number) {
  return make(Opcode::kConstant, Shape::scalar(type), {}, ConstantAttributes{scalar_of(type, number)});
}

Instruction* Maker::number(ElementType type, double number) {
  return make(Opcode::kConstant, Shape::scalar(type), {}, ConstantAttributes{scalar_of(type, number)});
}

Instruction* Maker::filled(ElementType type, const Dims& dims, int64_t number) {
  return broadcast(constant(type, number), dims, {});
}

Instruction* Maker::broadcast(Instruction* x, const Dims& dims, Dims dimensions) {
  if (x->shape.dims == dims && counts_up(dimensions)) return x;
  return make(Opcode::kBroadcast, Shape::array(x->shape.type, dims), {x}, DimensionsAttributes{std::move(dimensions)});
}

Instruction* Maker::binary(Opcode opcode, Instruction* a, Instruction* b) {
  return make(opcode, Shape::array(a->shape.type, a->shape.dims), {a, b});
}

Instruction* Maker::compare(Instruction* a, Instruction* b, CompareDirection direction) {
  return make(Opcode::kCompare, Shape::array(ElementType::kPred, a->shape.dims), {a, b},
              CompareAttributes{direction, CompareType::kDefault});
}

Instruction* Maker::select(Instruction* predicate, Instruction* a, Instruction* b) {
  return make(Opcode::kSelect, Shape::array(a->shape.type, a->shape.dims), {predicate, a, b});
}

Instruction* Maker::convert(Instruction* x, ElementType type) {
  return x->shape.type == type ? x : make(Opcode::kConvert, Shape::array(type, x->shape.dims), {x});
}

Instruction* Maker::reshape(Instruction* x, const Dims& dims) {
  // Reshapes the operand of a reshape, unless the latter states a layout of its own.
  while (x->opcode == Opcode::kReshape && x->shape.dims != dims &&
         same_layout(x->shape, Shape::array(x->shape.type, x->shape.dims))) {
    x = x->operands[0];
  }
  return x->shape.dims == dims ? x : make(Opcode::kReshape, Shape::array(x->shape.type, dims), {x});
}

Instruction* Maker::transpose(Instruction* x, Dims permutation) {
  // Transposes the operand of a transposition, as reshape() does.
  while (!counts_up(permutation) && x->opcode == Opcode::kTranspose &&
         same_layout(x->shape, Shape::array(x->shape.type, x->shape.dims))) {
    for (int64_t& d : permutation) d = x->as<DimensionsAttributes>().dimensions[d];
    x = x->operands[0];
  }
  if (counts_up(permutation)) return x;
  Dims dims;
  for (const int64_t d : permutation) dims.push_back(x->shape.dims[d]);
  return make(Opcode::kTranspose, Shape::array(x->shape.type, dims), {x}, DimensionsAttributes{permutation});
}

Computation* Maker::addition(ElementType type) {
  Computation*& added = additions_[type];
  if (added == nullptr) added = add_addition(computation_.module(), type, "add");
  return added;
}

/// Offers the instructions of a module, one computation after another, to one rewrite.
class EachRewriter {
 public:
  /// opcodes: null if all are offered.
  EachRewriter(Module& module, const OpcodeSet* opcodes, const InstructionRewrite& rewrite)
      : module_(module), opcodes_(opcodes), rewrite_(rewrite), ordered_(ordered_instructions(module)) {}

  PassResult run(std::string_view done) {
    std::vector<Computation*> computations;  // rewrites may add reducers
    for (const auto& computation : module_.computations()) computations.push_back(computation.get());
    for (Computation* computation : computations) rewrite_in(*computation);
    if (count_ > 0) module_.reorder(module_.callees_first());  // puts added reducers before their callers
    PassResult result = rewritten(count_, done);
    result.changed = result.changed || has_made_;
    return result;
  }

 private:
  bool is_offered(const Instruction& i) const {
    return (opcodes_ == nullptr || opcodes_->contains(i.opcode)) && !ordered_[i.id];
  }
  void rewrite_in(Computation& computation) {
    std::vector<Instruction*> originals;
    for (const auto& i : computation.instructions()) originals.push_back(i.get());
    Replacements replacements(module_);
    Maker maker(computation);
    for (Instruction* i : originals) {
      replacements.apply_to(*i);
      if (Instruction* made = is_offered(*i) ? replacement_of(*i, maker) : nullptr) {
        replacements.replace(*i, *made);
      } else {
        maker.order_.push_back(i);
      }
    }
    if (replacements.count() == 0 && maker.order_.size() == originals.size()) return;
    replacements.finish(computation);
    computation.reorder(maker.order_);
    has_made_ = true;
    count_ += replacements.count();
  }
  /// Null: the instruction stays.
  Instruction* replacement_of(Instruction& i, Maker& maker) {
    maker.origin_ = &i;
    const size_t before = maker.order_.size();
    Instruction* const made = rewrite_(i, maker);
    if (made && maker.order_.size() > before && made == maker.order_.back()) {
      made->shape.layout = i.shape.layout;
      made->sharding = i.sharding;
      return made;
    }
    return made && interchangeable(made->shape, i.shape) ? made : nullptr;
  }

  Module& module_;
  const OpcodeSet* opcodes_;
  const InstructionRewrite& rewrite_;
  const std::vector<bool> ordered_;
  int64_t count_ = 0;
  bool has_made_ = false;  ///< also if what was made replaces nothing yet
};

Result<PassResult> rewrite_each(Module& module, const OpcodeSet& opcodes, const InstructionRewrite& rewrite,
                                std::string_view done) {
  if (!has_any(module, opcodes)) return PassResult{};
  return EachRewriter(module, &opcodes, rewrite).run(done);
}

Result<PassResult> rewrite_each(Module& module, const InstructionRewrite& rewrite, std::string_view done) {
  return EachRewriter(module, nullptr, rewrite).run(done);
}

}  // namespace lowtide::engine
