#include "schedule/steps.h"

#include <algorithm>

#include "analysis/trip_count.h"
#include "schedule/assemble.h"

namespace lowtide::engine {
namespace {

class EmitSteps {
 public:
  EmitSteps(const Flow& flow, const Classes& classes, const LoopMovesOf& loop_moves, const Hosting& hosting,
            const ReasonOf& reason, NestCache& nests, std::vector<Region>& regions, int64_t& kernels)
      : flow_(flow),
        classes_(classes),
        loop_moves_(loop_moves),
        hosting_(hosting),
        reason_(reason),
        nests_(nests),
        regions_(regions),
        kernels_(kernels) {}

  std::vector<ProgramStep> run() {
    open_.emplace_back();
    open_.back().blocks.emplace_back();
    for (; at_ < static_cast<Step>(flow_.steps.size()); ++at_) step(flow_.steps[at_]);
    return std::move(open_[0].blocks[0]);
  }

 private:
  std::vector<ProgramStep>& block() { return open_.back().blocks.back(); }
  int32_t slot(ValueId v) const { return classes_.of[v]; }
  int64_t bytes(ValueId v) const { return classes_.all[slot(v)].bytes; }

  ProgramStep make(StepKind kind) const {
    ProgramStep s;
    s.kind = kind;
    s.instruction = flow_.steps[at_].instruction;
    s.at = at_;
    return s;
  }

  void step(const FlowStep& s) {
    switch (s.kind) {
      case FlowKind::kWork: work(s); break;
      case FlowKind::kLoopBegin:
        copies(s.moves);
        open_.push_back(make(StepKind::kWhile));
        if (const auto trips = trip_count(*s.instruction)) open_.back().trip_count = trips->trips;
        open_.back().blocks.resize(1);
        break;
      case FlowKind::kLoopTest:
        open_.back().predicate = slot(s.reads[0]);
        open_.back().blocks.emplace_back();
        break;
      case FlowKind::kLoopNext: next_trip(); break;
      case FlowKind::kLoopEnd: loop_end(); break;
      case FlowKind::kBranch:
        open_.push_back(make(StepKind::kConditional));
        open_.back().predicate = slot(s.reads[0]);
        open_.back().blocks.emplace_back();
        break;
      case FlowKind::kBranchEnd:
        copies(s.moves);
        if (open_.back().blocks.size() < open_.back().instruction->called.size()) open_.back().blocks.emplace_back();
        break;
      case FlowKind::kJoin: close(); break;
      case FlowKind::kFinish: copies(s.moves); break;
    }
  }

  void close() {
    ProgramStep done = std::move(open_.back());
    open_.pop_back();
    block().push_back(std::move(done));
  }

  void work(const FlowStep& s) {
    copies(s.updates);
    const WorkKind kind = s.work->kind;
    ProgramStep p = make(kind == WorkKind::kRegion    ? StepKind::kKernel
                         : kind == WorkKind::kLibrary ? StepKind::kLibrary
                                                      : StepKind::kOther);
    if (kind == WorkKind::kRegion) {
      p.region = static_cast<int32_t>(regions_.size());
      regions_.push_back(s.work->region);
      p.assembled = is_assembled(s, classes_, hosting_, nests_);
      kernels_ += p.assembled ? 0 : 1;
    }
    for (const ValueId v : s.reads) p.reads.push_back(slot(v));
    for (const ValueId v : s.writes) p.writes.push_back(slot(v));
    p.way = s.way;
    if (kind == WorkKind::kRegion && !p.way && !p.assembled) leave_out_idle_pieces(s, p);
    if (s.scratch != kNoId) p.scratch = slot(s.scratch);
    block().push_back(std::move(p));
  }

  void leave_out_idle_pieces(const FlowStep& s, ProgramStep& p) {
    std::vector<std::pair<int32_t, int32_t>> over;
    for (size_t o = 0; o < p.writes.size(); ++o) {
      for (size_t i = 0; i < p.reads.size(); ++i) {
        if (p.reads[i] == p.writes[o]) over.emplace_back(static_cast<int32_t>(o), static_cast<int32_t>(i));
      }
    }
    if (over.empty()) return;
    std::vector<int32_t> idle = nests_.idle_pieces(*s.work, over);
    if (!idle.empty()) p.way = std::make_shared<const KernelWay>(KernelWay{std::move(idle), {}, {}});
  }

  const LoopMoves& moves_at(Step next) const { return loop_moves_.at(next); }

  void next_trip() {
    const LoopMoves& moves = moves_at(at_);
    std::unordered_map<int32_t, int32_t> moved;  // slot -> the slot that has its bytes after the exchange
    for (size_t i = 0; i < moves.to.size(); ++i) moved.emplace(moves.from[i], moves.to[i]);
    if (!moves.to.empty()) {
      ProgramStep p = make(StepKind::kRotate);
      p.from = moves.from;
      p.to = moves.to;
      block().push_back(std::move(p));
    }
    copies(moves.copies, moved);
  }

  void loop_end() {
    const FlowFrame& loop = flow_.frames[flow_.steps[at_].frame];
    open_.back().settle = moves_at(loop.end - 1).to;  // kLoopNext is the step before the end
    close();
  }

  /// Emits moves that happen at once as a sequence of copies: a copy that reads a value goes before the one that
  /// overwrites it; a cycle is one step.
  void copies(const std::vector<Move>& moves, const std::unordered_map<int32_t, int32_t>& moved = {}) {
    struct Copy {
      int32_t from, to;
      const Move* move;
    };
    std::vector<Copy> left;
    for (const Move& m : moves) {
      const auto now = moved.find(slot(m.from));
      const int32_t from = now == moved.end() ? slot(m.from) : now->second;
      if (from != slot(m.to) && bytes(m.from) > 0) left.push_back({from, slot(m.to), &m});
    }
    while (!left.empty()) {
      const auto ready = std::find_if(left.begin(), left.end(), [&](const Copy& c) {
        return std::none_of(left.begin(), left.end(), [&](const Copy& other) { return other.from == c.to; });
      });
      ProgramStep p = make(StepKind::kCopy);
      const bool circle = ready == left.end();
      const auto first = circle ? left.begin() : ready;
      const auto last = circle ? left.end() : ready + 1;
      for (auto c = first; c != last; ++c) {
        p.reads.push_back(c->from);
        p.writes.push_back(c->to);
        if (p.reason.empty()) p.reason = reason_(*c->move);
      }
      left.erase(first, last);
      block().push_back(std::move(p));
    }
  }

  const Flow& flow_;
  const Classes& classes_;
  const LoopMovesOf& loop_moves_;
  const Hosting& hosting_;
  const ReasonOf& reason_;
  NestCache& nests_;
  std::vector<Region>& regions_;
  int64_t& kernels_;
  std::vector<ProgramStep> open_;  ///< control steps whose blocks are being filled; [0]: the whole program
  Step at_ = 0;
};

}  // namespace

std::vector<ProgramStep> emit_steps(const Flow& flow, const Classes& classes, const LoopMovesOf& loop_moves,
                                    const Hosting& hosting, const ReasonOf& reason, NestCache& nests,
                                    std::vector<Region>& regions, int64_t& kernels) {
  return EmitSteps(flow, classes, loop_moves, hosting, reason, nests, regions, kernels).run();
}

}  // namespace lowtide::engine
