#include "region/virtual_values.h"

#include <algorithm>

#include "ops/op_rule.h"

namespace lowtide {
namespace {

constexpr int32_t kSeveral = -2;  ///< kernels that read a value: more than one

class Decision {
 public:
  Decision(const ValueGraph& graph, const FormOptions& options)
      : graph_(graph),
        options_(options),
        states_(static_cast<size_t>(graph.size()), ValueState::kAbsent),
        kernel_(static_cast<size_t>(graph.size()), kNoId) {}

  std::vector<ValueState> run() {
    for (int32_t place = graph_.size(); place-- > 0;) decide(place);
    for (int32_t place = 0; place < graph_.size(); ++place) make_view(place);
    return std::move(states_);
  }

 private:
  ValueState& state(int32_t place) { return states_[static_cast<size_t>(place)]; }

  void decide(int32_t place) {
    const Instruction& i = graph_.at(place);
    const OpRole role = role_of(i);
    if (role == OpRole::kNone || !graph_.is_live(place)) return;
    if (role != OpRole::kComputed) {
      state(place) = ValueState::kGiven;
      return;
    }
    state(place) = is_virtual(place) ? ValueState::kVirtual : ValueState::kStored;
    if (i.opcode == Opcode::kConstant && state(place) == ValueState::kStored) state(place) = ValueState::kGiven;
    if (state(place) == ValueState::kStored) kernel_[static_cast<size_t>(place)] = place;
  }

  bool asked(const std::vector<bool>& list, const Instruction& i) const {
    return static_cast<size_t>(i.id) < list.size() && list[static_cast<size_t>(i.id)];
  }

  bool is_virtual(int32_t place) {
    const Instruction& i = graph_.at(place);
    if (graph_.is_result(place) || !has_element(i)) return false;
    int32_t kernel = kNoId;
    bool repeated = false;
    for (const ValueGraph::Read& read : graph_.users(place)) {
      if (!graph_.is_live(read.user)) continue;
      if (!computes_operand(read)) return false;
      const int32_t theirs = kernel_[static_cast<size_t>(read.user)];
      kernel = kernel == kNoId || kernel == theirs ? theirs : kSeveral;
      repeated |= repeats(read);
    }
    kernel_[static_cast<size_t>(place)] = kernel;
    if (asked(options_.store, i)) return false;
    if (asked(options_.keep_virtual, i) || is_cheap(i)) return true;
    return !is_heavy(i) && kernel != kSeveral && !repeated;
  }

  /// Can the reader compute this operand where it reads it?
  bool computes_operand(const ValueGraph::Read& read) {
    const Instruction& user = graph_.at(read.user);
    if (role_of(user) != OpRole::kComputed) return false;
    if (state(read.user) == ValueState::kStored && can_be_view(user)) return false;  // then that costs nothing
    return !is_updated(user, state(read.user), read.operand) || has_element(user);
  }

  static bool is_updated(const Instruction& user, ValueState state, int32_t operand) {
    const OpRule& rule = rule_of(user.opcode);
    if (state != ValueState::kStored || !has_update(user) || !rule.updated_operand) return false;
    return rule.updated_operand(user, 0) == operand;
  }

  bool repeats(const ValueGraph::Read& read) const {
    const Instruction& user = graph_.at(read.user);
    const Instruction& i = graph_.at(read.def);
    if (user.opcode == Opcode::kBroadcast || user.opcode == Opcode::kGather) {
      return element_count(user.shape) > logical_bytes(i.shape) / std::max(1, type_bits(i.shape.type) / 8);
    }
    return user.opcode == Opcode::kReduceWindow || user.opcode == Opcode::kDot || user.opcode == Opcode::kConvolution;
  }

  /// Costs next to nothing and reads no more bytes than storing it would take.
  static bool is_cheap(const Instruction& i) {
    switch (i.opcode) {
      case Opcode::kConstant:
      case Opcode::kIota:
      case Opcode::kBroadcast:
      case Opcode::kReshape:
      case Opcode::kBitcast: return true;
      case Opcode::kConvert:
      case Opcode::kCompare:
      case Opcode::kSelect:
      case Opcode::kAnd:
      case Opcode::kOr:
      case Opcode::kNot: {
        int64_t read = 0;
        for (const Instruction* operand : i.operands) read += logical_bytes(operand->shape);
        return read <= logical_bytes(i.shape);
      }
      default: return false;
    }
  }

  void make_view(int32_t place) {
    if (state(place) != ValueState::kStored && state(place) != ValueState::kVirtual) return;
    const Instruction& i = graph_.at(place);
    if (!can_be_view(i) || graph_.reads(place).size() != 1) return;
    const ValueState operand = state(graph_.reads(place)[0].def);
    if (operand == ValueState::kVirtual || operand == ValueState::kAbsent) return;
    state(place) = ValueState::kView;
  }

  const ValueGraph& graph_;
  const FormOptions& options_;
  std::vector<ValueState> states_;
  std::vector<int32_t> kernel_;  ///< by place: the stored value whose kernel computes it
};

}  // namespace

std::vector<ValueState> decide_values(const ValueGraph& graph, const FormOptions& options) {
  return Decision(graph, options).run();
}

bool updates_operand(const Instruction& i, const std::vector<ValueState>& states, const ValueGraph& graph,
                     int32_t operand) {
  const OpRule& rule = rule_of(i.opcode);
  if (!has_update(i) || !rule.updated_operand || rule.updated_operand(i, 0) != operand) return false;
  const LeafRef updated = resolve({i.operands[static_cast<size_t>(operand)], 0});
  return states[static_cast<size_t>(graph.place_of(*updated.instruction))] != ValueState::kVirtual;
}

}  // namespace lowtide
