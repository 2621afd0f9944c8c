#include "schedule/strips.h"

#include <algorithm>
#include <cstdlib>

#include "base/int128.h"
#include "ir/element_type.h"
#include "nest/accesses.h"
#include "nest/blocks.h"
#include "nest/reach.h"

namespace lowtide::engine {
namespace {

int64_t ceil_of(Int128 x, Int128 y) { return static_cast<int64_t>(x >= 0 ? (x + y - 1) / y : -(-x / y)); }

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Iterations at least so many elements apart count as rows.
constexpr int64_t kRow = 512;

/// Is the loop a piece whose iterations all store at least a row apart?
bool makes_rows(const Nest& nest, int32_t id) {
  const Loop& loop = nest.loops[id];
  if (loop.kind != LoopKind::kParallel) return false;
  return std::ranges::all_of(nest.stores, [&](const Store& store) {
    if (!stands_in(nest, store.block, loop.body)) return true;
    return std::ranges::any_of(store.index.terms, [&](const Affine::Term& term) {
      return term.atom == loop.index && std::abs(term.coefficient) >= kRow;
    });
  });
}

class PlanStrips {
 public:
  PlanStrips(const Nest& nest, int32_t inputs, std::span<const LiesOver> over, const StripLimits& limits)
      : nest_(nest), inputs_(inputs), over_(over), limits_(limits), accesses_(accesses(nest)) {}

  std::optional<Strips> run() {
    if (over_.empty() || !find_outputs() || !only_pieces() || !writes_each_once()) return {};
    for (const int32_t loop : pieces_) {
      if (!add_piece(loop)) return {};
    }
    choose_delay();
    if (!choose_tile()) return {};
    return std::move(out_);
  }

 private:
  const NestBuffer& buffer(int32_t b) const { return nest_.buffers[b]; }

  bool find_outputs() {
    out_.elements = buffer(over_[0].to).elements;
    for (const LiesOver& pair : over_) {
      const NestBuffer &to = buffer(pair.to), &from = buffer(pair.from);
      const bool alike = to.elements == out_.elements && from.elements == out_.elements &&
                         stored_bytes(to.type) == stored_bytes(from.type);
      if (!alike || to.read || from.written) return false;
      from_.push_back(pair.from);
      const bool known = output_of(pair.to) != kNoId;
      if (!known) out_.outputs.push_back({pair.to - inputs_, stored_bytes(to.type), 0, 0});
    }
    return out_.outputs.size() <= kMostStripOutputs;
  }

  /// The buffer's index in out_.outputs; kNoId if it isn't there.
  int32_t output_of(int32_t b) const {
    for (size_t o = 0; o < out_.outputs.size(); ++o) {
      if (out_.outputs[o].number + inputs_ == b) return static_cast<int32_t>(o);
    }
    return kNoId;
  }
  bool is_read_later(int32_t b) const { return std::find(from_.begin(), from_.end(), b) != from_.end(); }

  /// Is every loop of block 0 a piece, and is nothing stored elsewhere?
  bool only_pieces() {
    for (const Access& access : accesses_) {
      if (!access.is_store) continue;
      if (access.piece == kNoId) return false;
      if (pieces_.empty() || pieces_.back() != access.piece) pieces_.push_back(access.piece);
    }
    for (const Item& item : nest_.blocks[0].items) {
      if (item.kind == Item::kLoop && std::find(pieces_.begin(), pieces_.end(), item.id) == pieces_.end()) return false;
    }
    return true;
  }

  /// Is each element of the results written unconditionally, by one store of one iteration?
  bool writes_each_once() const {
    std::vector<Int128> written(out_.outputs.size(), 0);
    for (const Store& store : nest_.stores) {
      const int32_t o = output_of(store.buffer);
      if (o == kNoId) continue;
      const auto times = parallel_iterations(nest_, store.block);
      if (!times || store.guard != kNoId) return false;
      written[o] += *times;
    }
    return std::all_of(written.begin(), written.end(), [&](Int128 n) { return n == out_.elements; });
  }

  bool add_piece(int32_t id) {
    const Loop& loop = nest_.loops[id];
    StripPiece piece{StripPiece::kFirst, loop.extent, 0, 0};
    std::optional<Reach> stores;
    bool single = loop.extent == 1;
    int32_t first_store = INT32_MAX, last_load = -1;
    for (const Access& access : accesses_) {
      if (access.is_store && access.piece == id && output_of(access.buffer) != kNoId) {
        const Reach reach = reach_of(nest_, access.element, loop.index);
        if (stores && stores->step != reach.step) return false;
        if (!stores) stores = reach;
        stores->include(reach);
        single = single && reach.least == reach.greatest;
        first_store = std::min(first_store, access.order);
      } else if (!access.is_store && is_read_later(access.buffer) && (access.piece == id || access.piece == kNoId)) {
        last_load = std::max(last_load, access.order);
      }
    }
    if (stores && single && last_load < first_store) {
      piece.kind = StripPiece::kPatch;
      add_patches(id, loop.index);
    } else if (stores) {
      if (loop.extent == 1) stores->step = out_.elements;
      if (stores->step <= 0) return false;
      piece.kind = StripPiece::kSweep;
      piece.stride = static_cast<int64_t>(stores->step);
      piece.first = static_cast<int64_t>(stores->least);
      piece.granule = makes_rows(nest_, id) ? 1 : kMostGranule;
      add_loads(id, piece);
      widths_.push_back(static_cast<int64_t>(stores->greatest - stores->least));
      if (loop.extent > 1) unit_ = std::max(unit_, Int128{piece.stride} * piece.granule);
    }
    if (piece.kind != StripPiece::kSweep) widths_.push_back(0);
    out_.pieces.push_back(piece);
    return true;
  }

