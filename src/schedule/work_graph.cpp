#include "schedule/work_graph.h"

#include <algorithm>

#include "analysis/leaves.h"

namespace lowtide::engine {
namespace {

class MakeWorkGraph {
 public:
  MakeWorkGraph(const Computation& computation, const std::vector<const Work*>& order, ValueTable& values,
                const std::unordered_map<const Computation*, int64_t>& inside_of, const SideEffects& effects,
                OrderRules rules)
      : computation_(computation),
        order_(order),
        values_(values),
        inside_of_(inside_of),
        effects_(effects),
        rules_(rules) {}

  WorkGraph run() {
    int32_t last_in_order = kNoId;
    for (const Work* w : order_) {
      if (w->kind == WorkKind::kView) continue;
      const auto n = static_cast<int32_t>(graph_.nodes.size());
      graph_.nodes.push_back(w);
      graph_.before.emplace_back();
      graph_.after.emplace_back();
      graph_.reads.emplace_back();
      graph_.writes.emplace_back();
      graph_.inside.push_back(0);
      for (const LeafRef& in : inputs_of(*w)) read(n, values_.of(in));
      for (const LeafRef& out : outputs_of(*w)) write(n, values_.of(out));
      if (w->kind == WorkKind::kControl) {
        for (const Computation* c : w->instruction->called) {
          const auto inside = inside_of_.find(c);
          if (inside != inside_of_.end()) graph_.inside.back() = std::max(graph_.inside.back(), inside->second);
        }
      }
      const bool effect = w->instruction != nullptr && effects_.has(*w->instruction);
      const bool is_other = w->kind == WorkKind::kOther;
      if (effect || (is_other && rules_ == OrderRules::kAsGiven)) {
        if (last_in_order != kNoId) edge(last_in_order, n);
        last_in_order = n;
      }
      if (is_other && !effect) ++graph_.without_effect;
    }
    for (int64_t l = 0; l < leaf_count(computation_.root->shape); ++l) {
      graph_.stays[number(values_.of(computation_.root, l))] = true;
    }
    spare_values();
    for (auto* edges : {&graph_.before, &graph_.after}) {
      for (auto& list : *edges) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
      }
    }
    return std::move(graph_);
  }

 private:
  void spare_values() {
    const Instruction* caller = values_.caller(computation_);
    const bool loop = caller && caller->opcode == Opcode::kWhile;
    for (const auto& [v, n] : number_) {
      const auto value = static_cast<size_t>(n);
      const Instruction* from = values_.ref(v).instruction;
      const bool outside = writer_[value] == kNoId;
      const bool argument = from->opcode == Opcode::kParameter && from->parent == computation_.module().entry;
      if (argument || from->opcode == Opcode::kConstant || (!caller && graph_.stays[value]) ||
          (loop && outside && from != caller)) {
        graph_.bytes[value] = 0;
      }
    }
  }

  static std::vector<LeafRef> inputs_of(const Work& w) {
    if (w.kind != WorkKind::kRegion) return operand_leaves(*w.instruction);
    std::vector<LeafRef> in = w.region.inputs;
    for (const LeafRef& u : w.region.updates) {
      if (u.instruction) in.push_back(u);
    }
    return in;
  }

  static std::vector<LeafRef> outputs_of(const Work& w) {
    if (w.kind == WorkKind::kRegion) return w.region.outputs;
    std::vector<LeafRef> out;
    for (int64_t l = 0; l < leaf_count(w.instruction->shape); ++l)
      out.push_back({w.instruction, static_cast<int32_t>(l)});
    return out;
  }

  int32_t number(ValueId v) {
    const auto [known, fresh] = number_.try_emplace(v, static_cast<int32_t>(graph_.bytes.size()));
    if (fresh) {
      graph_.bytes.push_back(values_.bytes(v));
      graph_.stays.push_back(false);
      writer_.push_back(kNoId);
    }
    return known->second;
  }

  void edge(int32_t from, int32_t to) {
    if (from == to) return;
    graph_.before[to].push_back(from);
    graph_.after[from].push_back(to);
  }

  void read(int32_t n, ValueId v) {
    const int32_t value = number(v);
    auto& reads = graph_.reads[n];
    if (std::find(reads.begin(), reads.end(), value) != reads.end()) return;
    reads.push_back(value);
    if (writer_[value] != kNoId) edge(writer_[value], n);
  }

  void write(int32_t n, ValueId v) {
    const int32_t value = number(v);
    // A loop doesn't compute a value that it passes through.
    if (writer_[value] != kNoId) return;
    const auto& reads = graph_.reads[n];
    if (std::find(reads.begin(), reads.end(), value) != reads.end()) return;
    writer_[value] = n;
    graph_.writes[n].push_back(value);
  }

  const Computation& computation_;
  const std::vector<const Work*>& order_;
  ValueTable& values_;
  const std::unordered_map<const Computation*, int64_t>& inside_of_;
  const SideEffects& effects_;
  const OrderRules rules_;
  WorkGraph graph_;
  std::unordered_map<ValueId, int32_t> number_;
  std::vector<int32_t> writer_;
};

}  // namespace

WorkGraph make_work_graph(const Computation& computation, const std::vector<const Work*>& order, ValueTable& values,
                          const std::unordered_map<const Computation*, int64_t>& inside_of, const SideEffects& effects,
                          OrderRules rules) {
  return MakeWorkGraph(computation, order, values, inside_of, effects, rules).run();
}

ModelledPeak modelled_peak(const WorkGraph& graph, const std::vector<int32_t>& order) {
  std::vector<int32_t> left(graph.bytes.size(), 0);
  for (const auto& reads : graph.reads) {
    for (const int32_t v : reads) ++left[v];
  }
  for (size_t v = 0; v < left.size(); ++v) left[v] += graph.stays[v] ? 1 : 0;
  // Values from outside are live in any order, until their last reader.
  std::vector<bool> made(graph.bytes.size(), false);
  for (const auto& writes : graph.writes) {
    for (const int32_t v : writes) made[v] = true;
  }
  int64_t live = 0;
  ModelledPeak peak;
  std::vector<int64_t> alone;  // bytes of the results at a step that alias no operand yet
  for (size_t v = 0; v < left.size(); ++v) live += made[v] ? 0 : graph.bytes[v];
  for (size_t at = 0; at < order.size(); ++at) {
    const int32_t n = order[at];
    const auto node = static_cast<size_t>(n);
    int64_t makes = 0, shares = 0, frees = 0;
    alone.clear();
    for (const int32_t v : graph.writes[node]) {
      makes += graph.bytes[v];
      if (graph.bytes[v] > 0) alone.push_back(graph.bytes[v]);
    }
    for (const int32_t v : graph.reads[node]) {
      if (--left[v] > 0) continue;
      const int64_t bytes = graph.bytes[v];
      frees += bytes;
      const auto result = std::ranges::find(alone, bytes);
      if (result == alone.end()) continue;
      shares += bytes;
      *result = 0;
    }
    const int64_t now = live + makes - shares + graph.inside[node];
    if (now > peak.bytes) peak = {now, static_cast<int32_t>(at)};
    live += makes - frees;
    for (const int32_t v : graph.writes[node]) {
      if (left[v] == 0) live -= graph.bytes[v];
    }
  }
  return peak;
}

}  // namespace lowtide::engine
