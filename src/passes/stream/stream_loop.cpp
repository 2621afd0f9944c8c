#include "passes/stream/stream_loop.h"

#include <algorithm>

#include "ops/combiner.h"
#include "ops/dimension_roles.h"
#include "passes/stream/between_passes.h"
#include "passes/stream/continued_sums.h"
#include "passes/stream/keep_order.h"
#include "passes/stream/slice_writer.h"

namespace lowtide::engine {
namespace {

/// What one pass reads and computes.
struct PassPlan {
  int32_t pass = 0;
  std::vector<int32_t> made;                             ///< members that it computes, by place
  std::set<int32_t> anew;                                ///< cheap values that each tile computes whole, by place
  std::vector<std::pair<Instruction*, int64_t>> sliced;  ///< arrays read slice by slice, and their sliced dimension
  std::vector<Instruction*> whole;                       ///< arrays that every tile reads whole
  std::vector<GraphLeaf> outputs, sums;
  /// By output: the array whose slices it overwrites after they are read, and its dimension; null: it has none.
  std::vector<std::pair<Instruction*, int64_t>> over;
};

/// The same for one tile, in the computation that runs it: a loop's body, or the one around the loop.
struct Tile {
  SliceWriter& writer;
  Instruction* at = nullptr;  ///< s32: its first slice
  int64_t size = 0;
  std::vector<Instruction*> sliced, whole, outputs, sums;  ///< arrays; outputs and sums are updated
};

class SliceStreamer {
 public:
  SliceStreamer(Computation& computation, const ValueGraph& graph, const std::vector<ValueState>& states,
                const StreamCluster& cluster, int64_t tile)
      : computation_(computation),
        module_(computation.module()),
        graph_(graph),
        states_(states),
        cluster_(cluster),
        tile_(tile),
        names_(computation),
        around_(computation, names_, "stream"),
        sources_(around_) {
    if (!cluster.consumed.empty()) uses_.emplace(graph, cluster);
  }

  std::optional<std::vector<Computation*>> stream() {
    std::vector<Computation*> bodies;
    for (int32_t pass = 0; pass < cluster_.passes; ++pass) {
      plan_ = plan_pass(members_of_pass(graph_, cluster_, pass), pass);
      if (plan_.outputs.empty() && plan_.sums.empty()) continue;
      bodies.push_back(make_pass());
    }
    redirect();
    if (!put_operands_first(computation_)) return std::nullopt;
    return bodies;
  }

 private:
  PassPlan plan_pass(std::vector<int32_t> members, int32_t pass) {
    plan_ = {.pass = pass};
    for (const int32_t place : members) {
      const StreamMember& member = cluster_.members.at(place);
      const Instruction& i = graph_.at(place);
      for (size_t k = 0; k < member.reads.size(); ++k) {
        Instruction& read = read_of(i, k);
        const GraphLeaf array = array_behind(graph_, read);
        if (member.reads[k] == kInitial) continue;
        if (std::ranges::binary_search(members, array.place) && !cluster_.is_sum(array)) continue;
        if (member.reads[k] < 0) {
          add_whole(read);
        } else {
          add_once(plan_.sliced, std::pair{source_of(read), member.reads[k]});
        }
      }
      for (size_t leaf = 0; leaf < member.leaves.size(); ++leaf) {
        const GraphLeaf array{place, static_cast<int32_t>(leaf)};
        if (member.pass == pass && cluster_.sums.contains(array)) plan_.sums.push_back(array);
        if (cluster_.is_stored_by(array, pass)) plan_.outputs.push_back(array);
      }
    }
    for (const GraphLeaf& array : plan_.outputs) plan_.over.push_back(overwritten_by(array, pass));
    plan_.made = std::move(members);
    return plan_;
  }

  /// Takes an array out of those that are read slice by slice, if the output may be written over it.
  std::pair<Instruction*, int64_t> overwritten_by(GraphLeaf output, int32_t pass) {
    const auto consumed = cluster_.consumed.find(output);
    if (consumed == cluster_.consumed.end() || uses_->last_reader(consumed->second.place, pass) > pass) return {};
    const auto read = std::ranges::find_if(plan_.sliced, [&](const auto& sliced) {
      const LeafRef behind = resolve({sliced.first, 0});
      const bool is_older = behind.instruction->id < first_new_id_;  // not what an earlier pass has made
      return is_older && array_behind(graph_, *sliced.first) == consumed->second &&
             same_shape(sliced.first->shape, shape_of(graph_, output));
    });
    if (read == plan_.sliced.end()) return {};
    const std::pair<Instruction*, int64_t> over = *read;
    plan_.sliced.erase(read);
    return over;
  }

