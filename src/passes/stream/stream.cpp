#include "passes/stream/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <unordered_map>

#include "analysis/evaluations.h"
#include "analysis/leaf_bytes.h"
#include "analysis/loop_fusion.h"
#include "analysis/roles.h"
#include "base/thread_pool.h"
#include "passes/stream/between_passes.h"
#include "passes/stream/keep_order.h"
#include "passes/stream/stream_layers.h"
#include "passes/stream/stream_loop.h"
#include "passes/stream/walk.h"
#include "passes/windows/row_loop.h"
#include "passes/windows/row_places.h"

namespace lowtide::engine {
namespace {

constexpr double kLargeSums = 16;    ///< sums of 1/kLargeSums of the hidden bytes or more may get streams of their own
constexpr double kDearAgain = 0.05;  ///< of the stream's time: recomputation from which on values may be stored
constexpr size_t kMostPrices = 16;   ///< for keeping values between passes
constexpr int32_t kFewestPasses = 2, kMostPasses = 4;  ///< of streams in only some of a cluster's passes
constexpr size_t kMostSeeds = 6;                       ///< per computation, if none are given
constexpr int64_t kLeastLayers = 4;                    ///< equal ones, all of which are streamed at once

/// A decision has at most one of these flags.
struct Flag {
  std::string_view word;
  bool StreamDecision::* flag;
};
constexpr Flag kFlags[] = {
    {"one_pass", &StreamDecision::one_pass}, {"alone", &StreamDecision::alone}, {"windows", &StreamDecision::windows}};

constexpr std::string_view kPasses = "passes=", kStore = "store=", kAllLayers = "all-layers";

Status no_decision(std::string_view line) {
  return Status(Fault::kInput, fmt::format("expected `stream COMPUTATION VALUE dimension=D tile=T`, got `{}`", line));
}

template <class Number>
bool read_number(std::string_view word, std::string_view key, Number& number) {
  if (!word.starts_with(key)) return false;
  const std::string_view digits = word.substr(key.size());
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size();
}

/// For each computation, which values are stored, by place in its graph.
class States {
 public:
  States(const Module& module, const Target& target) {
    if (target.takes() == Takes::kProgram) return;
    options_.keep_virtual = fuse_loops(module, target.xla_backend());
    options_.store = options_.keep_virtual;
    options_.store.flip();
  }
  std::vector<ValueState> of(const ValueGraph& graph) const { return decide_values(graph, options_); }

