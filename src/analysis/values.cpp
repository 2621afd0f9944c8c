#include "analysis/values.h"

#include <algorithm>

#include "analysis/in_place.h"
#include "ops/sharding_calls.h"

namespace lowtide::engine {
namespace {

class FindValues {
 public:
  FindValues(const Module& module, const Leaves& leaves, const Timeline& timeline, const Donation& donation,
             const ValueOptions& options)
      : module_(module), leaves_(leaves), timeline_(timeline), donation_(donation), options_(options) {
    const auto count = static_cast<size_t>(timeline.leaf_limit);
    out_.of_leaf.resize(count);
    for (size_t l = 0; l < count; ++l) out_.of_leaf[l] = static_cast<int32_t>(l);
    out_.step_of.assign(count, kNoStep);
  }

  Values run() {
    for (size_t s = 0; s < timeline_.steps.size(); ++s) {
      step_ = static_cast<Step>(s);
      frame_ = &timeline_.frames[timeline_.frame_of[s]];
      const Instruction& i = *timeline_.steps[s].instruction;
      const int32_t first = leaf(*frame_, i, 0);
      for (int32_t l = 0; l < leaves_.count(i); ++l) out_.step_of[first + l] = step_;
      visit(i);
    }
    tie_donated();
    for (size_t l = 0; l < out_.of_leaf.size(); ++l) out_.of_leaf[l] = find(static_cast<int32_t>(l));
    for (auto& [a, b] : out_.tied) a = find(a), b = find(b);
    for (const auto& [value, before] : continued_) out_.continues.emplace(find(value), find(before));
    std::erase_if(out_.tied, [](const auto& pair) { return pair.first == pair.second; });
    return std::move(out_);
  }

 private:
  int32_t leaf(const Frame& frame, const Instruction& i, int64_t l) const {
    return frame.first_leaf + leaves_.first(i) + static_cast<int32_t>(l);
  }
  int32_t here(const Instruction& i, int64_t l) const { return leaf(*frame_, i, l); }

  int32_t find(int32_t l) {
    while (out_.of_leaf[l] != l) {
      int32_t& up = out_.of_leaf[l];
      up = out_.of_leaf[up];
      l = up;
    }
    return l;
  }
  /// Makes `name` an alias of the value at `source`.
  void forward(int32_t name, int32_t source) {
    const int32_t root = find(source);
    if (root != find(name)) out_.of_leaf[find(name)] = root;
  }
  /// Makes leaves [to, to + count) of i aliases of those of the operand from `from` on.
  void forward_leaves(const Instruction& i, int64_t to, const Instruction& operand, int64_t from, int64_t count) {
    count = std::min({count, leaves_.count(i) - to, leaves_.count(operand) - from});
    for (int64_t l = 0; l < count; ++l) forward(here(i, to + l), here(operand, from + l));
  }

