#include "nest/legalise.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "nest/plain/expand.h"
#include "nest/plain/fold.h"

namespace lowtide::engine {
namespace {

/// Converts a constant of HLO to plain ones.
PlainValue plain_constant(PlainNest& nest, const Node& node, bool straight) {
  const auto make = [&](NodeId id) { return Plain{&nest, id, straight}; };
  const auto low = static_cast<uint32_t>(node.bits[0]), high = static_cast<uint32_t>(node.bits[0] >> 32);
  switch (node.type) {
    case ElementType::kC64:
      return {node.type, make(nest.constant(ElementType::kF32, {low, 0})),
              make(nest.constant(ElementType::kF32, {high, 0}))};
    case ElementType::kC128:
      return {node.type, make(nest.constant(ElementType::kF64, {node.bits[0], 0})),
              make(nest.constant(ElementType::kF64, {node.bits[1], 0}))};
    default: break;
  }
  const ElementType held = held_type(node.type);
  if (held != ElementType::kF32 || node.type == ElementType::kF32) {
    return {node.type, make(nest.constant(held, node.bits)), {}, {}};
  }
  const double value = dispatch(node.type, [&]<class T>() -> double {
    if constexpr (requires(T t) { t.bits; }) {
      T element;
      element.bits = static_cast<decltype(element.bits)>(node.bits[0]);
      return static_cast<float>(element);
    }
    return 0;
  });
  return {node.type, make(nest.number(held, value)), {}, {}};
}

/// Does folding give the same bits in any order? Sums of integers, extremes and logic do.
bool is_order_free(const Function& combine) {
  return std::ranges::all_of(combine.nodes, [](const Node& node) {
    if (node.kind == NodeKind::kFma) return false;
    if (node.kind != NodeKind::kOperation || (!is_floating(node.type) && !is_complex(node.type))) return true;
    return node.opcode == Opcode::kMaximum || node.opcode == Opcode::kMinimum || node.opcode == Opcode::kSelect;
  });
}

/// Rebuilds a nest, block by block in order.
class Legaliser {
 public:
  Legaliser(const Nest& from, const LegaliseOptions& options)
      : from_(from),
        values_(from.nodes.size()),
        made_(from.nodes.size()),
        in_order_(options.sums_in_order),
        contract_(!in_order_ && options.contract_products) {
    for (const NestBuffer& buffer : from.buffers) {
      nest_.add_buffer(plain_element(buffer.type), buffer.elements * plain_elements(buffer.type));
    }
    uses_.resize(from.nodes.size());
    count_uses();
    loops_.resize(from.loops.size(), kNoId);
    results_.resize(from.loops.size());
  }

  Nest run() {
    block(0);
    return nest_.take();
  }

 private:
  const Node& old(NodeId id) const { return from_.nodes[id]; }
  Plain plain(NodeId id) { return {&nest_, id, false}; }

  const PlainValue& value(NodeId id) {
    const auto at = static_cast<size_t>(id);
    if (!made_[at]) {
      PlainValue made = make(old(id));
      values_[at] = made;
      made_[at] = true;
    }
    return values_[at];
  }

  PlainValue make(const Node& node) {
    switch (node.kind) {
      case NodeKind::kConstant: return plain_constant(nest_, node, false);
      case NodeKind::kLoopIndex: return real(node.type, nest_.value_of(nest_.index_of(loop(node.loop))));
      case NodeKind::kAffine: return real(node.type, nest_.value_of(affine(node.affine)));
      case NodeKind::kFma: {
        const Plain a = value(node.operands[0]).re, b = value(node.operands[1]).re, c = value(node.operands[2]).re;
        return real(node.type, nest_.fma(a.id, b.id, c.id));
      }
      case NodeKind::kLoad: return load(node);
      case NodeKind::kCarried: return part_of(node, [&](int32_t slot) { return nest_.carried(loop(node.loop), slot); });
      case NodeKind::kResult: return part_of(node, [&](int32_t slot) { return results_[node.loop][slot]; });
      case NodeKind::kOperation: {
        if (const auto sum = contracted(node)) return real(node.type, sum->id);
        if (const auto sum = fused(node)) return real(node.type, sum->id);
        std::vector<PlainValue> operands;
        for (const NodeId operand : node.operands) operands.push_back(value(operand));
        return expand(node, operands);
      }
      case NodeKind::kTable:
      case NodeKind::kArgument: break;
    }
    LT_ASSERT(false, "an argument stands outside of a function, or a table is made before operations are plain");
    return {};
  }