  template <class T>
  static void add_once(std::vector<T>& all, T one) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  }

  /// The array itself, or its replacement by an earlier pass.
  Instruction* source_of(Instruction& operand) {
    const LeafRef behind = resolve({&operand, 0});
    if (behind.instruction->id < first_new_id_) {  // else read through a tuple that is redirected already
      const auto made = final_.find({graph_.place_of(*behind.instruction), behind.leaf});
      if (made != final_.end()) return made->second;
    }
    return sources_.read(operand);
  }

  void add_whole(Instruction& operand) {
    const GraphLeaf array = array_behind(graph_, operand);
    const int32_t place = array.place;
    if (final_.contains(array) || !is_made_anew(graph_, states_, cluster_, place)) {
      add_once(plan_.whole, source_of(operand));
      return;
    }
    if (!plan_.anew.insert(place).second) return;
    for (Instruction* o : graph_.at(place).operands) add_whole(*o);
  }

  Computation* make_pass() {
    state_ = Shape::tuple({Shape::scalar(ElementType::kS32)});
    for (const auto& [array, d] : plan_.sliced) state_.elements.push_back(plain_shape(array->shape));
    for (const Instruction* array : plan_.whole) state_.elements.push_back(plain_shape(array->shape));
    for (const GraphLeaf& array : plan_.outputs) state_.elements.push_back(plain_shape(shape_of(graph_, array)));
    for (const GraphLeaf& array : plan_.sums) state_.elements.push_back(sums_shape(array));

    const int64_t rest = cluster_.extent % tile_;
    Computation* condition = counting_condition(module_, names_, "stream", state_, cluster_.extent - rest);
    Computation* body = make_body();

    std::vector<Instruction*> start{around_.integer(0)};
    for (const auto& [array, d] : plan_.sliced) start.push_back(array);
    start.insert(start.end(), plan_.whole.begin(), plan_.whole.end());
    for (size_t k = 0; k < plan_.outputs.size(); ++k) {
      Instruction* before = plan_.over[k].first;
      start.push_back(before ? before : around_.filled(shape_of(graph_, plan_.outputs[k])));
    }
    for (const GraphLeaf& array : plan_.sums) start.push_back(initial_of(array));
    Instruction* initial = around_.append(Opcode::kTuple, state_, start);
    Instruction* loop = around_.append(Opcode::kWhile, state_, {initial});
    loop->called = {condition, body};
    loop->frontend_attributes = kTilesAttribute;

    Tile tile{.writer = around_, .size = rest, .whole = plan_.whole};
    for (const auto& [array, d] : plan_.sliced) tile.sliced.push_back(array);
    auto next = static_cast<int64_t>(1 + plan_.sliced.size() + plan_.whole.size());
    for (size_t k = 0; k < plan_.outputs.size(); ++k) tile.outputs.push_back(around_.element(*loop, next++));
    for (size_t k = 0; k < plan_.sums.size(); ++k) tile.sums.push_back(around_.element(*loop, next++));
    if (rest > 0) {
      tile.at = around_.integer(cluster_.extent - rest);
      make_tile(tile);
    }
    for (size_t k = 0; k < plan_.outputs.size(); ++k) final_[plan_.outputs[k]] = tile.outputs[k];
    for (size_t k = 0; k < plan_.sums.size(); ++k) final_[plan_.sums[k]] = finish(plan_.sums[k], tile.sums[k]);
    return body;
  }

  Shape sums_shape(GraphLeaf array) const {
    return Shape::array(type_of_sums(graph_.at(array.place), shape_of(graph_, array)), shape_of(graph_, array).dims);
  }

  Instruction* initial_of(GraphLeaf array) {
    const Instruction& i = graph_.at(array.place);
    for (const auto& [sum, into] : cluster_.added_into) {
      if (into == array) return initial_of(sum);
    }
    if (i.opcode == Opcode::kScatter) return source_of(*i.operands[0]);
    if (i.opcode == Opcode::kWhile) {
      Instruction* initial = source_of(read_of(i, static_cast<size_t>(array.leaf)));
      return around_.convert(initial, sums_shape(array).type);
    }
    return around_.filled(sums_shape(array), i.opcode == Opcode::kReduce ? source_of(*i.operands[1]) : nullptr);
  }

