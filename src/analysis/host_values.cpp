#include "analysis/host_values.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "analysis/uses.h"
#include "ir/entry_notes.h"
#include "ops/host_moves.h"
#include "ops/sharding_calls.h"

namespace lowtide::engine {
namespace {

bool says_host(const Shape& shape) {
  if (!shape.is_tuple()) return is_in_host(shape);
  return std::ranges::any_of(shape.elements, says_host);
}

bool is_of_host(const std::string& kind) { return kind.ends_with("_host"); }

}  // namespace

class FindHostValues {
 public:
  explicit FindHostValues(const Module& module) : module_(module) {}

  HostValues run() {
    if (!is_needed()) return {};
    number_leaves();
    uses_.emplace(module_);
    for (const auto& computation : module_.computations()) {
      for (const auto& i : computation->instructions()) {
        put_as_said(*i, i->shape);
        if (host_move(*i) == HostMove::kToHost) put(*i, 0);
        for (const Computation* called : i->called) callers_[called].push_back(i.get());
      }
    }
    put_arguments();
    put_results();
    while (!open_.empty()) {
      const auto [i, leaf] = open_.back();
      open_.pop_back();
      follow(*i, leaf);
    }
    return std::move(out_);
  }

 private:
  /// Does anything suggest host memory? Most programs keep all values on the device.
  bool is_needed() {
    if (!module_.entry || !module_.entry->root) return false;
    arguments_ = entry_notes(module_, EntrySide::kArguments, EntryNote::kMemoryKind);
    results_ = entry_notes(module_, EntrySide::kResults, EntryNote::kMemoryKind);
    says_results_ = module_.entry_layout && says_host(*module_.entry_layout);
    bool found =
        says_results_ || std::ranges::any_of(arguments_, is_of_host) || std::ranges::any_of(results_, is_of_host);
    for (const auto& computation : module_.computations()) {
      for (const auto& i : computation->instructions()) {
        const HostMove move = host_move(*i);
        is_spelt_ = is_spelt_ && move == HostMove::kNone;
        found = found || move == HostMove::kToHost || says_host(i->shape);
      }
    }
    return found;
  }

  void number_leaves() {
    out_.first_.assign(static_cast<size_t>(module_.id_limit()), 0);
    int64_t count = 0;
    for (const auto& computation : module_.computations()) {
      for (const auto& i : computation->instructions()) {
        out_.first_[i->id] = static_cast<int32_t>(count);
        count += leaf_count(i->shape);
      }
    }
    out_.in_host_.assign(static_cast<size_t>(count), false);
  }

  /// Puts the leaves for which `said`, the value's own shape or the one in the header, says so into host memory.
  void put_as_said(const Instruction& i, const Shape& said) {
    int64_t leaf = 0;
    for_each_leaf(said, [&](const ShapeIndex&, const Shape& shape) {
      if (says_host(shape)) put(i, leaf);
      ++leaf;
    });
  }

  void put_all(const Instruction& i, int64_t first_leaf, int64_t count) {
    for (int64_t l = 0; l < count; ++l) put(i, first_leaf + l);
  }

  void put_arguments() {
    const std::vector<Instruction*> parameters = module_.entry->parameters();
    const Shape* said = module_.entry_layout ? &module_.entry_layout->elements.at(0) : nullptr;
    for (size_t p = 0; p < parameters.size(); ++p) {
      if (!parameters[p]) continue;
      if (said && p < said->elements.size()) put_as_said(*parameters[p], said->elements[p]);
      if (p < arguments_.size() && is_of_host(arguments_[p]))
        put_all(*parameters[p], 0, leaf_count(parameters[p]->shape));
    }
  }

  void put_results() {
    const Instruction& root = *module_.entry->root;
    if (module_.entry_layout) put_as_said(root, module_.entry_layout->elements.at(1));
    if (!root.shape.is_tuple()) {
      if (!results_.empty() && is_of_host(results_[0])) put(root, 0);
      return;
    }
    int64_t first = 0;
    for (size_t r = 0; r < root.shape.elements.size(); ++r) {
      const int64_t count = leaf_count(root.shape.elements[r]);
      if (r < results_.size() && is_of_host(results_[r])) put_all(root, first, count);
      first += count;
    }
  }

  void put(const Instruction& i, int64_t leaf) {
    auto flag = out_.in_host_[out_.first_[i.id] + leaf];
    if (flag) return;
    flag = true;
    open_.push_back({&i, leaf});
  }