 private:
  FormOptions options_;
};

/// Bytes of outputs that a loop over rows writes over inputs of which it reads neighbours. Programs do that in strips,
/// without a loop; XLA stores such outputs beside their inputs. XLA:CPU passes several times over each window, in
/// kernels of their own: for little work on each element this takes three times as long.
double overwriting_bytes(const ValueGraph& graph, const Computation& computation, const RowCluster& cluster) {
  double bytes = 0;
  if (graph.target().takes() == Takes::kProgram || graph.target().xla_backend() == XlaBackend::kCpu) return bytes;
  for (const auto& [output, input] : places_of_outputs(computation, graph, cluster)) {
    if (cluster.inputs.at(input).reach() > 0) bytes += bytes_of(graph, {output, 0});
  }
  return bytes;
}

void add_windows(const ValueGraph& graph, const std::vector<ValueState>& states, const Instruction& seed, int64_t d,
                 const StreamCandidateOptions& options, std::vector<StreamCandidate>& found) {
  const RowCluster cluster = grow_rows(graph, states, array_behind(graph, seed), d);
  if (cluster.members.empty()) return;
  RowWeight weight = weigh_rows(graph, states, cluster);
  weight.hidden_bytes += overwriting_bytes(graph, *seed.parent, cluster);
  const int64_t rows = cluster.last - cluster.first;
  std::vector<int64_t> tiles = tiles_of(rows, 1);
  if (weight.hidden_bytes < options.least_hidden_bytes || tiles.empty()) return;
  StreamDecision decision{seed.parent->name, seed.name, d, tiles.front()};
  decision.windows = true;
  found.push_back({.decision = std::move(decision),
                   .before = {},
                   .extent = rows,
                   .tiles = std::move(tiles),
                   .hidden_bytes = weight.hidden_bytes,
                   .ns_per_tile = weight.ns_per_tile});
}

/// The dimension of a product's rows: the longest one that comes from an operand that is computed tile by tile, and
/// that isn't sliced; -1: there is none.
int64_t rows_of(const Instruction& product, const StreamMember& member, const ValueGraph& graph,
                const StreamCluster& cluster) {
  int64_t longest = -1;
  for (int64_t r = 0; r < product.shape.rank(); ++r) {
    for (size_t k = 0; k < product.operands.size(); ++k) {
      int64_t j = -1;
      const bool made = member.reads[k] >= 0 && cluster.is_member(array_behind(graph, product.operand(k)).place);
      if (!made || operand_in_step(product, k, r, j) != InStep::kYes || j == member.reads[k]) continue;
      const auto extent = [&](int64_t d) { return product.shape.dims[d]; };
      if (longest < 0 || extent(r) > extent(longest)) longest = r;
    }
  }
  return longest;
}

/// Does anything but these products need the array?
bool is_read_beside(const ValueGraph& graph, int32_t array, const std::set<int32_t>& products) {
  std::set<int32_t> seen{array};
  std::vector<int32_t> open{array};
  while (!open.empty()) {
    const int32_t place = open.back();
    open.pop_back();
    if (graph.is_result(place)) return true;
    for (const ValueGraph::Read& read : graph.users(place)) {
      if (!products.contains(read.user) && seen.insert(read.user).second) open.push_back(read.user);
    }
  }
  return false;
}

/// Adds the last candidate again, with streams of their own for products whose sums are large.
void add_apart(const ValueGraph& graph, const std::vector<ValueState>& states, const StreamCluster& cluster,
               const ClusterWeight& weight, int32_t seed, std::vector<StreamCandidate>& found) {
  StreamCandidate apart = found.back();
  std::set<int32_t> products;
  const double slice = weight.inner_bytes / static_cast<double>(cluster.extent);
  for (const GraphLeaf& sum : cluster.sums) {
    const Instruction& product = graph.at(sum.place);
    if (product.opcode != Opcode::kDot || !product.shape.is_array()) continue;
    const ElementType type = type_of_sums(product.shape.type);
    const double bytes = elements_of(product.shape) * stored_bytes(type);
    const bool is_beside = type != product.shape.type || !graph.is_result(sum.place);
    if (!is_beside || kLargeSums * bytes < weight.hidden_bytes) continue;
    const int64_t rows = rows_of(product, cluster.members.at(sum.place), graph, cluster);
    if (rows < 0) continue;
    const StreamCluster alone = grow_cluster(graph, states, sum, rows, {.alone = true});
    if (alone.members.empty()) continue;
    const ClusterWeight again = weigh(graph, states, alone);
    const double extent = static_cast<double>(alone.extent), own = own_ns(product, graph.target());
    StreamBefore before{.decision = {product.parent->name, product.name, rows},
                        .tiles = tiles_of(alone.extent, again.least_tile),
                        .tiles_per_tile = slice / std::max(1.0, again.inner_bytes / extent)};
    before.decision.alone = true;
    if (product.parent->module().sums_in_order) {
      std::erase_if(before.tiles, [&](int64_t tile) { return !tile_keeps_order(graph, alone, tile); });
    }
    if (before.tiles.empty()) continue;
    apart.hidden_bytes += bytes;
    apart.again_ns += again.ns + again.again_ns - own;
    apart.before.push_back(std::move(before));
    products.insert(sum.place);
  }
  if (!products.empty() && is_read_beside(graph, seed, products)) found.push_back(std::move(apart));
}

/// A value, and a dimension along which it could be streamed.
struct Way {
  const Instruction* seed = nullptr;
  int64_t dimension = 0;
  StreamCluster cluster;
  bool is_first = true;  ///< no earlier one has the same cluster
};

/// How many such clusters there are in equal layers; a cluster may span several. roles: by place; may be empty.
int64_t layers_of(const std::vector<uint64_t>& roles, const StreamCluster& cluster, GraphLeaf array) {
  if (roles.empty()) return 1;
  const auto is_like = [&](const auto& member) { return roles[member.first] == roles[array.place]; };
  const auto inside = std::max<int64_t>(1, std::ranges::count_if(cluster.members, is_like));
  return std::ranges::count(roles, roles[array.place]) / inside;
}

/// Makes it a stream of so many equal layers.
void take_all_layers(StreamCandidate& candidate, int64_t layers) {
  candidate.decision.all_layers = true;
  for (StreamBefore& before : candidate.before) before.decision.all_layers = true;
  candidate.again_ns *= static_cast<double>(layers);
  candidate.ns_per_tile *= static_cast<double>(layers);
}

/// Offers all passes of each cluster once, without and with values stored between them; the seed's own pass; and a few
/// passes, from the first that needs the seed on.
void add_slices(const ValueGraph& graph, const std::vector<ValueState>& states, const std::vector<uint64_t>& roles,
                const Way& way, const StreamCandidateOptions& options, std::vector<StreamCandidate>& found) {
  const auto& [seed, d, grown, is_first] = way;
  const GraphLeaf array = array_behind(graph, *seed);
  const bool in_order = seed->parent->module().sums_in_order;
  const auto offer = [&](StreamDecision decision, const StreamCluster& cluster, const ClusterWeight& weight) {
    std::vector<int64_t> tiles = tiles_of(cluster.extent, weight.least_tile);
    if (in_order) std::erase_if(tiles, [&](int64_t tile) { return !tile_keeps_order(graph, cluster, tile); });
    if (weight.hidden_bytes < options.least_hidden_bytes || tiles.empty()) return;
    decision.tile = tiles.front();
    const size_t before = found.size();
    found.push_back({.decision = std::move(decision),
                     .before = {},
                     .extent = cluster.extent,
                     .tiles = std::move(tiles),
                     .hidden_bytes = weight.hidden_bytes,
                     .again_ns = weight.again_ns,
                     .ns_per_tile = weight.ns_per_tile});
    add_apart(graph, states, cluster, weight, array.place, found);
    const int64_t layers = layers_of(roles, cluster, array);
    for (size_t k = before; k < found.size() && layers >= kLeastLayers; ++k) take_all_layers(found[k], layers);
  };
  const auto offer_part = [&](const StreamDecision& decision) {
    const StreamCluster cluster = grow_cluster(graph, states, array, d, options_of(decision));
    if (!cluster.members.empty()) offer(decision, cluster, weigh(graph, states, cluster));
  };
  StreamDecision decision{seed->parent->name, seed->name, d};
  if (is_first) {
    const ClusterWeight weight = weigh(graph, states, grown);
    offer(decision, grown, weight);
    std::vector<Keeping> choices;
    if (weight.again_ns >= kDearAgain * weight.ns) choices = keeping_choices(graph, states, grown, kMostPrices);
    for (Keeping& choice : choices) {
      decision.store = choice.ns_per_byte;
      StreamCluster cluster = grown;
      cluster.kept = std::move(choice.kept);
      const ClusterWeight kept = weigh(graph, states, cluster);
      if (kept.again_ns < weight.again_ns) offer(decision, cluster, kept);
    }
    decision.store = 0;
  }
  if (grown.passes == 1) return;
  decision.one_pass = true;
  offer_part(decision);
  decision.one_pass = false;
  for (decision.passes = kFewestPasses; decision.passes <= std::min(kMostPasses, grown.passes - 1); ++decision.passes)
    offer_part(decision);
}

bool have_same_members(const StreamCluster& a, const StreamCluster& b) {
  const auto same = [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.leaves == y.second.leaves && x.second.reads == y.second.reads;
  };
  return a.extent == b.extent && std::ranges::equal(a.members, b.members, same);
}

/// Grows the clusters of all seeds, along all dimensions.
std::vector<Way> find_ways(const ValueGraph& graph, const std::vector<ValueState>& states,
                           const std::vector<const Instruction*>& seeds, ThreadPool& pool) {
  std::vector<Way> ways;
  for (const Instruction* seed : seeds) {
    for (int64_t d = 0; seed->shape.is_array() && d < seed->shape.rank(); ++d) ways.push_back({seed, d, {}});
  }
  pool.run(std::ssize(ways), [&](int64_t task, int) {
    Way& way = ways[task];
    way.cluster = grow_cluster(graph, states, array_behind(graph, *way.seed), way.dimension, {});
  });
  for (auto way = ways.begin(); way != ways.end(); ++way) {
    way->is_first = std::none_of(ways.begin(), way,
                                 [&](const Way& other) { return have_same_members(other.cluster, way->cluster); });
  }
  return ways;
}

}  // namespace

ClusterOptions options_of(const StreamDecision& decision) {
  return {.one_pass = decision.one_pass, .alone = decision.alone, .passes = decision.passes, .store = decision.store};
}

std::vector<StreamDecision> StreamCandidate::decisions(int64_t tile) const {
  std::vector<StreamDecision> all;
  for (const StreamBefore& b : before) {
    const double most = static_cast<double>(tile) * b.tiles_per_tile;
    const auto fits = std::ranges::find_if(b.tiles, [&](int64_t t) { return static_cast<double>(t) <= most; });
    all.push_back(b.decision);
    all.back().tile = fits == b.tiles.end() ? b.tiles.back() : *fits;
  }
  all.push_back(decision);
  all.back().tile = tile;
  return all;
}

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
  std::string text = fmt::format("stream {} {} dimension={} tile={}", d.computation, d.seed, d.dimension, d.tile);
  for (const auto& [word, flag] : kFlags) {
    if (d.*flag) text += fmt::format(" {}", word);
  }
  if (d.passes > 0) text += fmt::format(" {}{}", kPasses, d.passes);
  if (d.store > 0) text += fmt::format(" {}{}", kStore, d.store);
  if (d.all_layers) text += fmt::format(" {}", kAllLayers);
  return text;
}