  void visit(const Instruction& i) {
    switch (i.opcode) {
      case Opcode::kParameter: parameter(i); break;
      case Opcode::kTuple: {
        int64_t to = 0;
        for (const Instruction* operand : i.operands) {
          forward_leaves(i, to, *operand, 0, leaves_.count(*operand));
          to += leaves_.count(*operand);
        }
        break;
      }
      case Opcode::kGetTupleElement:
        if (const auto* a = i.if_as<TupleIndexAttributes>(); a && !i.operands.empty()) {
          forward_leaves(i, 0, *i.operands[0], leaf_offset(i.operands[0]->shape, a->index), leaves_.count(i));
        }
        break;
      case Opcode::kReshape:
        if (!options_.reshape_is_view) break;
        [[fallthrough]];
      case Opcode::kBitcast:
      case Opcode::kOptBarrier:
      case Opcode::kDomain:
      case Opcode::kAddDependency:
      case Opcode::kAsyncUpdate:
      case Opcode::kCopyDone:
      case Opcode::kAllReduceDone:
      case Opcode::kRecvDone:
        if (!i.operands.empty()) forward_leaves(i, 0, *i.operands[0], 0, leaves_.count(i));
        break;
      case Opcode::kCopyStart:  // (destination, source, context)
        if (!i.operands.empty()) forward_leaves(i, 1, *i.operands[0], 0, 1);
        break;
      case Opcode::kSend:
        if (!i.operands.empty()) forward_leaves(i, 0, *i.operands[0], 0, leaves_.count(*i.operands[0]));
        break;
      case Opcode::kAllGatherStart:
      case Opcode::kCollectivePermuteStart:
      case Opcode::kAsyncStart: start(i); break;
      case Opcode::kAllGatherDone:
      case Opcode::kCollectivePermuteDone:
      case Opcode::kAsyncDone:
        if (!i.operands.empty() && i.operands[0]->shape.is_tuple()) {
          const Instruction& begun = *i.operands[0];
          forward_leaves(i, 0, begun, leaf_offset(begun.shape, 1), leaves_.count(i));
        }
        break;
      case Opcode::kCall: call(i); break;
      case Opcode::kCustomCall:
        if (names_its_operands(i)) {
          for (size_t o = 0; o < i.operands.size(); ++o) {
            forward_leaves(i, static_cast<int64_t>(o), *i.operands[o], 0, 1);
          }
          break;
        }
        update(i);
        break;
      case Opcode::kWhile: loop(i); break;
      case Opcode::kConditional: conditional(i); break;
      default: update(i);
    }
  }

  void update(const Instruction& i) {
    for (const InPlacePair& pair : updates_of(i)) {
      if (pair.result < leaves_.count(i) && pair.leaf < leaves_.count(*i.operands[pair.operand])) {
        tie(here(i, pair.result), here(*i.operands[pair.operand], pair.leaf));
      }
    }
  }

  void tie(int32_t a, int32_t b) { out_.tied.emplace_back(a, b); }

  /// A callee's parameter is an alias of the operand; a loop's carry is a separate value until the body's end is known.
  void parameter(const Instruction& i) {
    const auto* a = i.if_as<ParameterAttributes>();
    if (!frame_->caller || !a || a->number < 0) return;
    const Instruction& caller = *frame_->caller;
    const Frame& outside = timeline_.frames[frame_->parent];
    if (caller.opcode == Opcode::kWhile) return;
    const int64_t number = caller.opcode == Opcode::kConditional ? frame_->callee + 1 : a->number;
    if (number >= static_cast<int64_t>(caller.operands.size())) return;
    const Instruction& operand = *caller.operands[number];
    const int32_t count = std::min(leaves_.count(i), leaves_.count(operand));
    for (int32_t l = 0; l < count; ++l) forward(here(i, l), leaf(outside, operand, l));
  }

  /// An async-start gives ((operands), (results), context...): operands stay live until the end of the pair.
  void start(const Instruction& i) {
    if (!i.shape.is_tuple()) return;
    int64_t to = 0;
    const int64_t results = leaf_offset(i.shape, 1);
    for (const Instruction* operand : i.operands) {
      const int64_t count = std::min<int64_t>(leaves_.count(*operand), results - to);
      forward_leaves(i, to, *operand, 0, count);
      to += leaves_.count(*operand);
      if (to >= results) break;
    }
    for (const int32_t callee : timeline_.callees(step_)) {
      if (callee < 0) continue;
      const Frame& inside = timeline_.frames[callee];
      const Instruction* root = inside.computation->root;
      if (!root) continue;
      const int64_t count = std::min<int64_t>(leaves_.count(*root), leaves_.count(i) - results);
      for (int64_t l = 0; l < count; ++l) forward(here(i, results + l), leaf(inside, *root, l));
    }
  }

  void call(const Instruction& i) {
    for (const int32_t callee : timeline_.callees(step_)) {
      if (callee < 0) continue;
      const Frame& inside = timeline_.frames[callee];
      const Instruction* root = inside.computation->root;
      if (!root) continue;
      const int32_t count = std::min(leaves_.count(i), leaves_.count(*root));
      for (int32_t l = 0; l < count; ++l) forward(here(i, l), leaf(inside, *root, l));
    }
  }

