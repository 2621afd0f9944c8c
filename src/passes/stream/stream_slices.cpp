#include "passes/stream/stream_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "analysis/leaf_bytes.h"
#include "passes/rewrite.h"
#include "passes/stream/slice_cluster.h"

namespace lowtide {
namespace {

constexpr int kMostClusters = 32;  ///< of a computation
constexpr int kDeepest = 2;        ///< heads within batches
constexpr size_t kMostSeeds = 6;   ///< looked at for one cluster
constexpr double kLeastSeedBytes = 2 << 20;
constexpr double kLeastPart = 1.0 / 8;  ///< of the largest value: smaller ones don't make the peak

class Streamer {
 public:
  Streamer(Computation& computation, const ValueGraph& graph, const SliceCluster& cluster)
      : computation_(computation),
        module_(computation.module()),
        graph_(graph),
        cluster_(cluster),
        names_(computation) {}

  /// The loop's body.
  Computation* stream() {
    loop_shape_ = Shape::tuple({Shape::scalar(ElementType::kS32)});
    for (const auto& [operand, d] : cluster_.sliced) loop_shape_.elements.push_back(plain(operand->shape));
    for (const Instruction* operand : cluster_.whole) loop_shape_.elements.push_back(plain(operand->shape));
    for (const int32_t place : cluster_.outputs) loop_shape_.elements.push_back(plain(graph_.at(place).shape));
    Computation* condition = make_condition();
    Computation* body = make_body();

    std::vector<Instruction*> start{constant(computation_, ElementType::kS32, 0)};
    for (const auto& [operand, d] : cluster_.sliced) start.push_back(operand);
    start.insert(start.end(), cluster_.whole.begin(), cluster_.whole.end());
    for (const int32_t place : cluster_.outputs) {
      const Shape& shape = graph_.at(place).shape;
      Instruction* zero = constant(computation_, shape.type, 0);
      start.push_back(append(computation_, Opcode::kBroadcast, plain(shape), {zero}, DimensionsAttributes{}));
    }
    Instruction* initial = append(computation_, Opcode::kTuple, loop_shape_, start, {});
    Instruction* loop = append(computation_, Opcode::kWhile, loop_shape_, {initial}, {});
    loop->called = {condition, body};
    for (size_t k = 0; k < cluster_.outputs.size(); ++k) {
      const auto index = static_cast<int64_t>(loop_shape_.elements.size() - cluster_.outputs.size() + k);
      redirect(cluster_.outputs[k], element(computation_, loop, index));
    }
    sort_instructions();
    return body;
  }

 private:
  static Shape plain(const Shape& shape) { return Shape::array(shape.type, shape.dims); }

  Instruction* append(Computation& c, Opcode opcode, Shape shape, std::vector<Instruction*> operands,
                      Attributes attributes) {
    auto made = std::make_unique<Instruction>();
    made->opcode = opcode;
    made->name = names_.unused("stream");
    made->shape = std::move(shape);
    made->operands = std::move(operands);
    made->attributes = std::move(attributes);
    return c.append(std::move(made));
  }

  Instruction* constant(Computation& c, ElementType type, int64_t value) {
    auto literal = std::make_shared<Literal>(Shape::scalar(type));
    if (type == ElementType::kS32) literal->data<int32_t>()[0] = static_cast<int32_t>(value);
    return append(c, Opcode::kConstant, Shape::scalar(type), {}, ConstantAttributes{literal});
  }

  Instruction* element(Computation& c, Instruction* tuple, int64_t k) {
    return append(c, Opcode::kGetTupleElement, tuple->shape.elements[static_cast<size_t>(k)], {tuple},
                  TupleIndexAttributes{k});
  }

  Computation* make_condition() {
    Computation& c = *module_.add_computation(module_.unused_computation_name("stream_condition"));
    Instruction* state = append(c, Opcode::kParameter, loop_shape_, {}, ParameterAttributes{0});
    Instruction* limit = constant(c, ElementType::kS32, cluster_.extent);
    c.root = append(c, Opcode::kCompare, Shape::scalar(ElementType::kPred), {element(c, state, 0), limit},
                    CompareAttributes{CompareDirection::kLt, CompareType::kDefault});
    return &c;
  }

  /// Where a tile begins in an array of this rank.
  std::vector<Instruction*> starts(int64_t rank, int64_t d) const {
    std::vector<Instruction*> all(static_cast<size_t>(rank), zero_);
    all[static_cast<size_t>(d)] = at_;
    return all;
  }