Result<StreamDecision> parse_stream_decision(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    if (end > at) words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  StreamDecision d;
  bool whole = words.size() >= 5 && words[0] == "stream" && read_number(words[3], "dimension=", d.dimension) &&
               read_number(words[4], "tile=", d.tile);
  for (size_t k = 5; whole && k < words.size(); ++k) {
    const auto flag = std::ranges::find(kFlags, words[k], &Flag::word);
    if (flag != std::end(kFlags)) {
      whole = std::ranges::none_of(kFlags, [&](const Flag& f) { return d.*f.flag; });
      d.*flag->flag = true;
    } else if (words[k] == kAllLayers) {
      d.all_layers = true;
    } else {
      whole = (read_number(words[k], kPasses, d.passes) && d.passes > 0) ||
              (read_number(words[k], kStore, d.store) && d.store > 0 && std::isfinite(d.store));
    }
  }
  if (!whole || (d.windows && d.all_layers)) return no_decision(line);
  d.computation = words[1];
  d.seed = words[2];
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
    const std::vector<uint64_t> roles = options.in_all_layers ? roles_of(*computation) : std::vector<uint64_t>();
    ThreadPool& pool = module.context().pool();
    const std::vector<Way> ways = find_ways(graph, states, mine, pool);
    std::vector<std::vector<StreamCandidate>> of_way(ways.size());
    pool.run(std::ssize(ways), [&](int64_t task, int) {
      const auto k = static_cast<size_t>(task);
      if (!ways[k].cluster.members.empty()) add_slices(graph, states, roles, ways[k], options, of_way[k]);
      add_windows(graph, states, *ways[k].seed, ways[k].dimension, options, of_way[k]);
    });
    for (auto& candidates : of_way) std::ranges::move(candidates, std::back_inserter(found));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const StreamCandidate& a, const StreamCandidate& b) { return a.hidden_bytes > b.hidden_bytes; });
  return found;
}

