#include "passes/windows/row_loop.h"

#include <algorithm>
#include <optional>

#include "passes/stream/stream_loop.h"
#include "passes/windows/edges.h"
#include "passes/windows/row_maker.h"
#include "passes/windows/row_places.h"

namespace lowtide::engine {
namespace {

class RowStreamer {
 public:
  RowStreamer(Computation& computation, const ValueGraph& graph, const std::vector<ValueState>& states,
              const RowCluster& cluster, int64_t tile)
      : computation_(computation),
        module_(computation.module()),
        graph_(graph),
        states_(states),
        cluster_(cluster),
        tile_(tile),
        last_(cluster.first + (cluster.last - cluster.first) / tile * tile),
        names_(computation),
        around_(computation, names_, "rows"),
        sources_(around_),
        places_(places_of_outputs(computation, graph, cluster)) {}

  bool stream() {
    Edges edges(around_, sources_, graph_, cluster_);
    for (const int32_t place : cluster_.outputs) {
      for (const RowRange& range : edge_ranges(place)) edges.want(place, range);
    }
    edges.make();
    collect();
    for (const int32_t place : written_) {
      for (const RowRange& range : edge_ranges(place)) beside_.push_back(edges.rows(place, range));
    }
    Instruction* loop = make_loop();
    std::map<int32_t, Instruction*> made;
    for (size_t k = 0; k < written_.size(); ++k) {
      made[written_[k]] = around_.element(*loop, static_cast<int64_t>(first_output_ + k));
    }
    size_t next_beside = first_output_ + written_.size();
    for (const int32_t place : cluster_.outputs) {
      const int64_t d = cluster_.members.at(place).dimension;
      if (!member(place).walked) {
        made[place] = edges.rows(place, edge_ranges(place)[0]);
        continue;
      }
      for (const RowRange& range : edge_ranges(place)) {
        Instruction* part = around_.element(*loop, static_cast<int64_t>(next_beside++));
        made[place] = around_.updated(*made[place], *part, d, *around_.integer(range.begin));
      }
    }
    redirect(made);
    return put_operands_first(computation_);
  }

 private:
  const RowMember& member(int32_t place) const { return cluster_.members.at(place); }

  /// Rows of an output that no tile computes.
  std::vector<RowRange> edge_ranges(int32_t place) const {
    const RowMember& m = member(place);
    const int64_t rows = graph_.at(place).shape.dims[m.dimension];
    if (!m.walked) return {{0, rows}};
    std::vector<RowRange> ranges;
    if (cluster_.first + m.at > 0) ranges.push_back({0, cluster_.first + m.at});
    if (last_ + m.at < rows) ranges.push_back({last_ + m.at, rows});
    return ranges;
  }

  /// Collects what the loop's state holds.
  void collect() {
    for (const auto& [place, m] : cluster_.members) {
      if (!m.walked) continue;
      const Instruction& i = graph_.at(place);
      const RowPiece& piece = m.form.main_piece();
      for (size_t k = 0; k < piece.reads.size(); ++k) {
        if (piece.reads[k].dimension == RowRead::kWhole) add_whole(*i.operands[k]);
      }
      if (std::ranges::find(cluster_.outputs, place) != cluster_.outputs.end()) written_.push_back(place);
    }
    for (const auto& [input, span] : cluster_.inputs) {
      const auto over = std::ranges::find_if(places_, [&](const auto& p) { return p.second == input; });
      if (over == places_.end()) {
        apart_.push_back(input);
        continue;
      }
      const int64_t at = member(over->first).at;
      RowSpan all = span;
      all.widen({at, at});
      if (all.reach() > 0) kept_.push_back({over->first, input, all});
    }
  }

