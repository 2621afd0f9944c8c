#include "passes/tokens_as_arrays.h"

#include <algorithm>

#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

bool is_token(const Shape& shape) { return shape.type == ElementType::kToken; }
Shape nothing() { return Shape::array(ElementType::kPred, {0}); }

class TokensAsArrays {
 public:
  explicit TokensAsArrays(Module& module) : module_(module), entry_(*module.entry), names_(entry_) {}

  bool run() {
    std::vector<Instruction*> originals;
    for (const auto& i : entry_.instructions()) originals.push_back(i.get());
    for (Instruction* i : originals) {
      order_.push_back(i);
      if (i->opcode == Opcode::kParameter && is_token(i->shape)) order_.push_back(begin_behind(*i));
    }
    const bool arguments = order_.size() > originals.size();
    const bool results = replace_results();
    if (!arguments && !results) return false;
    entry_.reorder(order_);
    module_.entry_layout.reset();  // it states the old shapes
    return true;
  }

 private:
  Instruction* make(const std::string& name, Opcode opcode, Shape shape, std::vector<Instruction*> operands,
                    Attributes attributes = {}) {
    auto i = std::make_unique<Instruction>();
    i->opcode = opcode;
    i->name = names_.unused(name);
    i->shape = std::move(shape);
    i->operands = std::move(operands);
    i->attributes = std::move(attributes);
    return entry_.append(std::move(i));
  }

  /// Replaces the argument, for all its readers, by the token with which the program begins.
  Instruction* begin_behind(Instruction& parameter) {
    Instruction* const token = make(parameter.name + ".token", Opcode::kAfterAll, Shape::token(), {});
    for (const auto& user : entry_.instructions()) std::ranges::replace(user->operands, &parameter, token);
    if (entry_.root == &parameter) entry_.root = token;
    parameter.shape = nothing();
    return token;
  }

  Instruction* empty_array() {
    auto value = std::make_shared<const Literal>(nothing());
    order_.push_back(make("no_token", Opcode::kConstant, nothing(), {}, ConstantAttributes{std::move(value)}));
    return order_.back();
  }

  /// No operation is removed: those with effects run although nothing reads their tokens.
  bool replace_results() {
    Instruction* const root = entry_.root;
    if (is_token(root->shape)) {
      entry_.root = empty_array();
      return true;
    }
    if (!root->shape.is_tuple() || std::ranges::none_of(root->shape.elements, is_token)) return false;
    std::vector<Instruction*> parts;
    std::vector<Shape> shapes;
    for (size_t k = 0; k < root->shape.elements.size(); ++k) {
      const Shape& shape = root->shape.elements[k];
      if (is_token(shape)) {
        parts.push_back(empty_array());
      } else if (root->opcode == Opcode::kTuple) {
        parts.push_back(root->operands[k]);
      } else {
        parts.push_back(make(root->name + ".part", Opcode::kGetTupleElement, shape, {root},
                             TupleIndexAttributes{static_cast<int64_t>(k)}));
        order_.push_back(parts.back());
      }
      shapes.push_back(parts.back()->shape);
    }
    entry_.root = make("results", Opcode::kTuple, Shape::tuple(std::move(shapes)), std::move(parts));
    entry_.root->sharding = root->sharding;
    entry_.root->frontend_attributes = root->frontend_attributes;
    order_.push_back(entry_.root);
    return true;
  }

  Module& module_;
  Computation& entry_;
  Names names_;
  std::vector<Instruction*> order_;
};

}  // namespace

bool make_tokens_arrays(Module& module) { return TokensAsArrays(module).run(); }

}  // namespace lowtide::engine
