#include "ops/tabulate.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "nest/compact.h"
#include "ops/evaluate.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kMostElements = 256;
constexpr int kMostBits = 32;         // of a table's element
constexpr int kLeastOperations = 24;  // that a table must replace: a look-up in the largest table costs about as much
constexpr size_t kMostSources = 8;    // that are recorded per node

int operations_of(const Node& node) {
  if (node.kind != NodeKind::kOperation) return 1;
  switch (node.opcode) {
    case Opcode::kBitcastConvert: return 0;
    case Opcode::kDivide:
    case Opcode::kRemainder:
    case Opcode::kSqrt: return 8;
    default: return 1;
  }
}

class Tabulation {
 public:
  explicit Tabulation(const Nest& nest) : nest_(nest), sources_(nest.nodes.size()), needed_(nest.nodes.size()) {}

  Nest run() {
    bool any = false;
    for (size_t n = 0; n < nest_.nodes.size(); ++n) any = find_sources(n) || any;
    if (!any) return std::move(nest_);
    mark_roots();
    any = false;
    for (size_t n = nest_.nodes.size(); n-- > 0;) {
      if (!needed_[n]) continue;
      const NodeId source = best_source(n);
      if (source != kNoId && make_table(n, source)) any = true;
      for (const NodeId operand : nest_.nodes[n].operands) need(operand);
    }
    return any ? without_dead_parts(std::move(nest_)) : std::move(nest_);
  }

 private:
  const Node& node(NodeId id) const { return nest_.nodes[id]; }
  static bool is_link(const Node& node) { return node.kind == NodeKind::kOperation || node.kind == NodeKind::kFma; }
  static int64_t values_of(const Node& node) {
    if (!is_integral(node.type) || node.least <= -(int64_t{1} << 62) || node.greatest >= int64_t{1} << 62)
      return INT64_MAX;
    return node.greatest - node.least + 1;
  }

  /// Records the node's sources, ascending: each is a node that alone determines it, including itself if it has few
  /// values. Returns whether there is another one.
  bool find_sources(size_t id) {
    const Node& made = nest_.nodes[id];
    if (made.kind == NodeKind::kConstant) return false;
    std::vector<NodeId>& sources = sources_[id];
    if (is_link(made)) {
      bool first = true;
      for (const NodeId operand : made.operands) {
        if (node(operand).kind == NodeKind::kConstant) continue;
        const std::vector<NodeId>& of = sources_[operand];
        if (first) {
          sources = of;
        } else {
          std::erase_if(sources, [&](NodeId s) { return !std::binary_search(of.begin(), of.end(), s); });
        }
        first = false;
      }
    }
    const bool any = !sources.empty();
    if (values_of(made) <= kMostElements) sources.push_back(static_cast<NodeId>(id));
    if (sources.size() > kMostSources) sources.erase(sources.begin());
    return any;
  }

  void need(NodeId id) {
    if (id != kNoId) needed_[id] = true;
  }
  void mark_roots() {
    for (const Node& made : nest_.nodes) {
      for (const auto& term : made.affine.terms) need(term.atom);
    }
    for (const Store& store : nest_.stores) {
      need(store.value), need(store.guard);
      for (const auto& term : store.index.terms) need(term.atom);
    }
    for (const Loop& loop : nest_.loops) {
      need(loop.condition);
      for (const Carried& carried : loop.carried) need(carried.initial), need(carried.next);
    }
  }

  /// The source with the fewest values, if tabulating the node by it is worthwhile; kNoId: none.
  NodeId best_source(size_t id) const {
    const Node& made = nest_.nodes[id];
    const bool has_type = type_bits(made.type) <= kMostBits && made.type != ElementType::kF16;
    if (!is_link(made) || !has_type || made.block == 0) return kNoId;
    NodeId best = kNoId;
    for (const NodeId source : sources_[id]) {
      if (source == static_cast<NodeId>(id)) continue;
      if (best == kNoId || values_of(node(source)) <= values_of(node(best))) best = source;
    }
    return best != kNoId && chain(id, best, kLeastOperations).empty() ? best : kNoId;
  }

  /// The nodes after the source up to node `id`, ascending; empty if they cost `limit` operations or more.
  std::vector<NodeId> chain(size_t id, NodeId source, int limit) const {
    std::vector<NodeId> nodes{static_cast<NodeId>(id)};
    int operations = 0;
    for (size_t at = 0; at < nodes.size(); ++at) {
      operations += operations_of(node(nodes[at]));
      if (operations >= limit) return {};
      for (const NodeId operand : node(nodes[at]).operands) {
        if (operand == source || node(operand).kind == NodeKind::kConstant) continue;
        if (std::find(nodes.begin(), nodes.end(), operand) == nodes.end()) nodes.push_back(operand);
      }
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }

  Value repeated(const Node& constant, int64_t times) const {
    auto array = std::make_shared<Literal>(Shape::array(constant.type, {times}));
    const auto bytes = static_cast<size_t>(stored_bytes(constant.type));
    for (size_t i = 0; i < static_cast<size_t>(times); ++i) {
      std::memcpy(array->bytes().data() + i * bytes, constant.bits.data(), bytes);
    }
    return array;
  }

  bool make_table(size_t id, NodeId source) {
    Node& made = nest_.nodes[id];
    const Node& index = node(source);
    const int64_t count = values_of(index);
    std::unordered_map<NodeId, Value> values;
    auto numbers = std::make_shared<Literal>(Shape::array(index.type, {count}));
    const auto index_bytes = static_cast<size_t>(stored_bytes(index.type));
    for (int64_t i = 0; i < count; ++i) {
      const ElementBits bits = bits_of_integer(index.type, index.least + i);
      std::memcpy(numbers->bytes().data() + static_cast<size_t>(i) * index_bytes, bits.data(), index_bytes);
    }
    values[source] = numbers;
    std::vector<Value> operands;
    for (const NodeId link : chain(id, source, INT32_MAX)) {
      operands.clear();
      for (const NodeId operand : node(link).operands) {
        Value& value = values[operand];
        if (!value) value = repeated(node(operand), count);
        operands.push_back(value);
      }
      const auto result = evaluate_all(node(link), operands);
      if (!result) return false;
      values[link] = *result;
    }
    Table table{index.least, std::vector<uint64_t>(static_cast<size_t>(count))};
    const auto bytes = static_cast<size_t>(stored_bytes(made.type));
    const Value& result = values[static_cast<NodeId>(id)];
    for (size_t i = 0; i < table.elements.size(); ++i) {
      std::memcpy(&table.elements[i], result->bytes().data() + i * bytes, bytes);
    }
    made.kind = NodeKind::kTable;
    made.operands = {source};
    made.table = std::make_shared<const Table>(std::move(table));
    return true;
  }

  Nest nest_;
  std::vector<std::vector<NodeId>> sources_;  // per node
  std::vector<bool> needed_;
};

}  // namespace

Nest tabulate(const Nest& nest) { return Tabulation(nest).run(); }

}  // namespace lowtide::engine
