// A loop that commutes with indexing, run for one element at a time.
//
// This is possible if an element of a leaf needs, from the previous iteration, only elements of its own index
// ("walking") and elements at constant indices (scalars, small tables); loop-invariant leaves may be read anywhere.
// Then element i of every walking leaf evolves independently, and a loop over the needed elements alone gives the same
// values iteration by iteration. The stopping condition must have one of two forms:
//  - The condition, too, needs only elements that an element's loop carries. It can't depend on a walking element of
//    another index, so all elements' loops stop after the same trip count as the whole loop: the result is exact.
//  - The condition asks whether p holds for any element (reduce by or of p over all indices), and every carried
//    element's next value is select(p at its own index, something, its old value). Once p fails at an index, nothing
//    changes there any more, p included, so stopping that element's loop when its own p fails gives the same values.
// Whether a value is "p at its own index" is checked in a trial nest, in which equal pure nodes are one node.
#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "ir/by_element.h"
#include "ops/element_rules.h"
#include "ops/folding.h"
#include "ops/inlined.h"

namespace lowtide::engine {
namespace {

constexpr size_t kMostCarried = 64;     ///< elements that one element's loop may carry
constexpr size_t kMostTriedOut = 1000;  ///< instructions of condition and body, which are lowered more than once

/// One carried element of a leaf, at the walking index or at a constant one.
struct Carry {
  int64_t leaf = 0;
  bool walks = false;
  Index at;  ///< constants; unused if it walks
};

struct LoopPlan {
  std::vector<Carry> carried;
  bool any_element = false;  ///< the second form of condition
};

bool is_constant(const Index& index) {
  return std::all_of(index.begin(), index.end(), [](const Affine& a) { return a.terms.empty(); });
}

bool is_invariant(const Instruction& loop, int64_t leaf) {
  const MadeBy next = made_by(*loop.called[1]->root, leaf);
  return next.instruction->opcode == Opcode::kParameter && next.leaf == leaf;
}

/// A counted loop: leaf `leaf` starts at `start` and increases by `step`, and the body runs `trips` times.
struct Count {
  int64_t leaf = 0, start = 0, step = 0, trips = 0;
};

std::optional<int64_t> constant_of(const MadeBy& value) {
  const auto* constant = value.instruction->if_as<ConstantAttributes>();
  if (!constant || !constant->value->known() || value.instruction->shape.rank() != 0) return std::nullopt;
  return integer_at(*constant->value, 0);
}

/// Recognises the condition `i < n` and the step `i + step`, with known numbers.
std::optional<Count> count_of(const Instruction& loop) {
  const Instruction& compare = *made_by(*loop.called[0]->root, 0).instruction;
  if (compare.opcode != Opcode::kCompare) return std::nullopt;
  const auto known = [&](const MadeBy& value) {
    const bool carried = value.instruction->opcode == Opcode::kParameter && is_invariant(loop, value.leaf);
    return constant_of(carried ? made_by(loop.operand(0), value.leaf) : value);
  };
  MadeBy counter = made_by(compare.operand(0), 0), limit = made_by(compare.operand(1), 0);
  CompareDirection direction = compare.as<CompareAttributes>().direction;
  if (direction == CompareDirection::kGt) {
    std::swap(counter, limit);
    direction = CompareDirection::kLt;
  }
  const ElementType type = compare.operand(0).shape.type;
  const bool counts = type == ElementType::kS32 || type == ElementType::kS64 || type == ElementType::kU32;
  if (direction != CompareDirection::kLt || !counts || counter.instruction->opcode != Opcode::kParameter) {
    return std::nullopt;
  }
  const MadeBy next = made_by(*loop.called[1]->root, counter.leaf);
  if (next.instruction->opcode != Opcode::kAdd) return std::nullopt;
  MadeBy old = made_by(next.instruction->operand(0), 0), more = made_by(next.instruction->operand(1), 0);
  if (old.instruction->opcode != Opcode::kParameter || old.leaf != counter.leaf) std::swap(old, more);
  if (old.instruction->opcode != Opcode::kParameter || old.leaf != counter.leaf) return std::nullopt;
  const auto start = constant_of(made_by(loop.operand(0), counter.leaf)), step = known(more), end = known(limit);
  constexpr int64_t kLargest = int64_t{1} << 30;  // far from any of the types' limits
  const auto small = [](std::optional<int64_t> n) { return n && *n >= -kLargest && *n <= kLargest; };
  if (!small(start) || !small(step) || !small(end) || *step <= 0) return std::nullopt;
  const int64_t way = *end > *start ? *end - *start : 0;
  return Count{counter.leaf, *start, *step, (way + *step - 1) / *step};
}

/// The operand p if the condition is reduce(p, false) by `or` over all dimensions; otherwise null.
const Instruction* any_of(const Computation& condition) {
  const Instruction& root = *made_by(*condition.root, 0).instruction;
  if (root.opcode != Opcode::kReduce || root.operands.size() != 2 || root.shape.rank() != 0) return nullptr;
  const Instruction& initial = *made_by(root.operand(1), 0).instruction;
  const auto* constant = initial.if_as<ConstantAttributes>();
  if (!constant || !constant->value->known() || integer_at(*constant->value, 0) != 0) return nullptr;
  const std::optional<Opcode> opcode = folding_opcode(*root.called[0], 0, 1);
  const bool is_or = opcode == Opcode::kOr || opcode == Opcode::kAdd || opcode == Opcode::kMaximum;
  return is_or && root.operand(0).shape.type == ElementType::kPred ? &root.operand(0) : nullptr;
}

/// Is each of its operations cheap, and defined element by element?
bool is_light(const Computation& computation) {
  for (const auto& instruction : computation.instructions()) {
    const Opcode opcode = instruction->opcode;
    if (opcode == Opcode::kDynamicUpdateSlice) return false;  // a stack written by slices: quadratic as elements
    const bool is_allowed = opcode == Opcode::kWhile || opcode == Opcode::kRngBitGenerator;
    if (!is_allowed && !is_by_element(opcode)) return false;
  }
  return true;
}

/// Replaces the region while a loop is lowered on trial: scalar computations are inlined, functions are empty.
class TrialElements : public ElementContext {
 public:
  using ElementContext::ElementContext;
  NodeId element(const Instruction& value, int64_t leaf, const Index&) override {
    return nest.load(nest.add_buffer(part_shape(value.shape, leaf).type, 1), NestBuilder::fixed(0));
  }
  std::vector<NodeId> call(const Computation& computation, std::span<const NodeId> arguments) override {
    InlinedElements inlined(*this, [&](const Instruction& parameter, int64_t, const Index&) {
      return arguments[parameter.as<ParameterAttributes>().number];
    });
    std::vector<NodeId> results;
    for (int64_t k = 0; k < part_count(computation.root->shape); ++k) {
      results.push_back(inlined.element(*computation.root, k, {}));
    }
    return results;
  }
  std::shared_ptr<const Function> function(const Computation&) override { return std::make_shared<Function>(); }
  int32_t buffer_of(const Instruction&, int64_t) override { return kNoId; }
};

/// Finds the elements that the loop for one element of `leaf` carries.
class LoopTrial {
 public:
  LoopTrial(const Instruction& loop, int64_t leaf) : loop_(loop), shape_(part_shape(loop.shape, leaf)), trial_(nest_) {
    for (const int64_t extent : shape_.dims) here_.push_back(nest_.index_of(nest_.begin_parallel(extent)));
    demand({leaf, true, {}});
  }