  const Instruction* only_parameter(const Frame& frame) const {
    for (const auto& i : frame.computation->instructions()) {
      if (i->opcode == Opcode::kParameter) return i.get();
    }
    return nullptr;
  }

  /// while: condition and body each read the carry; one that the body returns unchanged aliases the initial value.
  void loop(const Instruction& i) {
    if (i.operands.empty()) return;
    const Instruction& init = *i.operands[0];
    const Frame *condition = nullptr, *body = nullptr;
    for (const int32_t callee : timeline_.callees(step_)) {
      if (callee < 0) continue;
      const Frame& inside = timeline_.frames[callee];
      (inside.callee == 0 ? condition : body) = &inside;
    }
    const Instruction* test_carry = condition ? only_parameter(*condition) : nullptr;
    const Instruction* carry = body ? only_parameter(*body) : nullptr;
    const Instruction* root = body ? body->computation->root : nullptr;
    const int32_t count = std::min(leaves_.count(i), leaves_.count(init));
    for (int32_t l = 0; l < count; ++l) {
      const int32_t initial = here(init, l), result = here(i, l);
      const bool inside = carry && root && l < leaves_.count(*carry) && l < leaves_.count(*root);
      const bool tested = test_carry && l < leaves_.count(*test_carry);
      const bool untouched = inside && find(leaf(*body, *root, l)) == find(leaf(*body, *carry, l));
      if (untouched) {
        forward(leaf(*body, *carry, l), initial);
        if (tested) forward(leaf(*condition, *test_carry, l), initial);
        forward(result, initial);
        continue;
      }
      tie(result, initial);
      if (tested && options_.tests_initial) {
        forward(leaf(*condition, *test_carry, l), initial);
      } else if (tested) {
        tie(result, leaf(*condition, *test_carry, l));
      }
      if (inside) {
        tie(result, leaf(*body, *carry, l));
        tie(result, leaf(*body, *root, l));
        continued_.emplace_back(leaf(*body, *carry, l), initial);
        continued_.emplace_back(result, leaf(*body, *root, l));
      }
    }
  }

  void conditional(const Instruction& i) {
    for (int32_t l = 0; l < leaves_.count(i); ++l) {
      int32_t same = -1;
      bool all_same = true;
      std::vector<int32_t> branches;
      for (const int32_t callee : timeline_.callees(step_)) {
        if (callee < 0) {
          all_same = false;
          continue;
        }
        const Frame& inside = timeline_.frames[callee];
        const Instruction* root = inside.computation->root;
        if (!root || l >= leaves_.count(*root)) continue;
        const int32_t value = find(leaf(inside, *root, l));
        branches.push_back(value);
        all_same = all_same && (same < 0 || same == value);
        same = value;
      }
      if (all_same && same >= 0) {
        forward(here(i, l), same);
        continue;
      }
      for (const int32_t value : branches) {
        tie(here(i, l), value);
        continued_.emplace_back(here(i, l), value);
      }
    }
  }

  void tie_donated() {
    if (timeline_.frames.empty() || !module_.entry->root) return;
    for (const Donation::Pair& pair : donation_.pairs) {
      tie(pair.argument, leaf(timeline_.frames[0], *module_.entry->root, pair.result));
    }
  }

  const Module& module_;
  const Leaves& leaves_;
  const Timeline& timeline_;
  const Donation& donation_;
  const ValueOptions& options_;
  const Frame* frame_ = nullptr;
  Step step_ = 0;
  std::vector<std::pair<int32_t, int32_t>> continued_;  ///< leaves: of `continues`
  Values out_;
};

}  // namespace

Values find_values(const Module& module, const Leaves& leaves, const Timeline& timeline, const Donation& donation,
                   const ValueOptions& options) {
  return FindValues(module, leaves, timeline, donation, options).run();
}

}  // namespace lowtide::engine