  void add_whole(const Instruction& operand) {
    const GraphLeaf array = array_behind(graph_, operand);
    const int32_t place = array.place;
    if (!is_made_anew(graph_, states_, place)) {
      if (std::ranges::find(wholes_, array) == wholes_.end()) wholes_.push_back(array);
      return;
    }
    if (!anew_.insert(place).second) return;
    for (const Instruction* o : graph_.at(place).operands) add_whole(*o);
  }

  /// Makes readers of outputs read the new values, and all of them read past barriers.
  void redirect(const std::map<int32_t, Instruction*>& made) {
    redirect_reads(computation_, first_new_id_, [&](Instruction& read) {
      const auto by = made.find(array_behind(graph_, read).place);
      return by != made.end() ? by->second : sources_.read(read);
    });
  }

  Instruction* source_of(GraphLeaf array) { return sources_.of({&graph_.at(array.place), array.leaf}); }

  /// State: the tile's first row, kept rows, inputs that aren't overwritten, arrays read whole, outputs, and edge rows:
  /// these are computed before the loop, from the inputs' values at that point, but written after it.
  Instruction* make_loop() {
    Shape state = Shape::tuple({Shape::scalar(ElementType::kS32)});
    std::vector<Instruction*> start{around_.integer(cluster_.first)};
    const auto add = [&](Instruction* initial) {
      start.push_back(initial);
      state.elements.push_back(plain_shape(initial->shape));
    };
    for (const Kept& kept : kept_) {
      Instruction& source = *source_of(kept.input.array);
      const RowRange rows{cluster_.first + kept.span.from, cluster_.first + tile_ + kept.span.to};
      add(around_.slices(source, kept.input.dimension, rows));
    }
    for (const RowInput& input : apart_) add(source_of(input.array));
    for (const GraphLeaf& whole : wholes_) add(source_of(whole));
    first_output_ = start.size();
    for (const int32_t place : written_) {
      const auto over = places_.find(place);
      add(over == places_.end() ? around_.filled(graph_.at(place).shape) : source_of(over->second.array));
    }
    for (Instruction* part : beside_) add(part);
    Computation* condition = counting_condition(module_, names_, "rows", state, last_);
    Computation* body = make_body(state);
    Instruction* initial = around_.append(Opcode::kTuple, state, start);
    Instruction* loop = around_.append(Opcode::kWhile, state, {initial});
    loop->called = {condition, body};
    loop->frontend_attributes = kTilesAttribute;
    return loop;
  }