  std::optional<LoopPlan> plan() {
    const Instruction* any = any_of(*loop_.called[0]);
    const bool any_element = any && any->shape.dims == shape_.dims && !shape_.dims.empty();
    NodeId proceeds = kNoId;
    {
      InlinedElements condition = inlined();
      if (any_element) {
        proceeds = condition.element(*any, 0, here_);
      } else {
        if (any) return std::nullopt;
        condition.element(*loop_.called[0]->root, 0, {});
      }
    }
    InlinedElements body = inlined();
    for (size_t k = 0; k < plan_.carried.size() && !hopeless_; ++k) {
      const Carry carry = plan_.carried[k];
      const NodeId next = body.element(*loop_.called[1]->root, carry.leaf, carry.walks ? here_ : carry.at);
      if (!any_element) continue;
      const Node& node = nest_.node(next);
      const bool stays = carry.walks && node.kind == NodeKind::kOperation && node.opcode == Opcode::kSelect &&
                         node.operands[0] == proceeds && node.operands[2] == values_[k];
      hopeless_ = hopeless_ || !stays;
    }
    plan_.any_element = any_element;
    return !hopeless_ ? std::optional(std::move(plan_)) : std::nullopt;
  }

 private:
  InlinedElements inlined() {
    const auto read = [this](const Instruction& value, int64_t leaf, const Index& index) {
      if (hopeless_) return trial_.element(value, leaf, index);
      const Shape& shape = part_shape(loop_.shape, leaf);
      if (is_invariant(loop_, leaf)) return load(leaf, index);
      if (shape.dims == shape_.dims && index == here_) return demand({leaf, true, {}});
      if (is_constant(index)) return demand({leaf, false, index});
      hopeless_ = true;
      return load(leaf, index);
    };
    return InlinedElements(trial_, read, &hopeless_);
  }