  /// A product whose only use is a sum isn't rounded: x * y + z is rounded once, as in XLA:CPU. Because of this, random
  /// numbers between bounds have the same bits as JAX's.
  std::optional<Plain> contracted(const Node& node) {
    if (node.opcode != Opcode::kAdd && node.opcode != Opcode::kSubtract) return {};
    // Programs choose f64 for accuracy, not for speed.
    if (node.type != ElementType::kF32 || !contract_) return {};
    for (const size_t k : {0, 1}) {
      const Node& product = old(node.operands[k]);
      if (product.kind != NodeKind::kOperation || product.opcode != Opcode::kMultiply || product.type != node.type ||
          uses_[node.operands[k]] != 1 || old(node.operands[1 - k]).type != node.type) {
        continue;
      }
      if (adds_up_few(old(node.operands[1 - k]))) continue;
      const Plain made = value(node.operands[k]).re;
      Plain other = value(node.operands[1 - k]).re;
      // If a factor or the other term vanishes, there are simpler forms.
      if (made.node().kind != NodeKind::kOperation || made.node().opcode != Opcode::kMultiply) continue;
      if (other.is_constant() && (other.node().bits[0] << 1) == 0) continue;
      Plain x = made.with(made.node().operands[0]);
      const Plain y = made.with(made.node().operands[1]);
      if (node.opcode == Opcode::kSubtract) (k == 0 ? other : x) = -(k == 0 ? other : x);
      return fma(x, y, other);
    }
    return {};
  }

  /// f32(f64(x) * f64(y) + f64(z)), with which programs spell a fused multiply-add: it is one. The sum in double
  /// precision is rounded a second time, which gives another result about once in 2^29.
  std::optional<Plain> fused(const Node& node) {
    if (node.opcode != Opcode::kConvert || node.type != ElementType::kF32 || !contract_) return {};
    const Node& sum = old(node.operands[0]);
    if (sum.kind != NodeKind::kOperation || sum.type != ElementType::kF64) return {};
    if (sum.opcode != Opcode::kAdd && sum.opcode != Opcode::kSubtract) return {};
    for (const size_t k : {0, 1}) {
      const Node& product = old(sum.operands[k]);
      if (product.kind != NodeKind::kOperation || product.opcode != Opcode::kMultiply) continue;
      std::optional<Plain> x = narrow(product.operands[0]), other = narrow(sum.operands[1 - k]);
      const std::optional<Plain> y = narrow(product.operands[1]);
      if (!x || !y || !other) continue;
      if (sum.opcode == Opcode::kSubtract) (k == 0 ? other : x) = -(k == 0 ? *other : *x);
      return fma(*x, *y, *other);
    }
    return {};
  }

  /// The f32 number that an f64 is equal to, if it is widened or a constant.
  std::optional<Plain> narrow(NodeId wide) {
    const Node& node = old(wide);
    if (node.kind == NodeKind::kConstant) {
      const double number = std::bit_cast<double>(node.bits[0]);
      if (static_cast<double>(static_cast<float>(number)) != number) return {};
      return plain(nest_.number(ElementType::kF32, number));
    }
    const bool is_widened = node.kind == NodeKind::kOperation && node.opcode == Opcode::kConvert &&
                            old(node.operands[0]).type == ElementType::kF32;
    return is_widened ? std::optional(value(node.operands[0]).re) : std::nullopt;
  }

  /// Is this the partial sum of few terms? There the difference between one rounding and two doesn't average out, and
  /// shows when terms cancel.
  bool adds_up_few(const Node& node) const {
    constexpr int64_t kFew = 3;
    int64_t terms = 1;
    for (const Node* at = &node; at->kind == NodeKind::kCarried;) {
      const Loop& loop = from_.loops[at->loop];
      if (loop.extent > kFew) return false;
      terms *= std::max<int64_t>(loop.extent, 1);
      at = &old(loop.carried[at->slot].initial);
    }
    return node.kind == NodeKind::kCarried && terms <= kFew;
  }

