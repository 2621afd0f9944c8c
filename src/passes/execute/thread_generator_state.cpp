#include "passes/execute/thread_generator_state.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ops/counter_bits.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

bool hands_on(Opcode opcode) {
  return opcode == Opcode::kWhile || opcode == Opcode::kConditional || opcode == Opcode::kCall;
}

/// The computations that the counter passes through: those that draw, their callers, and these callers' other callees.
class Threaded {
 public:
  explicit Threaded(const Module& module) {
    for (const auto& computation : module.computations()) {
      for (const auto& i : computation->instructions()) {
        const auto* draw = i->if_as<DeltaAttributes>();
        drawn_[computation.get()] += draw ? draw->delta : 0;
      }
    }
    for (bool grew = true; grew;) {
      grew = false;
      for (const auto& computation : module.computations()) {
        for (const auto& i : computation->instructions()) {
          const bool calls = std::ranges::any_of(i->called, [&](const Computation* c) { return has(*c); });
          if (i->opcode != Opcode::kRngGetAndUpdateState && !calls) continue;
          grew |= all_.insert(computation.get()).second;
          for (const Computation* callee : i->called) grew |= all_.insert(callee).second;
        }
      }
    }
  }
  bool is_empty() const { return all_.empty(); }
  bool has(const Computation& computation) const { return all_.contains(&computation); }
  bool calls(const Instruction& i) const { return !i.called.empty() && has(*i.called[0]); }

  /// OK, or why the counter can't be passed through `i`.
  Status check(const Instruction& i) const {
    if (!calls(i)) return {};
    if (!hands_on(i.opcode)) return unsupported_at(i, "random numbers are drawn in what it runs in no certain order");
    if (i.opcode != Opcode::kWhile) return {};
    for (const auto& inner : i.called[0]->instructions()) {
      if (calls(*inner)) return unsupported_at(*inner, "random numbers are drawn here within the condition of a loop");
    }
    return {};
  }

  /// How many blocks one run of a loop's condition draws; valid before and after the condition is rewritten.
  int64_t drawn_by(const Computation& condition) const { return drawn_.at(&condition); }

 private:
  std::unordered_set<const Computation*> all_;
  std::unordered_map<const Computation*, int64_t> drawn_;  ///< by the computation's own instructions
};

/// How a computation is run, equally by all of its callers.
struct Role {
  enum Kind : uint8_t { kEntry, kCondition, kOther };
  Kind kind = kOther;
  int64_t drawn_before = 0;  ///< blocks that a loop's condition draws before each iteration
  bool operator==(const Role&) const = default;
};
using Roles = std::unordered_map<const Computation*, Role>;

/// Rewrites one computation: its parameter, its calls, its root.
class Thread {
 public:
  Thread(Computation& computation, const Role& role, const Threaded& threaded)
      : computation_(computation), role_(role), threaded_(threaded), names_(computation) {}

  int64_t run() {
    std::vector<Instruction*> originals;
    for (const auto& i : computation_.instructions()) originals.push_back(i.get());
    start();
    int64_t draws = 0;
    for (Instruction* i : originals) {
      if (i->opcode == Opcode::kRngGetAndUpdateState) {
        draw(*i);
        ++draws;
      } else if (threaded_.calls(*i)) {
        hand_through(*i);
      } else {
        order_.push_back(i);
      }
    }
    if (role_.kind == Role::kOther) computation_.root = pair(computation_.root);
    // An old parameter now reads the new one, wherever it is: parameters go first.
    std::ranges::stable_partition(order_, [](const Instruction* i) { return i->opcode == Opcode::kParameter; });
    computation_.reorder(order_);
    return draws;
  }

 private:
  void start() {
    if (role_.kind == Role::kEntry) {
      counter_ = constant(kHiddenCounter);
      return;
    }
    const std::vector<Instruction*> parameters = computation_.parameters();
    const Shape scalar = Shape::scalar(ElementType::kU64);
    if (parameters.size() != 1) {  // the computation of a call
      counter_ = make(Opcode::kParameter, scalar, {}, ParameterAttributes{static_cast<int64_t>(parameters.size())});
      return;
    }
    Instruction& old = *parameters[0];
    Instruction* both = make(Opcode::kParameter, Shape::tuple({old.shape, scalar}), {}, ParameterAttributes{0});
    old.opcode = Opcode::kGetTupleElement;
    old.attributes = TupleIndexAttributes{0};
    old.operands = {both};
    counter_ = element(both, 1, scalar);
    counter_ = advanced(role_.drawn_before);
  }

  void draw(Instruction& state) {
    const Shape one = Shape::array(ElementType::kU64, {1});
    std::vector<Instruction*> words{make(Opcode::kReshape, one, {counter_})};
    const int64_t others = element_count(state.shape) - 1;
    for (int64_t k = 0; k < others; ++k) {
      words.push_back(words.size() > 1 ? words.back() : make(Opcode::kReshape, one, {constant(0)}));
    }
    counter_ = advanced(state.as<DeltaAttributes>().delta);
    Instruction* all = make(Opcode::kConcatenate, Shape::array(ElementType::kU64, {others + 1}), std::move(words),
                            DimensionsAttributes{{0}});
    state.opcode = Opcode::kReshape;
    state.attributes = {};
    state.operands = {all};
    order_.push_back(&state);
  }