Instruction* value_named(const Computation& computation, std::string_view name) {
  const auto& all = computation.instructions();
  const auto found = std::ranges::find_if(all, [&](const auto& i) { return i->name == name; });
  return found == all.end() ? nullptr : found->get();
}

Result<PassResult> stream(Module& module, const Target& target, const StreamDecision& decision) {
  const auto fault = [&](std::string_view what) {
    return Status(Fault::kInput, fmt::format("`{}`: {}", to_text(decision), what));
  };
  Computation* computation = module.find_computation(decision.computation);
  if (computation == nullptr) return fault("the module has no such computation");
  Instruction* const seed = value_named(*computation, decision.seed);
  if (seed == nullptr) return fault("the computation has no such value");
  const Shape& shape = seed->shape;
  if (!shape.is_array() || decision.dimension < 0 || decision.dimension >= shape.rank()) {
    return fault("the value has no such dimension");
  }
  const int64_t extent = shape.dims[decision.dimension];
  if (decision.tile < 1 || (decision.tile >= extent && !decision.windows)) {
    return fault("expected a tile of at least one slice, and fewer than all");
  }
  if (decision.all_layers) {
    const auto states_of = [&](const ValueGraph& graph) { return States(module, target).of(graph); };
    const int64_t count = stream_layers(*seed, target, decision, states_of);
    if (count == 0) return fault("the value can't be made slice by slice along this dimension in all layers");
    return PassResult{
        .changed = true,
        .count = count,
        .note = fmt::format("{} values of equal layers in tiles of {} of {}", count, decision.tile, extent)};
  }
  const ValueGraph graph(*computation, target);
  const std::vector<ValueState> states = States(module, target).of(graph);
  if (decision.windows) {
    const RowCluster cluster = grow_rows(graph, states, array_behind(graph, *seed), decision.dimension);
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
      grow_cluster(graph, states, array_behind(graph, *seed), decision.dimension, options_of(decision));
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
