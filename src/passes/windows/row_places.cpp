#include "passes/windows/row_places.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

class Places {
 public:
  Places(const Computation& computation, const ValueGraph& graph, const RowCluster& cluster)
      : computation_(computation), graph_(graph), cluster_(cluster) {
    find_kept();
  }

  std::map<int32_t, RowInput> find() {
    std::map<int32_t, RowInput> found;
    for (const bool given : {true, false}) {
      for (const auto& [input, span] : cluster_.inputs) {
        const bool is_given = graph_.at(input.array.place).opcode == Opcode::kParameter;
        if (is_given != given || !is_consumed(input)) continue;
        for (const int32_t place : cluster_.outputs) {
          if (found.contains(place) || !fits(place, input) || (given && !becomes(input.array, place))) continue;
          found[place] = input;
          break;
        }
      }
    }
    return found;
  }

 private:
  /// Finds members that are also computed outside of the loop, for other readers: they read inputs there.
  void find_kept() {
    for (auto m = cluster_.members.rbegin(); m != cluster_.members.rend(); ++m) {
      const int32_t place = m->first;
      if (std::ranges::find(cluster_.outputs, place) != cluster_.outputs.end()) continue;
      const bool read =
          graph_.is_result(place) || std::ranges::any_of(graph_.users(place), [&](const auto& use) {
            return graph_.is_live(use.user) && (!cluster_.is_member(use.user) || kept_.contains(use.user));
          });
      if (read) kept_.insert(place);
    }
  }

  /// Do only tiles and edges read the input, and along one dimension?
  bool is_consumed(const RowInput& input) const {
    for (const auto& [other, span] : cluster_.inputs) {
      if (other.array == input.array && other.dimension != input.dimension) return false;
    }
    for (const LeafRef& result : graph_.results()) {
      if (result.instruction == &graph_.at(input.array.place) && result.leaf == input.array.leaf) return false;
    }
    for (const ValueGraph::Read& use : graph_.users(input.array.place)) {
      if (use.leaf != input.array.leaf || !graph_.is_live(use.user)) continue;
      if (!cluster_.is_member(use.user) || kept_.contains(use.user)) return false;
      for (const RowPiece& piece : cluster_.members.at(use.user).form.pieces) {
        if (piece.reads[use.operand].dimension == RowRead::kWhole) return false;
      }
    }
    const Opcode opcode = graph_.at(input.array.place).opcode;
    return opcode != Opcode::kConstant && opcode != Opcode::kIota;
  }

  bool fits(int32_t place, const RowInput& input) const {
    const RowMember& member = cluster_.members.at(place);
    const Shape& output = graph_.at(place).shape;
    const Shape& shape = shape_of(graph_, input.array);
    return member.walked && member.dimension == input.dimension && output.type == shape.type &&
           output.dims == shape.dims;
  }

  /// Is the output the next value of the loop-carried one, or the result that the argument is donated to?
  bool becomes(GraphLeaf argument, int32_t output) const {
    const auto is_output = [&](size_t leaf) {
      return leaf < graph_.results().size() && graph_.results()[leaf].instruction == &graph_.at(output);
    };
    const Module& module = computation_.module();
    if (&computation_ != module.entry) return is_output(static_cast<size_t>(argument.leaf));
    const int64_t number = graph_.at(argument.place).as<ParameterAttributes>().number;
    return std::ranges::any_of(module.input_output_alias, [&](const AliasEntry& alias) {
      if (alias.operand != number || !alias.operand_index.empty() || alias.output.size() > 1) return false;
      return is_output(alias.output.empty() ? 0 : static_cast<size_t>(alias.output[0]));
    });
  }

  const Computation& computation_;
  const ValueGraph& graph_;
  const RowCluster& cluster_;
  std::set<int32_t> kept_;
};

}  // namespace

std::map<int32_t, RowInput> places_of_outputs(const Computation& computation, const ValueGraph& graph,
                                              const RowCluster& cluster) {
  return Places(computation, graph, cluster).find();
}

}  // namespace lowtide::engine