  void count_uses() {
    const auto use = [&](NodeId id) {
      if (id != kNoId) ++uses_[id];
    };
    for (const Node& node : from_.nodes) {
      for (const NodeId operand : node.operands) use(operand);
    }
    for (const Store& store : from_.stores) use(store.value);
    for (const Loop& loop : from_.loops) {
      for (const Carried& carried : loop.carried) use(carried.initial), use(carried.next);
    }
  }

  PlainValue real(ElementType type, NodeId id) { return {type, plain(id), {}, {}}; }

  Affine affine(const Affine& a) {
    Affine sum{a.constant, {}};
    for (const auto& term : a.terms) {
      sum = nest_.plus(sum, nest_.times(nest_.affine(value(term.atom).re.id), term.coefficient));
    }
    return sum;
  }

  PlainValue load(const Node& node) {
    const NestBuffer& buffer = from_.buffers[node.buffer];
    // A load of an element that the nest may have written stays at its position.
    const bool fresh = buffer.read && buffer.written;
    const int64_t parts = plain_elements(node.type);
    const Affine at = nest_.times(affine(node.affine), parts);
    const auto part = [&](int64_t k) { return plain(nest_.load(node.buffer, nest_.plus(at, {k, {}}), fresh)); };
    if (parts == 2) return {node.type, part(0), part(1), {}};
    return from_stored(node.type, part(0));
  }

  /// The first slot of a loop-carried value when complex values occupy two slots.
  int32_t first_slot(int32_t of_loop, int32_t slot) const {
    int32_t first = 0;
    const Loop& loop = from_.loops[of_loop];
    for (int32_t k = 0; k < slot; ++k) {
      first += static_cast<int32_t>(plain_elements(loop.carried[k].type));
    }
    return first;
  }

  template <class F>
  PlainValue part_of(const Node& node, F&& at) {
    const int32_t first = first_slot(node.loop, node.slot);
    PlainValue result{node.type, plain(at(first)), {}, {}};
    if (plain_elements(node.type) == 2) result.im = plain(at(first + 1));
    return result;
  }

  int32_t loop(int32_t id) const { return loops_[id]; }

  void append(std::vector<NodeId>& parts, NodeId id) {
    const PlainValue& made = value(id);
    parts.push_back(made.re.id);
    if (is_complex(made.type)) parts.push_back(made.im.id);
  }

  void block(int32_t id) {
    for (const Item& item : from_.blocks[id].items) {
      switch (item.kind) {
        case Item::kNode: value(item.id); break;
        case Item::kStore: store(from_.stores[item.id]); break;
        case Item::kLoop: whole_loop(item.id); break;
      }
    }
  }

  void store(const Store& store) {
    const PlainValue& stored = value(store.value);
    const NodeId guard = store.guard == kNoId ? kNoId : value(store.guard).re.id;
    if (is_complex(stored.type)) {
      const Affine at = nest_.times(affine(store.index), 2);
      nest_.store(store.buffer, at, stored.re.id, guard);
      nest_.store(store.buffer, nest_.plus(at, {1, {}}), stored.im.id, guard);
    } else {
      nest_.store(store.buffer, affine(store.index), to_stored(stored).id, guard);
    }
  }

  void whole_loop(int32_t id) {
    const Loop& loop = from_.loops[id];
    std::vector<NodeId> initial, neutral, next;
    for (const Carried& carried : loop.carried) append(initial, carried.initial);
    int32_t& made = loops_[id];
    switch (loop.kind) {
      case LoopKind::kParallel: made = nest_.begin_parallel(loop.extent, loop.one_by_one); break;
      case LoopKind::kSequential: made = nest_.begin_sequential(loop.extent, initial); break;
      case LoopKind::kReduce:
        if (in_order_ && !is_order_free(*loop.combine)) {
          made = nest_.begin_sequential(loop.extent, initial);
          break;
        }
        for (const NodeId constant : loop.neutral) append(neutral, constant);
        made = nest_.begin_reduce(loop.extent, initial, function(*loop.combine), neutral);
        break;
      case LoopKind::kWhile:
        made = nest_.begin_while(initial);
        block(loop.head);
        nest_.begin_while_body(made, value(loop.condition).re.id);
        break;
    }
    block(loop.body);
    if (loop.kind == LoopKind::kParallel) return nest_.end_parallel(made);
    for (const Carried& carried : loop.carried) append(next, carried.next);
    results_[id] = nest_.end_carrying(made, next);
  }

