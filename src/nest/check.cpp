#include <fmt/format.h>

#include "nest/nest.h"

namespace lowtide::engine {
namespace {

class Checker {
 public:
  explicit Checker(const Nest& nest) : nest_(nest), known_(nest.nodes.size()), begun_(nest.loops.size()) {}

  std::string run() {
    if (nest_.blocks.empty()) return "a nest has no block";
    for (size_t n = 0; n < nest_.nodes.size(); ++n) {
      if (nest_.nodes[n].kind == NodeKind::kConstant) known_[n] = true;
    }
    block(0);
    return fault_;
  }

 private:
  void fail(std::string fault) {
    if (fault_.empty()) fault_ = std::move(fault);
  }
  bool is_node(NodeId id) const { return id >= 0 && static_cast<size_t>(id) < nest_.nodes.size(); }
  const Node& node(NodeId id) const { return nest_.nodes[id]; }

  void use(NodeId id, const std::string& where) {
    if (!is_node(id)) return fail(fmt::format("{} names node {}, which isn't there", where, id));
    if (!known_[id]) fail(fmt::format("{} uses node {} where it isn't known", where, id));
  }
  void use(const Affine& sum, const std::string& where) {
    NodeId last = kNoId;
    for (const auto& term : sum.terms) {
      use(term.atom, where);
      if (!fault_.empty()) return;
      if (term.coefficient == 0) fail(where + " has a term of coefficient zero");
      if (term.atom <= last) fail(where + " has terms out of order");
      if (node(term.atom).type != ElementType::kS64) fail(where + " has an atom that is no s64");
      last = term.atom;
    }
  }
  void define(NodeId id) {
    known_[id] = true;
    defined_.push_back(id);
  }
  void buffer(int32_t id, const std::string& where, ElementType type) {
    if (id < 0 || static_cast<size_t>(id) >= nest_.buffers.size())
      return fail(where + " names a buffer that isn't there");
    if (nest_.buffers[id].type != type) fail(where + " and its buffer differ in type");
  }

  void item(NodeId id) {
    if (!is_node(id)) return fail(fmt::format("an item names node {}, which isn't there", id));
    const Node& made = node(id);
    const std::string where = fmt::format("node {}", id);
    for (const NodeId operand : made.operands) use(operand, where);
    use(made.affine, where);
    if (made.least > made.greatest) fail(where + " has bounds that exclude every value");
    switch (made.kind) {
      case NodeKind::kLoad: buffer(made.buffer, where, made.type); break;
      case NodeKind::kAffine:
        if (made.type != ElementType::kS64) fail(where + " is affine but no s64");
        break;
      case NodeKind::kFma:
        if (!is_wide_float(made.type)) fail(where + " is an fma of other types");
        break;
      case NodeKind::kOperation: break;
      case NodeKind::kTable: table(made, where); break;
      default: fail(where + " is an item, though it is known without being computed");
    }
    define(id);
  }

  void table(const Node& made, const std::string& where) {
    if (!made.table || made.operands.size() != 1 || !is_integral(node(made.operands[0]).type)) {
      return fail(where + " is no table of an integer");
    }
    const Node& index = node(made.operands[0]);
    const auto size = static_cast<int64_t>(made.table->elements.size());
    if (index.least < made.table->first || index.greatest - made.table->first >= size) {
      fail(where + " is a table without an element for every index");
    }
  }

  void block(int32_t id) {
    if (id < 0 || static_cast<size_t>(id) >= nest_.blocks.size()) return fail("a loop has a block that isn't there");
    for (const Item& in : nest_.blocks[id].items) {
      if (!fault_.empty()) return;
      switch (in.kind) {
        case Item::kNode: item(in.id); break;
        case Item::kStore: store(in.id); break;
        case Item::kLoop: loop(in.id); break;
      }
    }
  }

  void store(int32_t id) {
    const Store& made = nest_.stores[id];
    const std::string where = fmt::format("store {}", id);
    use(made.index, where);
    use(made.value, where);
    if (made.guard != kNoId) {
      use(made.guard, where);
      if (fault_.empty() && node(made.guard).type != ElementType::kPred)
        fail(where + " has a guard that is no predicate");
    }
    if (fault_.empty()) buffer(made.buffer, where, node(made.value).type);
  }

  void loop(int32_t id) {
    if (begun_[id]) return fail(fmt::format("loop {} stands in two places", id));
    begun_[id] = true;
    const Loop& of = nest_.loops[id];
    const std::string where = fmt::format("loop {}", id);
    for (const Carried& carried : of.carried) use(carried.initial, where);
    if (of.kind == LoopKind::kParallel && !of.carried.empty()) fail(where + " is parallel, but carries values");
    if (of.kind == LoopKind::kReduce &&
        (!of.combine || of.combine->argument_count != 2 * static_cast<int32_t>(of.carried.size()) ||
         of.combine->results.size() != of.carried.size())) {
      fail(where + " reduces without a function of its accumulators");
    }
    if ((of.kind == LoopKind::kWhile) != (of.head != kNoId)) fail(where + " has a head, or none, against its kind");
    if (!fault_.empty()) return;
    const size_t before = defined_.size();
    // the index and the carried values are known inside
    for (size_t n = 0; n < nest_.nodes.size(); ++n) {
      const Node& inside = nest_.nodes[n];
      if (inside.loop != id || (inside.kind != NodeKind::kLoopIndex && inside.kind != NodeKind::kCarried)) continue;
      if (inside.kind == NodeKind::kLoopIndex
              ? of.index != static_cast<NodeId>(n)
              : static_cast<size_t>(inside.slot) >= of.carried.size() || of.carried[inside.slot].type != inside.type) {
        fail(fmt::format("node {} is no index or carried value of {}", n, where));
      }
      define(static_cast<NodeId>(n));
    }
    if (of.head != kNoId) {
      block(of.head);
      if (fault_.empty()) use(of.condition, where);
      if (fault_.empty() && node(of.condition).type != ElementType::kPred)
        fail(where + " has a condition that is no predicate");
    }
    if (fault_.empty()) block(of.body);
    for (const Carried& carried : of.carried) {
      if (!fault_.empty()) return;
      use(carried.next, where);
      if (fault_.empty() && (node(carried.next).type != carried.type || node(carried.initial).type != carried.type)) {
        fail(where + " carries a value whose type changes");
      }
    }
    for (; defined_.size() > before; defined_.pop_back()) known_[defined_.back()] = false;
    for (size_t n = 0; n < nest_.nodes.size(); ++n) {
      if (nest_.nodes[n].kind == NodeKind::kResult && nest_.nodes[n].loop == id) define(static_cast<NodeId>(n));
    }
  }

  const Nest& nest_;
  std::vector<bool> known_, begun_;
  std::vector<NodeId> defined_;  // so far, in order; a block's definitions are dropped after it
  std::string fault_;
};

}  // namespace

std::string check_nest(const Nest& nest) { return Checker(nest).run(); }

}  // namespace lowtide::engine