  /// Loads of the same element of a leaf give the same node.
  NodeId load(int64_t leaf, const Index& index) {
    const Shape& shape = part_shape(loop_.shape, leaf);
    auto [buffer, is_new] = buffers_.try_emplace(leaf, kNoId);
    if (is_new) buffer->second = nest_.add_buffer(shape.type, element_count(shape));
    return nest_.load(buffer->second, nest_.position(index, shape.dims));
  }

  NodeId demand(Carry carry) {
    for (size_t k = 0; k < plan_.carried.size(); ++k) {
      const Carry& known = plan_.carried[k];
      if (known.leaf == carry.leaf && known.walks == carry.walks && known.at == carry.at) return values_[k];
    }
    values_.push_back(load(carry.leaf, carry.walks ? here_ : carry.at));
    plan_.carried.push_back(std::move(carry));
    hopeless_ = hopeless_ || plan_.carried.size() > kMostCarried;
    return values_.back();
  }

  const Instruction& loop_;
  const Shape& shape_;
  NestBuilder nest_;
  TrialElements trial_;
  Index here_;
  LoopPlan plan_;
  std::unordered_map<int64_t, int32_t> buffers_;  ///< the buffer of each leaf
  std::vector<NodeId> values_;                    ///< placeholders for the carried elements
  bool hopeless_ = false;                         ///< such a loop is impossible
};

/// Caches plans of nested loops: trying out a loop lowers elements of inner loops, which need their plans again, twice
/// as often with every level. The cache lives as long as the outermost query, during which no loop changes.
class KnownPlans {
 public:
  KnownPlans() { ++known().questions; }
  ~KnownPlans() {
    if (--known().questions == 0) known().plans.clear();
  }
  KnownPlans(const KnownPlans&) = delete;
  KnownPlans& operator=(const KnownPlans&) = delete;

  std::optional<LoopPlan> plan_of(const Instruction& loop, int64_t leaf) const {
    const auto key = std::pair(&loop, leaf);
    if (const auto found = known().plans.find(key); found != known().plans.end()) return found->second;
    std::optional<LoopPlan> plan = LoopTrial(loop, leaf).plan();
    known().plans.emplace(key, plan);
    return plan;
  }

