#include "schedule/live_ranges.h"

#include <algorithm>

namespace lowtide::engine {
namespace {

/// Where a value is defined, seen from inside or outside a loop.
struct Source {
  int32_t frame = kNoId;
  Step step = 0;
};

class FindLiveRanges {
 public:
  FindLiveRanges(const Flow& flow, const ValueTable& values)
      : flow_(flow), values_(values), outer_(values.count()), inner_(values.count()), last_use_(values.count(), -1) {
    out_.of.resize(values.count());
    out_.last_reader.resize(values.count(), nullptr);
  }

  LiveRanges run() {
    find_sources();
    for (size_t s = 0; s < flow_.steps.size(); ++s) {
      const FlowStep& step = flow_.steps[s];
      const auto at = static_cast<Step>(s);
      for (const ValueId v : step.reads) use(v, at, step.frame);
      for (const Move& m : step.updates) use(m.from, at, step.frame);
      // Initial values of a loop are read before it is entered.
      const bool enters = step.kind == FlowKind::kLoopBegin;
      const int32_t reading = enters ? flow_.frames[step.frame].parent : step.frame;
      for (const Move& m : step.moves) {
        use(m.from, at, reading);
        add(m.to, at, at);
      }
      for (const ValueId v : step.writes) add(v, at, at);
      if (step.scratch != kNoId) add(step.scratch, at, at);
    }
    for (size_t v = 0; v < out_.of.size(); ++v) tidy(static_cast<ValueId>(v));
    return std::move(out_);
  }

 private:
  void find_sources() {
    for (size_t s = 0; s < flow_.steps.size(); ++s) {
      const FlowStep& step = flow_.steps[s];
      const auto at = static_cast<Step>(s);
      for (const ValueId v : step.writes) outer_[v] = {step.frame, at};
      const FlowFrame& frame = flow_.frames[step.frame];
      for (const Move& m : step.moves) {
        const auto to = static_cast<size_t>(m.to);
        if (step.kind == FlowKind::kLoopBegin) {
          inner_[to] = {step.frame, at};
          outer_[to] = {frame.parent, frame.end};
        } else if (step.kind == FlowKind::kBranchEnd) {
          outer_[to] = {frame.parent, join_of(frame)};
        }
      }
    }
    // Arguments and constants are live from the start.
    for (Source& source : outer_) {
      if (source.frame == kNoId) source = {0, 0};
    }
  }

  /// The step after the last branch of a conditional.
  Step join_of(const FlowFrame& branch) const {
    Step at = branch.end + 1;
    while (flow_.steps[at].kind != FlowKind::kJoin || flow_.steps[at].instruction != branch.control) {
      ++at;
    }
    return at;
  }

  bool inside(int32_t frame, int32_t outer) const {
    while (frame != kNoId && frame != outer) frame = flow_.frames[frame].parent;
    return frame == outer;
  }

  void use(ValueId v, Step at, int32_t frame) {
    const Source& inner = inner_[v];
    Source source = outer_[v];
    if (inner.frame != kNoId) {
      const FlowFrame& loop = flow_.frames[inner.frame];
      if (inside(frame, inner.frame)) {
        source = inner;
      } else {
        add(v, loop.begin, loop.test);
      }
    }
    while (frame != source.frame) {
      LT_ASSERT(frame != kNoId, "a value of one branch or loop is read outside of it");
      const FlowFrame& f = flow_.frames[frame];
      if (f.is_loop) {
        add(v, f.begin, f.end);
        note_reader(v, f.end, f.control);
        at = f.begin;
      } else {
        add(v, f.begin, at);
        at = f.outside;
      }
      frame = f.parent;
    }
    LT_ASSERT(source.step <= at, "%" + values_.ref(v).instruction->name + " is read before it is made, by %" +
                                     flow_.steps[at].instruction->name);
    add(v, source.step, at);
    note_reader(v, at, flow_.steps[at].instruction);
  }

  void note_reader(ValueId v, Step at, const Instruction* reader) {
    Step& last = last_use_[v];
    if (at < last) return;
    last = at;
    out_.last_reader[v] = reader;
  }

  void add(ValueId v, Step first, Step last) {
    LivePieces& pieces = out_.of[v];
    if (!pieces.empty() && pieces.back().born <= first && first < pieces.back().dies) {
      pieces.back().dies = std::max(pieces.back().dies, last + 1);  // keeps the common case short
      return;
    }
    pieces.push_back({first, last + 1});
  }

  bool made_at(ValueId v, Step step) const {
    const FlowStep& s = flow_.steps[step];
    return std::find(s.writes.begin(), s.writes.end(), v) != s.writes.end() || s.kind == FlowKind::kLoopEnd ||
           std::any_of(s.moves.begin(), s.moves.end(), [&](const Move& m) { return m.to == v; });
  }

  /// Merges pieces that touch, unless the value is recomputed where they touch.
  void tidy(ValueId v) {
    LivePieces& pieces = out_.of[v];
    if (pieces.size() < 2) return;
    std::sort(pieces.begin(), pieces.end(), [](const Lifetime& a, const Lifetime& b) { return a.born < b.born; });
    size_t kept = 0;
    for (size_t i = 1; i < pieces.size(); ++i) {
      const bool touches = pieces[i].born == pieces[kept].dies;
      if (pieces[i].born < pieces[kept].dies || (touches && !made_at(v, pieces[i].born))) {
        pieces[kept].dies = std::max(pieces[kept].dies, pieces[i].dies);
      } else {
        pieces[++kept] = pieces[i];
      }
    }
    pieces.resize(kept + 1);
  }

  const Flow& flow_;
  const ValueTable& values_;
  std::vector<Source> outer_, inner_;  ///< by value; inner_: of carries, for readers inside the loop
  std::vector<Step> last_use_;
  LiveRanges out_;
};

}  // namespace

LivePieces united(LivePieces pieces) {
  std::sort(pieces.begin(), pieces.end(), [](const Lifetime& a, const Lifetime& b) { return a.born < b.born; });
  LivePieces out;
  for (const Lifetime& life : pieces) {
    if (!out.empty() && life.born <= out.back().dies) {
      out.back().dies = std::max(out.back().dies, life.dies);
    } else {
      out.push_back(life);
    }
  }
  return out;
}

LiveRanges find_live_ranges(const Flow& flow, const ValueTable& values) { return FindLiveRanges(flow, values).run(); }

}  // namespace lowtide::engine