  Computation* make_body(const Shape& shape) {
    Computation& c = *module_.add_computation(module_.unused_computation_name("rows_body"));
    SliceWriter writer(c, names_, "rows");
    Instruction* state = writer.append(Opcode::kParameter, shape, {}, ParameterAttributes{0});
    std::vector<Instruction*> now;
    for (size_t k = 0; k < shape.elements.size(); ++k) now.push_back(writer.element(*state, static_cast<int64_t>(k)));
    Instruction& at = *now[0];
    const auto row = [&](int64_t offset) {
      if (offset == 0) return &at;
      return writer.append(Opcode::kAdd, at.shape, {&at, writer.integer(offset)});
    };
    std::vector<Instruction*> next = now;
    next[0] = row(tile_);

    struct Rows {
      Instruction* array;
      int64_t from;  ///< relative to the tile's first row
    };
    std::map<RowInput, Rows> inputs;
    size_t k = 1;
    for (const Kept& kept : kept_) inputs[kept.input] = {now[k++], kept.span.from};
    for (const RowInput& input : apart_) {
      const RowSpan& span = cluster_.inputs.at(input);
      inputs[input] = {writer.slices_from(*now[k++], input.dimension, *row(span.from), tile_ + span.reach()),
                       span.from};
    }
    std::map<GraphLeaf, Instruction*> wholes;
    for (const GraphLeaf& whole : wholes_) wholes[whole] = now[k++];
    for (const int32_t place : anew_) {
      auto copy = copy_of(graph_.at(place));
      for (Instruction*& operand : copy->operands) operand = wholes.at(array_behind(graph_, *operand));
      wholes[{place, 0}] = writer.append(std::move(copy));
    }
    for (size_t n = 0; n < written_.size(); ++n) {
      const auto over = places_.find(written_[n]);
      if (over == places_.end() || inputs.contains(over->second)) continue;
      const RowSpan& span = cluster_.inputs.at(over->second);
      Instruction* rows = writer.slices_from(*now[k + n], over->second.dimension, *row(span.from), tile_);
      inputs[over->second] = {rows, span.from};
    }

    std::map<int32_t, Rows> made;
    RowSource source;
    source.first = &at;
    source.whole = [&](const Instruction& reader, size_t operand) {
      return wholes.at(array_behind(graph_, reader.operand(operand)));
    };
    source.rows = [&](const Instruction& reader, size_t operand, const RowRead& read, RowRange rows) {
      const GraphLeaf array = array_behind(graph_, reader.operand(operand));
      const auto known = made.find(array.place);
      const Rows& there = known != made.end() ? known->second : inputs.at({array, read.dimension});
      const RowRange wanted = rows_read(read, rows, -1);
      return writer.slices(*there.array, read.dimension, {wanted.begin - there.from, wanted.end - there.from});
    };
    for (const auto& [place, m] : cluster_.members) {
      if (!m.walked) continue;
      const RowRange rows{m.span.from, tile_ + m.span.to};
      made[place] = {make_rows(writer, graph_.at(place), m.form.main_piece(), m.dimension, rows, source), rows.begin};
    }
    // Before outputs overwrite the inputs: reads the rows that the next tile needs in addition.
    for (size_t n = 0; n < kept_.size(); ++n) {
      const Kept& kept = kept_[n];
      const int64_t d = kept.input.dimension;
      Instruction& lies =
          *now[first_output_ + static_cast<size_t>(std::ranges::find(written_, kept.output) - written_.begin())];
      Instruction* old = writer.slices(*now[1 + n], d, {tile_, tile_ + kept.span.reach()});
      Instruction* fresh = writer.slices_from(lies, d, *row(tile_ + kept.span.to), tile_);
      next[1 + n] = writer.concatenated({old, fresh}, d);
    }
    for (size_t n = 0; n < written_.size(); ++n) {
      const RowMember& m = member(written_[n]);
      const Rows& all = made.at(written_[n]);
      Instruction* rows = writer.slices(*all.array, m.dimension, {m.at - all.from, m.at - all.from + tile_});
      next[first_output_ + n] = writer.updated(*now[first_output_ + n], *rows, m.dimension, *row(m.at));
    }
    c.root = writer.append(Opcode::kTuple, shape, next);
    return &c;
  }

  /// An input that an output overwrites; the rows that a tile reads are loop-carried.
  struct Kept {
    int32_t output;
    RowInput input;
    RowSpan span;
  };

  Computation& computation_;
  Module& module_;
  const ValueGraph& graph_;
  const std::vector<ValueState>& states_;
  const RowCluster& cluster_;
  const int64_t tile_, last_;
  const int32_t first_new_id_ = computation_.module().id_limit();
  Names names_;
  SliceWriter around_;  ///< what runs before and after the loop
  SourceArrays sources_;
  const std::map<int32_t, RowInput> places_;
  std::vector<Kept> kept_;
  std::vector<RowInput> apart_;  ///< inputs that nothing overwrites
  std::vector<GraphLeaf> wholes_;
  std::set<int32_t> anew_;  ///< places of cheap values that each tile computes whole
  std::vector<int32_t> written_;
  std::vector<Instruction*> beside_;
  size_t first_output_ = 0;  ///< position in the state
};

}  // namespace

bool stream_rows(Computation& computation, const ValueGraph& graph, const std::vector<ValueState>& states,
                 const RowCluster& cluster, int64_t tile) {
  return RowStreamer(computation, graph, states, cluster, tile).stream();
}

}  // namespace lowtide::engine