  Computation* make_body() {
    Computation& c = *module_.add_computation(module_.unused_computation_name("stream_body"));
    Instruction* state = append(c, Opcode::kParameter, loop_shape_, {}, ParameterAttributes{0});
    at_ = element(c, state, 0);
    zero_ = constant(c, ElementType::kS32, 0);
    std::vector<Instruction*> next{append(c, Opcode::kAdd, Shape::scalar(ElementType::kS32),
                                          {at_, constant(c, ElementType::kS32, cluster_.tile)}, {})};
    int64_t k = 1;
    for (const auto& [operand, d] : cluster_.sliced) {
      Instruction* all = element(c, state, k++);
      Shape tile = plain(operand->shape);
      tile.dims[static_cast<size_t>(d)] = cluster_.tile;
      std::vector<Instruction*> operands = starts(tile.rank(), d);
      operands.insert(operands.begin(), all);
      slices_[{operand, d}] = append(c, Opcode::kDynamicSlice, tile, operands, DynamicSliceAttributes{tile.dims});
      next.push_back(all);
    }
    for (Instruction* operand : cluster_.whole) {
      next.push_back(wholes_[operand] = element(c, state, k++));
    }
    std::vector<int32_t> places(cluster_.invariant.begin(), cluster_.invariant.end());
    for (const auto& [place, d] : cluster_.dimension) places.push_back(place);
    std::sort(places.begin(), places.end());
    for (const int32_t place : places) clones_[place] = clone(c, place);
    for (const int32_t place : cluster_.outputs) {
      Instruction* all = element(c, state, k++);
      std::vector<Instruction*> operands = starts(all->shape.rank(), cluster_.dimension.at(place));
      operands.insert(operands.begin(), {all, clones_.at(place)});
      next.push_back(append(c, Opcode::kDynamicUpdateSlice, all->shape, operands, {}));
    }
    c.root = append(c, Opcode::kTuple, loop_shape_, next, {});
    return &c;
  }

  Instruction* clone(Computation& c, int32_t place) {
    const Instruction& original = graph_.at(place);
    auto copy = copy_of(original);
    copy->name = names_.unused(original.name);
    const auto member = cluster_.dimension.find(place);
    const int64_t d = member == cluster_.dimension.end() ? kNoId : member->second;
    for (size_t k = 0; k < copy->operands.size(); ++k) {
      copy->operands[k] = operand_of(original, k, d);
    }
    if (d == kNoId) return c.append(std::move(copy));
    copy->shape = plain(original.shape);
    copy->shape.dims[static_cast<size_t>(d)] = cluster_.tile;
    adapt(original, d, copy->attributes);
    Instruction* made = c.append(std::move(copy));
    if (original.opcode == Opcode::kIota && original.as<IotaAttributes>().dimension == d) {
      Instruction* from = append(c, Opcode::kConvert, Shape::scalar(made->shape.type), {at_}, {});
      Instruction* all = append(c, Opcode::kBroadcast, made->shape, {from}, DimensionsAttributes{});
      made = append(c, Opcode::kAdd, made->shape, {made, all}, {});
    }
    return made;
  }

  Instruction* operand_of(const Instruction& original, size_t k, int64_t d) const {
    Instruction* operand = original.operands[k];
    const auto made = clones_.find(graph_.place_of(*resolve({operand, 0}).instruction));
    if (made != clones_.end()) return made->second;
    int64_t j = 0;
    if (d != kNoId && operand_in_step(original, k, d, j) == InStep::kYes) return slices_.at({operand, j});
    return wholes_.at(operand);
  }

  /// Attributes that name extents of the sliced dimension.
  void adapt(const Instruction& original, int64_t d, Attributes& attributes) const {
    int64_t j = 0;
    if (auto* slice = std::get_if<SliceAttributes>(&attributes)) slice->limits[static_cast<size_t>(d)] = cluster_.tile;
    if (auto* gather = std::get_if<GatherAttributes>(&attributes)) {
      if (operand_in_step(original, 0, d, j) == InStep::kYes) {
        const bool batching =
            std::ranges::find(gather->operand_batching_dims, j) != gather->operand_batching_dims.end();
        if (!batching) gather->slice_sizes[static_cast<size_t>(j)] = cluster_.tile;
      }
    }
  }

  void redirect(int32_t place, Instruction* by) {
    Instruction* old = const_cast<Instruction*>(&graph_.at(place));
    for (const auto& i : computation_.instructions()) {
      if (cluster_.dimension.contains(place_if_old(*i))) continue;
      for (Instruction*& operand : i->operands) {
        if (operand == old) operand = by;
      }
    }
    if (computation_.root == old) computation_.root = by;
  }

