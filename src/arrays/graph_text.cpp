// Graphs of arrays as text.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <unordered_set>

#include "arrays/runtime.h"
#include "lowtide/graph_utils.h"

namespace lowtide {
namespace {

/// A graph's steps, inputs before users, and its inputs.
struct Graph {
  std::vector<std::shared_ptr<lazy::Step>> steps;
  std::vector<array> inputs;  ///< values without a step, in the order of their first use
};

Graph graph_of(const std::vector<array>& outputs) {
  Graph graph;
  graph.steps = lazy::steps_below(outputs, {}, true);
  std::unordered_set<std::uintptr_t> made, met;
  for (const auto& step : graph.steps) {
    for (const auto& output : step->outputs) {
      if (const auto state = output.lock()) made.insert(array(state).id());
    }
  }
  const auto meet = [&](const array& a) {
    if (!made.contains(a.id()) && met.insert(a.id()).second) graph.inputs.push_back(a);
  };
  for (const auto& step : graph.steps) std::ranges::for_each(step->inputs, meet);
  std::ranges::for_each(outputs, meet);
  return graph;
}

/// The results of a step to which something refers.
std::vector<array> results_of(const lazy::Step& step) {
  std::vector<array> results;
  for (const auto& output : step.outputs) {
    if (auto state = output.lock()) results.emplace_back(std::move(state));
  }
  return results;
}

std::string names_of(NodeNamer& namer, const std::vector<array>& arrays) {
  std::string text;
  for (const array& a : arrays) text += (text.empty() ? "" : ", ") + namer.get_name(a);
  return text;
}

std::string described(NodeNamer& namer, const std::vector<array>& arrays) {
  std::string text;
  for (const array& a : arrays) {
    text += fmt::format("{}{} [{}, {}]", text.empty() ? "" : ", ", namer.get_name(a), lazy::to_string(a.shape()),
                        dtype_to_string(a.dtype()));
  }
  return text;
}

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

}  // namespace

const std::string& NodeNamer::get_name(const array& x) {
  const auto [found, is_new] = names.try_emplace(x.id());
  if (is_new) {
    for (size_t rest = names.size(); rest > 0; rest = (rest - 1) / 26) {
      found->second.insert(found->second.begin(), static_cast<char>('A' + (rest - 1) % 26));
    }
  }
  return found->second;
}
void NodeNamer::set_name(const array& x, std::string name) { names.insert_or_assign(x.id(), std::move(name)); }

void print_graph(std::ostream& os, NodeNamer namer, const std::vector<array>& outputs) {
  const std::lock_guard lock(lazy::Runtime::get().graphs);
  const Graph graph = graph_of(outputs);
  fmt::print(os, "Inputs: {}\n", names_of(namer, graph.inputs));
  std::string steps;
  for (const auto& step : graph.steps) {
    const std::string inputs = described(namer, step->inputs);
    steps += fmt::format("{} {} -> {}\n", step->primitive->name(), inputs, described(namer, results_of(*step)));
  }
  fmt::print(os, "Outputs: {}\n{}", names_of(namer, outputs), steps);
}

void export_to_dot(std::ostream& os, NodeNamer namer, const std::vector<array>& outputs) {
  const std::lock_guard lock(lazy::Runtime::get().graphs);
  const Graph graph = graph_of(outputs);
  fmt::print(os, "digraph {{\n");
  for (const array& input : graph.inputs) {
    const std::string name = quoted(namer.get_name(input));
    fmt::print(os, "  {{ rank=source; {} [label={}, shape=diamond]; }}\n", name, name);
  }
  int64_t number = 0;
  for (const auto& step : graph.steps) {
    const int64_t node = number++;
    fmt::print(os, "  {{ {} [label={}, shape=rectangle]; }}\n", node, quoted(step->primitive->name()));
    for (const array& input : step->inputs) fmt::print(os, "  {} -> {}\n", quoted(namer.get_name(input)), node);
    for (const array& result : results_of(*step)) {
      fmt::print(os, "  {} -> {}\n", node, quoted(namer.get_name(result)));
    }
  }
  fmt::print(os, "}}\n");
}

}  // namespace lowtide