  Instruction* finish(GraphLeaf array, Instruction* sums) {
    const Shape& shape = shape_of(graph_, array);
    const StreamMember& member = cluster_.members.at(array.place);
    if (member.loop != nullptr) {
      const std::optional<ElementType> rounded = member.loop->rounded[array.leaf];
      if (rounded) sums = around_.convert(sums, *rounded);
    }
    return around_.convert(sums, shape.type);
  }

  Computation* make_body() {
    Computation& c = *module_.add_computation(module_.unused_computation_name("stream_body"));
    SliceWriter writer(c, names_, "stream");
    Instruction* state = writer.append(Opcode::kParameter, state_, {}, ParameterAttributes{0});
    Tile tile{.writer = writer, .at = writer.element(*state, 0), .size = tile_};
    Instruction* size = writer.integer(tile_);
    std::vector<Instruction*> next{writer.append(Opcode::kAdd, size->shape, {tile.at, size})};
    int64_t k = 1;
    for (size_t n = 0; n < plan_.sliced.size(); ++n) tile.sliced.push_back(writer.element(*state, k++));
    for (size_t n = 0; n < plan_.whole.size(); ++n) tile.whole.push_back(writer.element(*state, k++));
    for (size_t n = 0; n < plan_.outputs.size(); ++n) tile.outputs.push_back(writer.element(*state, k++));
    for (size_t n = 0; n < plan_.sums.size(); ++n) tile.sums.push_back(writer.element(*state, k++));
    next.insert(next.end(), tile.sliced.begin(), tile.sliced.end());
    next.insert(next.end(), tile.whole.begin(), tile.whole.end());
    make_tile(tile);
    next.insert(next.end(), tile.outputs.begin(), tile.outputs.end());
    next.insert(next.end(), tile.sums.begin(), tile.sums.end());
    c.root = writer.append(Opcode::kTuple, state_, next);
    return &c;
  }

  /// Computes a tile's members, and updates its outputs and sums.
  void make_tile(Tile& tile) {
    SliceWriter& writer = tile.writer;
    slices_.clear();
    clones_.clear();
    starts_.clear();
    const auto slice = [&](const std::pair<Instruction*, int64_t>& sliced, Instruction* array) {
      const int64_t block = cluster_.block_of(array->shape, sliced.second);
      slices_[sliced] = writer.slices_from(*array, sliced.second, *start_of(tile, block), tile.size * block);
    };
    for (size_t k = 0; k < plan_.sliced.size(); ++k) slice(plan_.sliced[k], tile.sliced[k]);
    for (size_t k = 0; k < plan_.outputs.size(); ++k) {
      if (plan_.over[k].first != nullptr) slice(plan_.over[k], tile.outputs[k]);
    }
    wholes_.clear();
    for (size_t k = 0; k < plan_.whole.size(); ++k) wholes_[plan_.whole[k]] = tile.whole[k];
    anew_.clear();
    for (const int32_t place : plan_.anew) {
      auto copy = copy_of(graph_.at(place));
      for (Instruction*& operand : copy->operands) operand = whole_of(*operand);
      anew_[place] = writer.append(std::move(copy));
    }
    for (const int32_t place : plan_.made) {
      const StreamMember& member = cluster_.members.at(place);
      if (member.loop != nullptr) {
        make_loop(tile, place, member);
      } else if (member.leaves[0] == kSummed) {
        Instruction*& sums = sum_of(tile, {place, 0});
        sums = fold(tile, place, sums);
      } else {
        Instruction* made = clone(tile, place);
        const auto arrays = static_cast<int32_t>(member.leaves.size());
        for (int32_t k = 0; k < arrays; ++k) {
          clones_[{place, k}] = made->shape.is_tuple() ? writer.element(*made, k) : made;
        }
      }
    }
    for (size_t k = 0; k < plan_.outputs.size(); ++k) {
      const int64_t d = cluster_.dimension_of(plan_.outputs[k]);
      Instruction* start = start_of(tile, cluster_.block_of(tile.outputs[k]->shape, d));
      tile.outputs[k] = writer.updated(*tile.outputs[k], *clones_.at(plan_.outputs[k]), d, *start);
    }
  }

  /// Where the tile begins in an array whose slices are blocks of so many elements.
  Instruction* start_of(Tile& tile, int64_t block) {
    if (block == 1) return tile.at;
    Instruction*& start = starts_[block];
    if (start == nullptr)
      start = tile.writer.append(Opcode::kMultiply, tile.at->shape, {tile.at, tile.writer.integer(block)});
    return start;
  }

