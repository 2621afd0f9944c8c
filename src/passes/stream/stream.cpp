#include "passes/stream/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "analysis/leaf_bytes.h"
#include "analysis/loop_fusion.h"
#include "passes/stream/keep_order.h"
#include "passes/stream/stream_loop.h"
#include "passes/windows/row_loop.h"

namespace lowtide::engine {
namespace {

constexpr size_t kMostSeeds = 6;  ///< of a computation, where none are asked for

Status no_decision(std::string_view line) {
  return Status(Fault::kInput, fmt::format("expected `stream COMPUTATION VALUE dimension=D tile=T`, got `{}`", line));
}

bool read_number(std::string_view word, std::string_view key, int64_t& number) {
  if (!word.starts_with(key)) return false;
  const std::string_view digits = word.substr(key.size());
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size();
}

/// For each computation what is stored, by place in its graph.
class States {
 public:
  States(const Module& module, const Target& target) {
    if (target.takes() == Takes::kProgram) return;
    options_.keep_virtual = fuse_loops(module);
    options_.store = options_.keep_virtual;
    options_.store.flip();
  }
  std::vector<ValueState> of(const ValueGraph& graph) const { return decide_values(graph, options_); }

 private:
  FormOptions options_;
};

void add_windows(const ValueGraph& graph, const std::vector<ValueState>& states, const Instruction& seed, int64_t d,
                 const StreamCandidateOptions& options, std::vector<StreamCandidate>& found) {
  const RowCluster cluster = grow_rows(graph, states, array_behind(graph, seed), d);
  if (cluster.members.empty()) return;
  const RowWeight weight = weigh_rows(graph, states, cluster);
  const int64_t rows = cluster.last - cluster.first;
  std::vector<int64_t> tiles = tiles_of(rows, 1);
  if (weight.hidden_bytes < options.least_hidden_bytes || tiles.empty()) return;
  found.push_back({.decision = {seed.parent->name, seed.name, d, tiles.front(), false, true},
                   .extent = rows,
                   .tiles = std::move(tiles),
                   .hidden_bytes = weight.hidden_bytes,
                   .ns_per_tile = weight.ns_per_tile});
}

}  // namespace

std::vector<int64_t> tiles_of(int64_t extent, int64_t least) {
  std::vector<int64_t> tiles;
  int64_t power = 1;
  while (4 * power <= extent) power *= 2;
  for (; power >= 1; power /= 2) {
    int64_t tile = power;
    for (int64_t near = power; near < 2 * power && 2 * near <= extent; ++near) {
      if (extent % near == 0) {
        tile = near;
        break;
      }
    }
    if (tile >= least && (tiles.empty() || tile < tiles.back())) tiles.push_back(tile);
  }
  return tiles;
}

std::string to_text(const StreamDecision& d) {
  return fmt::format("stream {} {} dimension={} tile={}{}", d.computation, d.seed, d.dimension, d.tile,
                     d.windows ? " windows" : (d.one_pass ? " one_pass" : ""));
}

Result<StreamDecision> parse_stream_decision(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    if (end > at) words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  StreamDecision d;
  const bool whole = (words.size() == 5 || (words.size() == 6 && (words[5] == "one_pass" || words[5] == "windows"))) &&
                     words[0] == "stream" && read_number(words[3], "dimension=", d.dimension) &&
                     read_number(words[4], "tile=", d.tile);
  if (!whole) return no_decision(line);
  d.computation = words[1];
  d.seed = words[2];
  d.one_pass = words.size() == 6 && words[5] == "one_pass";
  d.windows = words.size() == 6 && words[5] == "windows";
  return d;
}

std::vector<StreamCandidate> stream_candidates(const Module& module, const Target& target,
                                               const std::vector<const Instruction*>& seeds,
                                               const StreamCandidateOptions& options) {
  std::vector<StreamCandidate> found;
  const States stored(module, target);
  for (const auto& computation : module.computations()) {
    std::vector<const Instruction*> mine;
    for (const Instruction* seed : seeds) {
      if (seed->parent == computation.get()) mine.push_back(seed);
    }
    if (mine.empty() && !seeds.empty()) continue;
    const ValueGraph graph(*computation, target);
    const std::vector<ValueState> states = stored.of(graph);
    if (seeds.empty()) mine = largest_arrays(graph, states, kMostSeeds);
    for (const Instruction* seed : mine) {
      if (!seed->shape.is_array()) continue;
      const GraphLeaf array = array_behind(graph, *seed);
      for (int64_t d = 0; d < seed->shape.rank(); ++d) {
        for (const bool one_pass : {false, true}) {
          const StreamCluster cluster = grow_cluster(graph, states, array, d, {.one_pass = one_pass});
          if (cluster.members.empty()) break;
          const ClusterWeight weight = weigh(graph, states, cluster);
          std::vector<int64_t> tiles = tiles_of(cluster.extent, weight.least_tile);
          if (module.sums_in_order) {
            std::erase_if(tiles, [&](int64_t tile) { return !tile_keeps_order(graph, cluster, tile); });
          }
          if (weight.hidden_bytes >= options.least_hidden_bytes && !tiles.empty()) {
            found.push_back({.decision = {computation->name, seed->name, d, tiles.front(), one_pass},
                             .extent = cluster.extent,
                             .tiles = std::move(tiles),
                             .hidden_bytes = weight.hidden_bytes,
                             .again_ns = weight.again_ns,
                             .ns_per_tile = weight.ns_per_tile});
          }
          if (cluster.passes == 1) break;
        }
        add_windows(graph, states, *seed, d, options, found);
      }
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const StreamCandidate& a, const StreamCandidate& b) { return a.hidden_bytes > b.hidden_bytes; });
  return found;
}

Result<PassResult> stream(Module& module, const Target& target, const StreamDecision& decision) {
  const auto fault = [&](std::string_view what) {
    return Status(Fault::kInput, fmt::format("`{}`: {}", to_text(decision), what));
  };
  Computation* computation = module.find_computation(decision.computation);
  if (computation == nullptr) return fault("the module has no such computation");
  const auto& all = computation->instructions();
  const auto seed = std::ranges::find_if(all, [&](const auto& i) { return i->name == decision.seed; });
  if (seed == all.end()) return fault("the computation has no such value");
  const Shape& shape = (*seed)->shape;
  if (!shape.is_array() || decision.dimension < 0 || decision.dimension >= shape.rank()) {
    return fault("the value has no such dimension");
  }
  const int64_t extent = shape.dims[static_cast<size_t>(decision.dimension)];
  if (decision.tile < 1 || (decision.tile >= extent && !decision.windows)) {
    return fault("expected a tile of at least one slice, and fewer than all");
  }
  const ValueGraph graph(*computation, target);
  const std::vector<ValueState> states = States(module, target).of(graph);
  if (decision.windows) {
    const RowCluster cluster = grow_rows(graph, states, array_behind(graph, **seed), decision.dimension);
    if (cluster.members.empty()) return fault("the value can't be made row by row along this dimension");
    if (decision.tile > cluster.last - cluster.first) return fault("no tile as large lies between the edges");
    const RowWeight weight = weigh_rows(graph, states, cluster);
    if (!stream_rows(*computation, graph, states, cluster, decision.tile)) {
      return fault("values outside stand between those that would be streamed");
    }
    return PassResult{
        .changed = true,
        .count = static_cast<int64_t>(cluster.members.size()),
        .note = fmt::format("{} values in tiles of {} rows of {}, {:.1f} MiB hidden", cluster.members.size(),
                            decision.tile, cluster.last - cluster.first, weight.hidden_bytes / 1048576)};
  }
  const StreamCluster cluster =
      grow_cluster(graph, states, array_behind(graph, **seed), decision.dimension, {.one_pass = decision.one_pass});
  if (cluster.members.empty()) return fault("the value can't be made slice by slice along this dimension");
  if (module.sums_in_order && !tile_keeps_order(graph, cluster, decision.tile)) {
    return fault("tiles of so few slices would be summed otherwise than the whole");
  }
  const ClusterWeight weight = weigh(graph, states, cluster);
  if (!stream_cluster(*computation, graph, states, cluster, decision.tile)) {
    return fault("values outside stand between those that would be streamed");
  }
  return PassResult{.changed = true,
                    .count = static_cast<int64_t>(cluster.members.size()),
                    .note = fmt::format("{} values in tiles of {} of {}, {:.1f} MiB hidden", cluster.members.size(),
                                        decision.tile, cluster.extent, weight.hidden_bytes / 1048576)};
}

Numerics stream_numerics(const Module& module) {
  return module.sums_in_order ? Numerics::kExact : Numerics::kReassociated;
}

}  // namespace lowtide::engine
