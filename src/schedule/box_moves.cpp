#include "schedule/box_moves.h"

#include <algorithm>

#include "ir/element_type.h"
#include "nest/accesses.h"
#include "nest/blocks.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kLeastBytes = int64_t{64} << 10;  ///< smaller results aren't worth it
constexpr int64_t kShare = 8;                       ///< scratch takes at most one part in so many
constexpr size_t kMostMoves = 16;

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

bool meet(int64_t a, int64_t b, int64_t spans_a, int64_t spans_b) { return a < b + spans_b && b < a + spans_a; }

class PlanBoxMoves {
 public:
  PlanBoxMoves(const Nest& nest, int32_t to, int32_t from) : nest_(nest), to_(to), from_(from) {}

  std::optional<BoxMoves> run() {
    const NestBuffer &result = buffer(to_), &operand = buffer(from_);
    out_.element_bytes = stored_bytes(result.type);
    out_.block = result.elements;
    const bool alike = result.elements == operand.elements && stored_bytes(operand.type) == out_.element_bytes;
    if (!alike || result.read || operand.written || result.elements * out_.element_bytes < kLeastBytes) return {};
    if (!find_moves() || out_.moves.empty() || !writes_each_once()) return {};
    find_blocks();
    if (!put_in_order() && !rotates()) return {};
    return std::move(out_);
  }

 private:
  const NestBuffer& buffer(int32_t b) const { return nest_.buffers[b]; }

  /// Is every loop of block 0 a piece with one store that moves a box of the operand, or doesn't use the operand?
  bool find_moves() {
    const std::vector<Access> all = accesses(nest_);
    std::vector<int32_t> pieces;
    for (const Access& store : all) {
      if (!store.is_store) continue;
      if (store.piece == kNoId || store.buffer != to_ || std::ranges::find(pieces, store.piece) != pieces.end())
        return false;
      pieces.push_back(store.piece);
      const Node& value = nest_.nodes[store.value];
      const bool moves = value.kind == NodeKind::kLoad && value.buffer == from_ &&
                         value.affine.terms == store.element.terms && buffer(to_).type == buffer(from_).type;
      out_.runs.push_back(!moves);
      if (moves) {
        const bool stays = value.affine.constant == store.element.constant;
        if (!add_box(store.element, value.affine.constant - store.element.constant, stays)) return false;
      }
      for (const Access& load : all) {
        if (load.is_store || load.buffer != from_) continue;
        if (load.piece == kNoId || (load.piece == store.piece && !moves)) return false;
      }
    }
    const auto loops =
        std::ranges::count_if(nest_.blocks[0].items, [](const Item& i) { return i.kind == Item::kLoop; });
    return loops == static_cast<std::ptrdiff_t>(pieces.size());
  }

  bool add_box(const Affine& element, int64_t ahead, bool stays) {
    BoxMove box;
    box.to = element.constant;
    for (const auto& term : element.terms) {
      const Node& atom = nest_.nodes[term.atom];
      if (atom.kind != NodeKind::kLoopIndex || term.coefficient <= 0) return false;
      box.to += term.coefficient * atom.least;
      const int64_t extent = atom.greatest - atom.least + 1;
      if (extent > 1) box.axes.push_back({term.coefficient, extent});
    }
    std::ranges::sort(box.axes, std::greater(), &BoxMove::Axis::stride);
    while (!box.axes.empty() && box.axes.back().stride == box.run) {
      box.run *= box.axes.back().extent;
      box.axes.pop_back();
    }
    int64_t inner = box.run;
    for (size_t k = box.axes.size(); k-- > 0;) {
      if (box.axes[k].stride < inner) return false;
      inner = box.axes[k].stride * (box.axes[k].extent - 1) + inner;
    }
    box.from = box.to + ahead;
    if (!stays) out_.moves.push_back(std::move(box));
    return out_.moves.size() <= kMostMoves;
  }

  /// Is the whole result written unconditionally, each element once?
  bool writes_each_once() const {
    Int128 elements = 0;
    for (const Store& store : nest_.stores) {
      const auto times = parallel_iterations(nest_, store.block);
      if (!times || store.guard != kNoId) return false;
      elements += *times;
    }
    return elements == out_.block;
  }

  void find_blocks() {
    while (true) {
      const BoxMove& first = out_.moves[0];
      if (first.axes.empty()) return;
      const BoxMove::Axis outer = first.axes[0];
      const bool common =
          outer.stride * outer.extent == out_.block && std::ranges::all_of(out_.moves, [&](const BoxMove& m) {
            if (m.axes.empty() || m.axes[0].stride != outer.stride || m.axes[0].extent != outer.extent) return false;
            const int64_t inner = m.span() - outer.stride * (outer.extent - 1);
            return m.to + inner <= outer.stride && m.from >= 0 && m.from + inner <= outer.stride;
          });
      if (!common) return;
      out_.blocks *= outer.extent;
      out_.block = outer.stride;
      for (BoxMove& m : out_.moves) m.axes.erase(m.axes.begin());
    }
  }

  /// A move that reads what another one writes goes before it.
  bool put_in_order() {
    std::vector<BoxMove> left = out_.moves, order;
    int64_t scratch = 0;
    const auto waits = [&](const BoxMove& writer) {
      return std::ranges::any_of(left, [&](const BoxMove& reader) {
        return &reader != &writer && reader.kept == kNoId && meet(reader.from, writer.to, reader.span(), writer.span());
      });
    };
    while (!left.empty()) {
      auto next = std::ranges::find_if(left, [&](const BoxMove& m) { return !waits(m); });
      if (next == left.end()) {
        auto keep = left.end();
        for (auto m = left.begin(); m != left.end(); ++m) {
          if (m->kept == kNoId && (keep == left.end() || m->elements() < keep->elements())) keep = m;
        }
        keep->kept = scratch;
        scratch += aligned(keep->elements() * out_.element_bytes);
        continue;
      }
      order.push_back(*next);
      left.erase(next);
    }
    if (scratch * kShare > out_.blocks * out_.block * out_.element_bytes) return false;
    out_.moves = std::move(order);
    out_.scratch_bytes = scratch;
    return true;
  }

  /// Are the moves two runs that fill a block and exchange places?
  bool rotates() {
    if (out_.moves.size() != 2 || !out_.moves[0].axes.empty() || !out_.moves[1].axes.empty()) return false;
    const BoxMove& first = out_.moves[out_.moves[0].to == 0 ? 0 : 1];
    const BoxMove& second = out_.moves[out_.moves[0].to == 0 ? 1 : 0];
    const bool fill = first.to == 0 && second.to == first.run && first.run + second.run == out_.block &&
                      second.from == 0 && first.from == second.run;
    if (!fill) return false;
    out_.rotated = first.from;
    out_.moves.clear();
    return true;
  }

  const Nest& nest_;
  const int32_t to_, from_;
  BoxMoves out_;
};

}  // namespace

int64_t BoxMove::elements() const {
  int64_t n = run;
  for (const Axis& axis : axes) n *= axis.extent;
  return n;
}

int64_t BoxMove::span() const {
  int64_t n = run;
  for (const Axis& axis : axes) n += axis.stride * (axis.extent - 1);
  return n;
}

std::optional<BoxMoves> plan_box_moves(const Nest& nest, int32_t to, int32_t from) {
  return PlanBoxMoves(nest, to, from).run();
}

}  // namespace lowtide::engine