  void add_patches(int32_t id, NodeId row) {
    for (const Access& access : accesses_) {
      if (!access.is_store || access.piece != id || output_of(access.buffer) == kNoId) continue;
      const auto element = static_cast<int64_t>(reach_of(nest_, access.element, row).least);
      out_.patches.push_back({static_cast<int32_t>(out_.pieces.size()), output_of(access.buffer), element});
    }
  }

  /// Records how far before its first store an iteration reads at most, and the end of what the piece reads.
  void add_loads(int32_t id, const StripPiece& piece) {
    for (const Access& access : accesses_) {
      if (access.is_store || !is_read_later(access.buffer) || (access.piece != id && access.piece != kNoId)) continue;
      const Reach reach = reach_of(nest_, access.element, nest_.loops[id].index);
      Int128 behind = 0, end = 0;
      for (const int64_t i : {int64_t{0}, piece.extent - 1}) {
        behind = std::max(behind, Int128{piece.stride} * i + piece.first - reach.step * i - reach.least);
        end = std::max(end, reach.step * i + reach.greatest + 1);
      }
      const auto within = [&](Int128 x) { return static_cast<int64_t>(std::clamp<Int128>(x, 0, out_.elements)); };
      loads_.push_back({within(behind), within(end)});
    }
  }

  /// Keeps elements read at a large distance as head and those at a small distance as delay, split where least is kept.
  void choose_delay() {
    std::sort(loads_.begin(), loads_.end(), [](const Load& a, const Load& b) { return a.behind > b.behind; });
    int64_t head = 0, least = INT64_MAX;
    for (size_t i = 0; i <= loads_.size(); ++i) {
      const int64_t delay = i < loads_.size() ? loads_[i].behind : 0;
      if (delay + head < least) least = delay + head, out_.delay = delay, out_.head = head;
      if (i < loads_.size()) head = std::max(head, loads_[i].end);
    }
  }

  bool choose_tile() {
    if (unit_ == 0) return false;
    int64_t element_bytes = 0;
    for (const Strips::Output& output : out_.outputs) element_bytes = std::max(element_bytes, output.element_bytes);
    const Int128 bytes = Int128{out_.elements} * element_bytes;
    // Tiles end where every piece may end.
    if (bytes < limits_.least_bytes || unit_ >= out_.elements) return false;
    int64_t start = 0;
    for (const StripPiece& piece : out_.pieces) {
      if (piece.kind == StripPiece::kSweep && Int128{piece.stride} * piece.granule == unit_) {
        start = piece.first / piece.stride * piece.stride;
        break;
      }
    }
    const auto units = static_cast<int64_t>(unit_);
    const int64_t wanted = std::max(limits_.wanted_bytes / element_bytes, 2 * out_.delay) / units;
    for (int64_t count = std::max<int64_t>(1, wanted); count > 0; count /= 2) {
      out_.tile = units * count;
      out_.phase = start % out_.tile;
      find_spill();
      lay_out();
      if (Int128{out_.scratch_bytes} * limits_.share <= bytes * static_cast<Int128>(out_.outputs.size())) return true;
    }
    return false;
  }

  void find_spill() {
    Int128 spill = 0;
    for (size_t p = 0; p < out_.pieces.size(); ++p) {
      const StripPiece& piece = out_.pieces[p];
      if (piece.kind != StripPiece::kSweep) continue;
      const Int128 step = Int128{piece.stride} * piece.granule;
      const bool meets =
          out_.tile % step == 0 && ceil_of(Int128{out_.phase} - piece.first, piece.stride) % piece.granule == 0;
      const int64_t more = meets ? 0 : std::min(piece.granule, piece.extent) - 1;
      spill = std::max(spill, widths_[p] + Int128{more} * piece.stride);
    }
    out_.spill = static_cast<int64_t>(std::min<Int128>(spill, out_.elements));
  }

  void lay_out() {
    int64_t at = 0;
    for (Strips::Output& output : out_.outputs) {
      output.head = at;
      at += aligned(out_.head * output.element_bytes);
      output.window = at;
      at += aligned(std::min(out_.elements, out_.delay + out_.tile + out_.spill) * output.element_bytes);
    }
    out_.patch = at;
    out_.scratch_bytes = at + aligned(2 * kPatchBytes * static_cast<int64_t>(out_.patches.size()));
  }

  struct Load {
    int64_t behind = 0, end = 0;
  };

  const Nest& nest_;
  const int32_t inputs_;
  const std::span<const LiesOver> over_;
  const StripLimits& limits_;
  const std::vector<Access> accesses_;
  std::vector<int32_t> from_;
  std::vector<int32_t> pieces_;  ///< loops
  std::vector<int64_t> widths_;  ///< by piece: elements between the first and the last store of an iteration
  std::vector<Load> loads_;
  Int128 unit_ = 0;  ///< elements: tiles are multiples of it
  Strips out_;
};

}  // namespace

void run_rows_one_by_one(Nest& nest) {
  for (const Item& item : nest.blocks[0].items) {
    if (item.kind != Item::kLoop) continue;
    nest.loops[item.id].one_by_one = makes_rows(nest, item.id);
  }
}

std::optional<Strips> plan_strips(const Nest& nest, int32_t inputs, std::span<const LiesOver> over,
                                  const StripLimits& limits) {
  auto tiles = PlanStrips(nest, inputs, over, limits).run();
  auto moves = over.size() == 1 ? plan_box_moves(nest, over[0].to, over[0].from) : std::nullopt;
  if (!moves || (tiles && tiles->scratch_bytes <= moves->scratch_bytes)) return tiles;
  Strips out;
  out.scratch_bytes = moves->scratch_bytes;
  out.moves = std::move(moves);
  return out;
}

}  // namespace lowtide::engine