  Instruction*& sum_of(Tile& tile, GraphLeaf array) {
    const auto at = std::ranges::find(plan_.sums, cluster_.accumulator_of(array));
    LT_ASSERT(at != plan_.sums.end(), "a sum of another pass is made anew");
    return tile.sums[at - plan_.sums.begin()];
  }

  /// Runs the loop on this tile's slices.
  void make_loop(Tile& tile, int32_t place, const StreamMember& member) {
    const Instruction& original = graph_.at(place);
    const LoopWalk& walk = *member.loop;
    const TiledLoop tiled = make_tiled_loop(module_, original, walk, tile.size);
    const bool sums_wanted = member.pass == plan_.pass;
    std::vector<Instruction*> start;
    for (size_t k = 0; k < walk.leaves.size(); ++k) {
      const GraphLeaf array{place, static_cast<int32_t>(k)};
      if (walk.leaves[k] != kSummed) {
        start.push_back(operand_of(original, member, k));
      } else if (walk.in_place[k] && sums_wanted) {
        start.push_back(sum_of(tile, array));
      } else {
        start.push_back(tile.writer.filled(sums_shape(array)));
      }
    }
    start.push_back(tile.at);
    const Shape state = tiled_state(original.shape, walk, tile.size);
    auto copy = copy_of(original);
    copy->operands = {tile.writer.append(Opcode::kTuple, state, start)};
    copy->shape = state;
    copy->called = {tiled.condition, tiled.body};
    Instruction* loop = tile.writer.append(std::move(copy));
    for (size_t k = 0; k < walk.leaves.size(); ++k) {
      const GraphLeaf array{place, static_cast<int32_t>(k)};
      if (walk.leaves[k] == kSummed && !sums_wanted) continue;
      Instruction* made = tile.writer.element(*loop, static_cast<int64_t>(k));
      if (walk.leaves[k] != kSummed) {
        clones_[array] = made;
      } else if (walk.in_place[k]) {
        sum_of(tile, array) = made;
      } else {
        Instruction*& sums = sum_of(tile, array);
        sums = tile.writer.append(Opcode::kAdd, made->shape, {sums, made});
      }
    }
  }

  /// Computes a member's slices of this tile.
  Instruction* clone(const Tile& tile, int32_t place) {
    const Instruction& original = graph_.at(place);
    const StreamMember& member = cluster_.members.at(place);
    auto copy = copy_of(original);
    for (size_t k = 0; k < copy->operands.size(); ++k) copy->operands[k] = operand_of(original, member, k);
    const int64_t d = member.leaves[0];
    const int64_t size = tile.size * cluster_.block_of(*common_extents(original), d);
    if (original.shape.is_tuple()) {
      for (Shape& leaf : copy->shape.elements) leaf = slices_shape(leaf, d, size);
    } else {
      copy->shape = slices_shape(original.shape, d, size);
    }
    adapt_to_slice(original, d, size, copy->attributes);
    const Appender here = tile.writer.appender();
    count_operand_from(original, d, size, *copy, tile.at, here);
    return count_result_from(original, d, tile.writer.append(std::move(copy)), tile.at, here);
  }

  /// Folds this tile's slices into the sums.
  Instruction* fold(const Tile& tile, int32_t place, Instruction* sums) {
    const Instruction& original = graph_.at(place);
    const StreamMember& member = cluster_.members.at(place);
    SliceWriter& writer = tile.writer;
    auto copy = copy_of(original);
    copy->shape = sums->shape;
    const bool scatters = original.opcode == Opcode::kScatter, reduces = original.opcode == Opcode::kReduce;
    for (size_t k = 0; k < copy->operands.size(); ++k) {
      if (member.reads[k] != kInitial) copy->operands[k] = operand_of(original, member, k);
    }
    if (scatters) copy->operands[0] = sums;
    if (original.opcode == Opcode::kGather)
      return pick_from_slices(original, member.reads[0], tile.size, *copy, tile.at, sums, writer.appender());
    if (module_.sums_in_order && !scatters && continues(original, member))
      return continued(tile, std::move(copy), sums);
    const Opcode combine = reduces ? original.called[0]->root->opcode : Opcode::kAdd;
    if (reduces) {
      const ElementType type = sums->shape.type;
      copy->operands[1] =
          writer.append(Opcode::kConstant, Shape::scalar(type), {}, ConstantAttributes{neutral_element(combine, type)});
    }
    Instruction* made = writer.append(std::move(copy));
    return scatters ? made : writer.append(combine, sums->shape, {sums, made});
  }

