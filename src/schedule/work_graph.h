#pragma once
/// One computation's work as a graph, for choosing an order: the order constraints, and what each step allocates and
/// frees in the arena.

#include "ir/side_effects.h"
#include "schedule/flow.h"

namespace lowtide::engine {

/// Which work keeps its given order without data dependencies: work with effects; optionally also opaque operations,
/// collectives and foreign calls. Their order is free as long as all devices use the same one, and all run the same
/// plan; but they were often placed deliberately, which is a good start for the search.
enum class OrderRules : uint8_t { kEffects, kAsGiven };

struct WorkGraph {
  std::vector<const Work*> nodes;                   ///< in the given order, without views
  std::vector<std::vector<int32_t>> before, after;  ///< edges between nodes
  std::vector<std::vector<int32_t>> reads, writes;  ///< by node: values, numbered here
  std::vector<int64_t> bytes;                       ///< by value: 0 if it takes no bytes of the arena
  std::vector<int64_t> inside;  ///< by node: the most arena bytes while it runs, beyond those live around it
  std::vector<bool> stays;      ///< by value: alive at the end
  int32_t without_effect = 0;   ///< nodes that only OrderRules::kAsGiven keeps in order
  size_t size() const { return nodes.size(); }
};

/// inside_of: for called computations, the most bytes they hold beyond their inputs. Arguments and results of the
/// program have their own memory and cost nothing here; nor do values that a loop's body reads from outside.
/// effects: those of the module.
WorkGraph make_work_graph(const Computation& computation, const std::vector<const Work*>& order, ValueTable& values,
                          const std::unordered_map<const Computation*, int64_t>& inside_of, const SideEffects& effects,
                          OrderRules rules = OrderRules::kEffects);

/// The most arena bytes, by a model: a step holds its operands and its results; a result may alias an operand of
/// the same size that has its last use there.
struct ModelledPeak {
  int64_t bytes = 0;
  int32_t at = 0;  ///< position in the order, the first if there are several
};
ModelledPeak modelled_peak(const WorkGraph& graph, const std::vector<int32_t>& order);

}  // namespace lowtide::engine