 private:
  struct State {
    int questions = 0;
    std::map<std::pair<const Instruction*, int64_t>, std::optional<LoopPlan>> plans;
  };
  static State& known() {
    thread_local State state;
    return state;
  }
};

}  // namespace

bool has_element_while(const Instruction& loop) {
  const Computation& condition = *loop.called[0];
  const Computation& body = *loop.called[1];
  const KnownPlans plans;
  if (condition.instructions().size() + body.instructions().size() > kMostTriedOut) return false;
  if (!has_elements(condition) || !has_elements(body) || !is_light(body)) return false;
  if (!any_of(condition) && !is_light(condition)) return false;
  const int64_t leaves = part_count(loop.shape);
  std::vector<bool> known(static_cast<size_t>(leaves), false);
  for (int64_t leaf = 0; leaf < leaves; ++leaf) {
    if (element_count(part_shape(loop.shape, leaf)) == 0) return false;
    if (known[leaf] || is_invariant(loop, leaf)) continue;
    const std::optional<LoopPlan> plan = plans.plan_of(loop, leaf);
    if (!plan) return false;
    for (const Carry& carry : plan->carried) {
      if (carry.walks) known[carry.leaf] = true;
    }
  }
  return true;
}

void element_while(ElementContext& context, const Instruction& loop, int64_t leaf, const Index& index,
                   std::span<NodeId> leaves) {
  NestBuilder& nest = context.nest;
  const Instruction& start = loop.operand(0);
  if (is_invariant(loop, leaf)) {
    leaves[leaf] = context.element(start, leaf, index);
    return;
  }
  const KnownPlans plans;
  const std::optional<LoopPlan> plan = plans.plan_of(loop, leaf);
  LT_ASSERT(plan, "the loop " + loop.name + " is not one of elements");
  std::vector<NodeId> initial;
  for (const Carry& carry : plan->carried) {
    initial.push_back(context.element(start, carry.leaf, carry.walks ? index : carry.at));
  }
  const std::optional<Count> count = plan->any_element ? std::nullopt : count_of(loop);
  const int32_t made = count ? nest.begin_sequential(count->trips, initial) : nest.begin_while(initial);
  const auto parameter = [&](const Instruction&, int64_t wanted, const Index& at) -> NodeId {
    if (is_invariant(loop, wanted)) return context.element(start, wanted, at);
    if (count && wanted == count->leaf) {  // the counter as an index, so that its bounds are known
      const Affine passed = nest.times(nest.index_of(made), count->step);
      const NodeId counter = nest.value_of(nest.plus(passed, NestBuilder::fixed(count->start)));
      return nest.convert(counter, part_shape(loop.shape, wanted).type);
    }
    for (size_t k = 0; k < plan->carried.size(); ++k) {
      const Carry& carry = plan->carried[k];
      const bool same_extents = part_shape(loop.shape, wanted).dims == part_shape(loop.shape, leaf).dims;
      if (carry.leaf == wanted && (carry.walks ? same_extents && at == index : at == carry.at)) {
        return nest.carried(made, static_cast<int32_t>(k));
      }
    }
    LT_ASSERT(false, "the loop " + loop.name + " reads an element that it doesn't carry");
    return kNoId;
  };
  if (!count) {
    InlinedElements condition(context, parameter);
    nest.begin_while_body(made, plan->any_element ? condition.element(*any_of(*loop.called[0]), 0, index)
                                                  : condition.element(*loop.called[0]->root, 0, {}));
  }
  InlinedElements body(context, parameter);
  std::vector<NodeId> next;
  for (const Carry& carry : plan->carried) {
    next.push_back(body.element(*loop.called[1]->root, carry.leaf, carry.walks ? index : carry.at));
  }
  const std::vector<NodeId> results = nest.end_carrying(made, next);
  for (size_t k = 0; k < plan->carried.size(); ++k) {
    if (plan->carried[k].walks) leaves[plan->carried[k].leaf] = results[k];
  }
}

}  // namespace lowtide::engine