  bool continues(const Instruction& original, const StreamMember& member) const {
    const size_t operand = member.reads[0] >= 0 ? 0 : 1;
    return fold_order(original, operand, member.reads[operand], graph_.target()) == FoldOrder::kContinued;
  }

  /// Continues the sums with this tile's slices: a dot starts with the sums, a reduction has them as the first of its
  /// slices.
  Instruction* continued(const Tile& tile, std::unique_ptr<Instruction> copy, Instruction* sums) {
    SliceWriter& writer = tile.writer;
    if (copy->opcode == Opcode::kDot) {
      copy->operands.push_back(sums);
      return writer.append(std::move(copy));
    }
    const ElementType type = sums->shape.type;
    Instruction* slices = copy->operands[0];
    Shape first = plain_shape(slices->shape), all = first;
    for (const int64_t d : copy->as<DimensionsAttributes>().dimensions) first.dims[d] = 1;
    int64_t along = copy->as<DimensionsAttributes>().dimensions[0];
    for (const int64_t d : copy->as<DimensionsAttributes>().dimensions) {
      if (slices->shape.dims[d] != 1) along = d;
    }
    ++all.dims[along];
    Instruction* before = writer.append(Opcode::kReshape, first, {sums});
    copy->operands[0] = writer.append(Opcode::kConcatenate, all, {before, slices}, DimensionsAttributes{{along}});
    copy->operands[1] = writer.append(Opcode::kConstant, Shape::scalar(type), {},
                                      ConstantAttributes{neutral_element(copy->called[0]->root->opcode, type)});
    return writer.append(std::move(copy));
  }

  Instruction* operand_of(const Instruction& original, const StreamMember& member, size_t k) {
    Instruction& read = read_of(original, k);
    const auto made = clones_.find(array_behind(graph_, read));
    if (made != clones_.end()) return made->second;
    return member.reads[k] < 0 ? whole_of(read) : slices_.at({source_of(read), member.reads[k]});
  }

  Instruction* whole_of(Instruction& operand) {
    const auto made = anew_.find(array_behind(graph_, operand).place);
    return made == anew_.end() ? wholes_.at(source_of(operand)) : made->second;
  }

  /// Makes readers of stored or summed members read the loops' results, and all of them read past barriers.
  void redirect() {
    redirect_reads(computation_, first_new_id_, [&](Instruction& read) { return source_of(read); });
    if (!computation_.root->shape.is_tuple() || is_name(computation_.root->opcode)) return;
    const int32_t place = graph_.place_of(*computation_.root);
    if (!cluster_.is_member(place)) return;
    std::vector<Instruction*> results;
    for (int32_t k = 0; k < static_cast<int32_t>(computation_.root->shape.elements.size()); ++k) {
      results.push_back(final_.at({place, k}));
    }
    computation_.root = around_.append(Opcode::kTuple, Shape::tuple({}), results);
    for (const Instruction* r : results) computation_.root->shape.elements.push_back(r->shape);
  }

  Computation& computation_;
  Module& module_;
  const ValueGraph& graph_;
  const std::vector<ValueState>& states_;
  const StreamCluster& cluster_;
  int64_t tile_;
  Names names_;
  SliceWriter around_;  ///< what runs before and after the loops
  SourceArrays sources_;
  std::optional<PassUses> uses_;  ///< if the cluster writes over arrays
  const int32_t first_new_id_ = graph_.id_limit();
  std::map<GraphLeaf, Instruction*> final_;  ///< computed outputs and sums

  PassPlan plan_;
  Shape state_;  ///< of the pass's loop
  std::map<std::pair<Instruction*, int64_t>, Instruction*> slices_;
  std::map<Instruction*, Instruction*> wholes_;
  std::map<GraphLeaf, Instruction*> clones_;
  std::map<int32_t, Instruction*> anew_;    ///< by place
  std::map<int64_t, Instruction*> starts_;  ///< results of start_of()
};

}  // namespace

std::optional<std::vector<Computation*>> stream_cluster(Computation& computation, const ValueGraph& graph,
                                                        const std::vector<ValueState>& states,
                                                        const StreamCluster& cluster, int64_t tile) {
  return SliceStreamer(computation, graph, states, cluster, tile).stream();
}

}  // namespace lowtide::engine