  /// Makes operands and result of a loop, conditional or call pairs; the old instruction becomes a read of the first
  /// part.
  void hand_through(Instruction& old) {
    const Shape scalar = Shape::scalar(ElementType::kU64), both = Shape::tuple({old.shape, scalar});
    std::vector<Instruction*> operands = old.operands;
    const size_t first = old.opcode == Opcode::kConditional ? 1 : 0;
    if (old.opcode == Opcode::kCall && operands.size() != 1) {
      operands.push_back(counter_);
    } else {
      for (size_t k = first; k < operands.size(); ++k) operands[k] = pair(operands[k]);
    }
    const int64_t drawn = old.opcode == Opcode::kWhile ? threaded_.drawn_by(*old.called[0]) : 0;
    auto copy = copy_of(old);
    copy->name = names_.unused(old.name);
    copy->shape = both;
    copy->operands = std::move(operands);
    copy->sharding = nullptr;  // it doesn't fit the pair
    Instruction* whole = append(std::move(copy));
    counter_ = element(whole, 1, scalar);
    counter_ = advanced(drawn);
    turn_into(old, Opcode::kGetTupleElement, {whole}, TupleIndexAttributes{0});
    order_.push_back(&old);
  }

  Instruction* advanced(int64_t blocks) {
    if (blocks == 0) return counter_;
    return make(Opcode::kAdd, counter_->shape, {counter_, constant(static_cast<uint64_t>(blocks))});
  }
  Instruction* pair(Instruction* value) {
    return make(Opcode::kTuple, Shape::tuple({value->shape, counter_->shape}), {value, counter_});
  }
  Instruction* element(Instruction* tuple, int64_t index, const Shape& shape) {
    return make(Opcode::kGetTupleElement, shape, {tuple}, TupleIndexAttributes{index});
  }
  Instruction* constant(uint64_t number) {
    auto value = std::make_shared<Literal>(Shape::scalar(ElementType::kU64));
    value->data<uint64_t>()[0] = number;
    return make(Opcode::kConstant, Shape::scalar(ElementType::kU64), {}, ConstantAttributes{std::move(value)});
  }
  Instruction* make(Opcode opcode, const Shape& shape, std::vector<Instruction*> operands, Attributes attributes = {}) {
    auto added = std::make_unique<Instruction>();
    added->opcode = opcode;
    added->shape = shape;
    added->operands = std::move(operands);
    added->attributes = std::move(attributes);
    added->name = names_.unused("generator_state");
    return append(std::move(added));
  }
  Instruction* append(std::unique_ptr<Instruction> added) {
    order_.push_back(computation_.append(std::move(added)));
    return order_.back();
  }

  Computation& computation_;
  Role role_;
  const Threaded& threaded_;
  Names names_;
  Instruction* counter_ = nullptr;  ///< its current value, a scalar
  std::vector<Instruction*> order_;
};

/// Removes computations that nothing runs: they have no role, and wouldn't fit their rewritten callees.
void remove_what_nobody_runs(Module& module) {
  std::unordered_set<const Computation*> reached{module.entry};
  std::vector<const Computation*> open{module.entry};
  while (!open.empty()) {
    const Computation* next = open.back();
    open.pop_back();
    for (const auto& i : next->instructions()) {
      for (const Computation* callee : i->called) {
        if (reached.insert(callee).second) open.push_back(callee);
      }
    }
  }
  module.remove_if([&](const Computation& computation) { return !reached.contains(&computation); });
}

}  // namespace

Result<PassResult> thread_generator_state(Module& module) {
  if (Threaded(module).is_empty()) return PassResult{};
  const size_t computations = module.computations().size();
  remove_what_nobody_runs(module);
  const Threaded threaded(module);
  Roles roles{{module.entry, Role{Role::kEntry}}};
  for (const auto& computation : module.computations()) {
    for (const auto& i : computation->instructions()) {
      LT_RETURN_IF_ERROR(threaded.check(*i));
      if (!threaded.calls(*i)) continue;
      for (const Computation* callee : i->called) {
        Role role;
        if (i->opcode == Opcode::kWhile && callee == i->called[0]) {
          role.kind = Role::kCondition;
        } else if (i->opcode == Opcode::kWhile) {
          role.drawn_before = threaded.drawn_by(*i->called[0]);
        }
        if (roles.emplace(callee, role).first->second == role) continue;
        return unsupported_at(*i,
                              "others run " + callee->name + ", too, where other random numbers are drawn before it");
      }
    }
  }
  int64_t count = 0;
  for (Computation* computation : module.callees_first()) {
    const auto role = roles.find(computation);
    if (role == roles.end() || !threaded.has(*computation)) continue;
    count += Thread(*computation, role->second, threaded).run();
  }
  PassResult result = rewritten(count, "draws");
  result.changed = result.changed || module.computations().size() < computations;
  return result;
}

}  // namespace lowtide::engine
