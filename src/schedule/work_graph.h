#pragma once
/// One computation's work as a graph, for choosing an order: who must run before whom, and what each step makes and
/// frees in the arena.

#include "ir/side_effects.h"
#include "schedule/flow.h"

namespace lowtide::engine {

/// What must run in the order given though no value says so: what has effects; beside it also what nobody here looks
/// into, collectives and calls of others. Their order is free, as long as all devices have the same, and all run the
/// same plan; but they often stand where somebody wanted them, which is a good place to search from.
enum class OrderRules : uint8_t { kEffects, kAsGiven };

struct WorkGraph {
  std::vector<const Work*> nodes;                   ///< in the order given; views left out
  std::vector<std::vector<int32_t>> before, after;  ///< edges between nodes
  std::vector<std::vector<int32_t>> reads, writes;  ///< by node: values, numbered here
  std::vector<int64_t> bytes;                       ///< by value: 0 where it costs the arena nothing
  std::vector<int64_t> inside;  ///< by node: arena bytes at most while it runs, beyond what lives around it
  std::vector<bool> stays;      ///< by value: alive at the end
  int32_t without_effect = 0;   ///< nodes that OrderRules::kAsGiven alone holds
  size_t size() const { return nodes.size(); }
};

/// inside_of: of computations that are called: what they hold at most, beyond what comes in. Arguments and results of
/// the program have memory of their own and cost nothing here; neither does what a loop's body reads from outside.
/// effects: of the module.
WorkGraph make_work_graph(const Computation& computation, const std::vector<const Work*>& order, ValueTable& values,
                          const std::unordered_map<const Computation*, int64_t>& inside_of, const SideEffects& effects,
                          OrderRules rules = OrderRules::kEffects);

/// Arena bytes at most, by a model: a step holds what it reads and what it makes; of these one may lie over the other
/// where both have the same bytes and the first dies.
struct ModelledPeak {
  int64_t bytes = 0;
  int32_t at = 0;  ///< position in the order, the first of those
};
ModelledPeak modelled_peak(const WorkGraph& graph, const std::vector<int32_t>& order);

}  // namespace lowtide::engine