  int32_t place_if_old(const Instruction& i) const { return i.id < first_new_id_ ? graph_.place_of(i) : kNoId; }

  /// Operands before users again, otherwise as it was.
  void sort_instructions() {
    std::vector<Instruction*> order;
    std::unordered_set<const Instruction*> done;
    for (const auto& first : computation_.instructions()) {
      std::vector<std::pair<Instruction*, size_t>> stack{{first.get(), 0}};
      while (!stack.empty()) {
        auto& [i, next] = stack.back();
        if (next == 0 && done.contains(i)) {
          stack.pop_back();
        } else if (next < i->operands.size()) {
          Instruction* operand = i->operands[next++];
          if (!done.contains(operand)) stack.push_back({operand, 0});
        } else {
          if (done.insert(i).second) order.push_back(i);
          stack.pop_back();
        }
      }
    }
    computation_.reorder(order);
  }

  Computation& computation_;
  Module& module_;
  const ValueGraph& graph_;
  const SliceCluster& cluster_;
  Names names_;
  const int32_t first_new_id_ = computation_.module().id_limit();
  Shape loop_shape_;
  Instruction* at_ = nullptr;    ///< in the body: the first slice of this tile
  Instruction* zero_ = nullptr;  ///< in the body
  std::map<std::pair<Instruction*, int64_t>, Instruction*> slices_;
  std::map<Instruction*, Instruction*> wholes_;
  std::map<int32_t, Instruction*> clones_;
};

/// The cluster that hides most, around one of the largest stored values.
SliceCluster best_cluster(const ValueGraph& graph) {
  const std::vector<ValueState> states = decide_values(graph, {});
  std::vector<std::pair<double, int32_t>> seeds;
  double largest = 0;
  for (int32_t place = 0; place < graph.size(); ++place) {
    const ValueState state = states[static_cast<size_t>(place)];
    const Instruction& i = graph.at(place);
    if ((state != ValueState::kStored && state != ValueState::kGiven) || !i.shape.is_array()) continue;
    const double bytes = static_cast<double>(safe_logical_bytes(i.shape));
    largest = std::max(largest, bytes);
    if (role_of(i) != OpRole::kSource && !graph.is_result(place)) seeds.push_back({-bytes, place});
  }
  std::sort(seeds.begin(), seeds.end());
  SliceCluster best;
  for (size_t k = 0; k < std::min(kMostSeeds, seeds.size()); ++k) {
    const double bytes = -seeds[k].first;
    if (bytes < kLeastSeedBytes || bytes < kLeastPart * largest) break;
    if (best.dimension.contains(seeds[k].second)) continue;
    SliceCluster cluster = find_cluster(graph, states, seeds[k].second);
    if (cluster.hidden_bytes > best.hidden_bytes) best = std::move(cluster);
  }
  return best;
}

}  // namespace

Result<PassResult> stream_slices(Module& module) {
  PassResult result;
  double hidden = 0;
  struct Open {
    Computation* computation;
    int depth;  ///< of loops made here
  };
  std::vector<Open> open{{module.entry, 0}};
  std::unordered_set<const Computation*> seen;
  while (!open.empty()) {
    const auto [computation, depth] = open.back();
    open.pop_back();
    if (!seen.insert(computation).second) continue;
    for (const auto& i : computation->instructions()) {
      if (i->opcode == Opcode::kWhile || i->opcode == Opcode::kConditional || i->opcode == Opcode::kCall) {
        for (Computation* called : i->called) open.push_back({called, depth});
      }
    }
    // Most computations hold nothing worth a cluster.
    const bool any = std::ranges::any_of(computation->instructions(), [](const auto& i) {
      return i->shape.is_array() && static_cast<double>(safe_logical_bytes(i->shape)) >= kLeastSeedBytes;
    });
    for (int k = 0; any && k < kMostClusters; ++k) {
      const ValueGraph graph(*computation);
      const SliceCluster cluster = best_cluster(graph);
      if (cluster.extent == 0) break;
      Computation* body = Streamer(*computation, graph, cluster).stream();
      if (depth + 1 < kDeepest) open.push_back({body, depth + 1});
      hidden += cluster.hidden_bytes;
      ++result.count;
    }
  }
  result.changed = result.count > 0;
  result.note = fmt::format("{} clusters streamed, {:.1f} MiB of intermediates less", result.count, hidden / 1048576);
  return result;
}

}  // namespace lowtide