  /// The function's nodes are made in a separate nest, in which its arguments are loads.
  static std::shared_ptr<const Function> function(const Function& from) {
    PlainNest nest(fold_plain);
    std::vector<PlainValue> values(from.nodes.size());
    std::vector<ElementType> arguments(static_cast<size_t>(from.argument_count), ElementType::kPred);
    for (const Node& node : from.nodes) {
      if (node.kind == NodeKind::kArgument) arguments[node.slot] = node.type;
    }
    std::vector<PlainValue> loads;
    for (const ElementType type : arguments) {
      const auto load = [&] {
        const int32_t buffer = nest.add_buffer(held_type(type), 1);
        return Plain{&nest, nest.load(buffer, {}), true};
      };
      PlainValue value{type, load(), {}, {}};
      if (is_complex(type)) value.im = load();
      loads.push_back(value);
    }
    std::vector<PlainValue> operands;
    for (size_t i = 0; i < from.nodes.size(); ++i) {
      const Node& node = from.nodes[i];
      operands.clear();
      for (const NodeId operand : node.operands) operands.push_back(values[operand]);
      switch (node.kind) {
        case NodeKind::kArgument: values[i] = loads[node.slot]; break;
        case NodeKind::kConstant: values[i] = plain_constant(nest, node, true); break;
        case NodeKind::kFma:
          values[i] = {node.type, fma(operands[0].re, operands[1].re, operands[2].re), {}, {}};
          break;
        case NodeKind::kAffine: {
          Affine sum{node.affine.constant, {}};
          for (const auto& term : node.affine.terms) {
            const NodeId atom = values[term.atom].re.id;
            sum = nest.plus(sum, nest.times(nest.affine(atom), term.coefficient));
          }
          values[i] = {node.type, Plain{&nest, nest.value_of(sum), true}, {}, {}};
          break;
        }
        case NodeKind::kOperation: values[i] = expand(node, operands); break;
        default: LT_ASSERT(false, "a function holds a loop or a load");
      }
    }
    std::vector<NodeId> results;
    for (const NodeId id : from.results) {
      const PlainValue& value = values[id];
      results.push_back(value.re.id);
      if (is_complex(value.type)) results.push_back(value.im.id);
    }
    return finished(nest.nest(), results);
  }

  /// The function of a nest's nodes that the results need; loads become arguments.
  static std::shared_ptr<const Function> finished(const Nest& nest, std::span<const NodeId> results) {
    std::vector<bool> needed(nest.nodes.size());
    for (const NodeId id : results) needed[id] = true;
    for (size_t i = nest.nodes.size(); i-- > 0;) {
      if (!needed[i]) continue;
      for (const NodeId operand : nest.nodes[i].operands) needed[operand] = true;
      for (const auto& term : nest.nodes[i].affine.terms) needed[term.atom] = true;
    }
    auto function = std::make_shared<Function>();
    function->argument_count = static_cast<int32_t>(nest.buffers.size());
    std::vector<NodeId> moved(nest.nodes.size(), kNoId);
    for (size_t i = 0; i < nest.nodes.size(); ++i) {
      if (!needed[i]) continue;
      Node node = nest.nodes[i];
      if (node.kind == NodeKind::kLoad) {
        node = Node{.kind = NodeKind::kArgument, .type = node.type, .slot = node.buffer};
      }
      for (NodeId& operand : node.operands) operand = moved[operand];
      for (auto& term : node.affine.terms) term.atom = moved[term.atom];
      moved[i] = static_cast<NodeId>(function->nodes.size());
      function->nodes.push_back(std::move(node));
    }
    for (const NodeId id : results) function->results.push_back(moved[id]);
    return function;
  }

  const Nest& from_;
  PlainNest nest_{fold_plain};
  std::vector<PlainValue> values_;
  std::vector<bool> made_;
  std::vector<int> uses_;  // per old node: as an operand, stored or carried
  const bool in_order_;
  const bool contract_;
  std::vector<int32_t> loops_;                // per old loop
  std::vector<std::vector<NodeId>> results_;  // per old loop
};

}  // namespace

Nest legalise(const Nest& nest, const LegaliseOptions& options) { return Legaliser(nest, options).run(); }

}  // namespace lowtide::engine