  /// Propagates host memory to readers of the value that share its memory space, and to its aliases.
  void follow(const Instruction& i, int64_t leaf) {
    for (const Instruction* user : uses_->of(i)) {
      int64_t before = 0;
      for (size_t o = 0; o < user->operands.size(); ++o) {
        if (user->operands[o] == &i) hand_on(*user, o, before, leaf);
        before += leaf_count(user->operands[o]->shape);
      }
    }
    if (const auto callers = callers_.find(i.parent); callers != callers_.end()) {
      for (const Instruction* caller : callers->second) {
        const bool is_result =
            &i == i.parent->root && (caller->opcode == Opcode::kCall || caller->opcode == Opcode::kConditional ||
                                     (caller->opcode == Opcode::kWhile && i.parent == caller->called[1]));
        if (is_result) put(*caller, leaf);
        if (caller->opcode == Opcode::kWhile && i.opcode == Opcode::kParameter) put(*caller, leaf);
      }
    }
    if (i.opcode == Opcode::kWhile) put_in_loop(i, leaf);
    if (i.opcode == Opcode::kDynamicUpdateSlice) put_start(i.operand(0), 0);
    if (i.opcode == Opcode::kGetTupleElement) {
      put_start(i.operand(0), leaf_offset(i.operand(0).shape, i.as<TupleIndexAttributes>().index) + leaf);
    }
    if (i.opcode == Opcode::kTuple || i.opcode == Opcode::kOptBarrier) put_operand(i, leaf);
  }

  void hand_on(const Instruction& user, size_t operand, int64_t before, int64_t leaf) {
    switch (user.opcode) {
      case Opcode::kTuple:
        if (&user != module_.entry->root || !says_results_) put(user, before + leaf);
        return;
      case Opcode::kReshape:
      case Opcode::kBitcast:
      case Opcode::kOptBarrier: return put(user, leaf);
      case Opcode::kGetTupleElement: {
        const int64_t first = leaf_offset(user.operand(0).shape, user.as<TupleIndexAttributes>().index);
        if (leaf >= first && leaf < first + leaf_count(user.shape)) put(user, leaf - first);
        return;
      }
      // If no calls move values, layouts tell: a slice or transpose of a host value is in device memory.
      case Opcode::kSlice:
      case Opcode::kDynamicSlice:
      case Opcode::kTranspose:
        if (operand == 0 && !is_spelt_) put(user, 0);
        return;
      case Opcode::kDynamicUpdateSlice:
        if (operand == 0 || (operand == 1 && !is_spelt_)) put(user, 0);
        return;
      case Opcode::kCustomCall:
        if (is_sharding_target(user.as<CustomCallAttributes>().target)) put(user, leaf);
        return;
      case Opcode::kWhile: return put(user, leaf);
      case Opcode::kCall:
        if (const Instruction* p = user.called[0]->parameters().at(operand)) put(*p, leaf);
        return;
      case Opcode::kConditional:
        if (operand == 0) return;
        if (const Instruction* p = user.called.at(operand - 1)->parameters().at(0)) put(*p, leaf);
        return;
      default: return;
    }
  }

  /// All values of a loop-carried element are in one memory: in the condition, in the body and around the loop.
  void put_in_loop(const Instruction& loop, int64_t leaf) {
    for (const Computation* called : loop.called) {
      for (const Instruction* p : called->parameters()) {
        if (p) put(*p, leaf);
      }
    }
    put(*loop.called.at(1)->root, leaf);
    put_start(loop.operand(0), leaf);
  }

  void put_operand(const Instruction& bundle, int64_t leaf) {
    for (const Instruction* operand : bundle.operands) {
      const int64_t count = leaf_count(operand->shape);
      if (leaf < count) return put_start(*operand, leaf);
      leaf -= count;
    }
  }

  /// The initial value of a stack in host memory is made there too, unless it has other readers.
  void put_start(const Instruction& i, int64_t leaf) {
    switch (i.opcode) {
      case Opcode::kBroadcast:
      case Opcode::kConstant:
      case Opcode::kDynamicUpdateSlice:
      case Opcode::kCustomCall:
        if (uses_->of(i).size() == 1 && host_move(i) == HostMove::kNone) put(i, leaf);
        return;
      case Opcode::kTuple:
      case Opcode::kGetTupleElement:
      case Opcode::kOptBarrier:
      case Opcode::kWhile: return put(i, leaf);
      case Opcode::kParameter:
        if (i.parent != module_.entry) put(i, leaf);
        return;
      default: return;
    }
  }

  const Module& module_;
  std::vector<std::string> arguments_, results_;  ///< memory kinds, if the program states them
  bool is_spelt_ = true;                          ///< no calls move values
  bool says_results_ = false;                     ///< the header states the memory of each result
  std::optional<Uses> uses_;
  std::unordered_map<const Computation*, std::vector<const Instruction*>> callers_;
  std::vector<std::pair<const Instruction*, int64_t>> open_;
  HostValues out_;
};

HostValues find_host_values(const Module& module) { return FindHostValues(module).run(); }

}  // namespace lowtide::engine
