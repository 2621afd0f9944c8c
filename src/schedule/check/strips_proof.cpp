#include "schedule/check/strips_proof.h"

#include <algorithm>
#include <map>

#include "ir/element_type.h"
#include "schedule/check/copied_boxes.h"

namespace lowtide::engine {
namespace {

/// The elements that an access touches in iterations [from, to) of its piece.
class Swept {
 public:
  Swept(const Touches& touches, const Touch& touch, int32_t loop) : touches_(touches), touch_(touch), loop_(loop) {
    const int64_t extent = touches.nest().loops[loop].extent;
    for (const auto& term : touch.element->terms) {
      const Node& atom = touches.nest().nodes[term.atom];
      if (atom.kind == NodeKind::kLoopIndex && atom.loop == loop) {
        step_ = term.coefficient;
      } else if (atom.kind != NodeKind::kLoopIndex && !touches.is_fixed_by(term.atom, {}, 0)) {
        linear_ = false;
      }
    }
    first_ = touches.bounds(*touch.element, loop, 0, std::min<int64_t>(extent, 1));
  }

  const Touch& touch() const { return touch_; }
  /// Is it step * i + [first.least, first.greatest] in iteration i?
  bool is_linear() const { return linear_; }
  Int128 step() const { return step_; }
  const Extremes& first() const { return first_; }

  Extremes in(int64_t from, int64_t to) const {
    if (!linear_) return touches_.bounds(*touch_.element, loop_, from, to);
    const Int128 a = step_ * from, b = step_ * (to - 1);
    return {first_.least + std::min(a, b), first_.greatest + std::max(a, b)};
  }

 private:
  const Touches& touches_;
  const Touch& touch_;
  const int32_t loop_;
  Int128 step_ = 0;
  bool linear_ = true;
  Extremes first_;
};

class StripsProof {
 public:
  StripsProof(const PlacedKernel& kernel, const Strips& strips) : kernel_(kernel), strips_(strips) {}

  std::string run() {
    if (!are_outputs_sound()) return "its outputs or their scratch are not those of the kernel";
    if (!are_buffers_apart()) return "a result lies over an operand otherwise than element over element";
    if (!is_stored_once()) return "elements are stored more than once, or never";
    for (size_t p = 0; p < strips_.pieces.size(); ++p) {
      if (!add_piece(static_cast<int32_t>(p))) return "piece " + std::to_string(p) + " is not what its strips say";
    }
    if (std::ssize(strips_.patches) != patched_) return "elements are put back that nobody made";
    return follow_tiles();
  }

 private:
  struct Sweep {
    const StripPiece* piece = nullptr;
    std::vector<Swept> loads, stores;
  };

  const Nest& nest() const { return kernel_.touches.nest(); }
  const NestBuffer& buffer(int32_t b) const { return nest().buffers[b]; }
  /// The buffer's number among the outputs computed in strips; kNoId if it is none.
  int32_t tiled(int32_t b) const {
    for (size_t o = 0; o < strips_.outputs.size(); ++o) {
      if (strips_.outputs[o].number + kernel_.inputs == b) return static_cast<int32_t>(o);
    }
    return kNoId;
  }
  bool is_under_tiles(int32_t b) const {
    return b < kernel_.inputs && std::ranges::any_of(
                                     strips_.outputs,
                                     [&](const Strips::Output& output) {
                                       return kernel_.place(b).meets(kernel_.place(kernel_.inputs + output.number));
                                     });
  }

  bool are_outputs_sound() {
    const Strips& s = strips_;
    if (s.outputs.empty() || s.outputs.size() > kMostStripOutputs || s.tile <= 0 || s.phase < 0 || s.phase >= s.tile ||
        s.delay < 0 || s.head < 0 || s.head > s.elements || s.spill < 0)
      return false;
    std::map<int64_t, int64_t> taken;  // first byte of scratch -> end
    bool apart = true;
    const auto take = [&](int64_t begin, Int128 bytes) {
      if (bytes == 0) return;
      apart = apart && begin >= 0 && begin + bytes <= s.scratch_bytes &&
              taken.emplace(begin, static_cast<int64_t>(begin + bytes)).second;
    };
    for (size_t o = 0; o < s.outputs.size(); ++o) {
      const Strips::Output& output = s.outputs[o];
      const int32_t b = output.number + kernel_.inputs;
      const bool known = output.number >= 0 && static_cast<size_t>(b) < nest().buffers.size();
      if (!known || tiled(b) != static_cast<int32_t>(o) || buffer(b).elements != s.elements ||
          stored_bytes(buffer(b).type) != output.element_bytes || output.element_bytes > kPatchBytes)
        return false;
      take(output.head, Int128{s.head} * output.element_bytes);
      take(output.window, most_in_window() * output.element_bytes);
    }
    take(s.patch, Int128{2 * kPatchBytes} * std::ssize(s.patches));
    for (auto at = taken.begin(); apart && at != taken.end() && std::next(at) != taken.end(); ++at)
      apart = at->second <= std::next(at)->first;
    return apart && std::ssize(s.pieces) == kernel_.touches.piece_count() && !kernel_.touches.pieces().empty();
  }

  /// Does nothing read a result, and does each operand under a result in strips share it element by element?
  bool are_buffers_apart() const {
    for (const Touch& touch : kernel_.touches.all()) {
      if (!touch.stores && touch.buffer >= kernel_.inputs) return false;
    }
    for (int32_t o = kernel_.inputs; o < std::ssize(nest().buffers); ++o) {
      for (int32_t i = 0; i < kernel_.inputs; ++i) {
        if (!kernel_.place(o).meets(kernel_.place(i))) continue;
        const bool alike = kernel_.place(o) == kernel_.place(i) && tiled(o) != kNoId &&
                           stored_bytes(buffer(o).type) == stored_bytes(buffer(i).type);
        if (!alike) return false;
      }
    }
    return true;
  }

  bool is_stored_once() const {
    std::vector<Int128> stored(strips_.outputs.size(), 0);
    for (const Touch& touch : kernel_.touches.all()) {
      const int32_t o = touch.stores ? tiled(touch.buffer) : kNoId;
      if (o == kNoId) continue;
      const auto times = times_stored(kernel_.touches, touch);
      if (!times) return false;
      stored[o] += *times;
    }
    return std::ranges::all_of(stored, [&](Int128 n) { return n == strips_.elements; });
  }

  bool add_piece(int32_t p) {
    const StripPiece& piece = strips_.pieces[p];
    const int32_t id = kernel_.touches.pieces()[p];
    const Loop& loop = nest().loops[id];
    if (loop.kind != LoopKind::kParallel || loop.extent != piece.extent || piece.extent <= 0) return false;
    Sweep sweep{&piece, {}, {}};
    for (const Touch& touch : kernel_.touches.all()) {
      if (touch.stores && touch.first_piece == p && tiled(touch.buffer) != kNoId)
        sweep.stores.emplace_back(kernel_.touches, touch, id);
      if (!touch.stores && touch.first_piece <= p && p <= touch.last_piece && is_under_tiles(touch.buffer))
        sweep.loads.emplace_back(kernel_.touches, touch, id);
    }
    switch (piece.kind) {
      case StripPiece::kFirst: return sweep.stores.empty();
      case StripPiece::kPatch: return is_patch(sweep, p);
      case StripPiece::kSweep: break;
    }
    if (!is_sweep(sweep)) return false;
    sweeps_.push_back(std::move(sweep));
    return true;
  }

  /// Is the piece one iteration that reads everything before it stores, and whose stores are patches, put back later?
  bool is_patch(const Sweep& sweep, int32_t p) {
    patched_ += std::ssize(sweep.stores);
    if (sweep.piece->extent != 1 || operand_overwritten_by(kernel_, p)) return false;
    return std::ranges::all_of(sweep.stores, [&](const Swept& store) {
      const Extremes& at = store.first();
      return at.least == at.greatest && std::ranges::any_of(strips_.patches, [&](const Strips::Patch& patch) {
               return patch.piece == p && patch.output == tiled(store.touch().buffer) && patch.element == at.least;
             });
    });
  }

  /// Does iteration i store only from element stride * i + first on?
  static bool is_sweep(const Sweep& sweep) {
    const StripPiece& piece = *sweep.piece;
    if (piece.stride <= 0 || piece.first < 0 || piece.granule <= 0) return false;
    return std::ranges::all_of(sweep.stores, [&](const Swept& store) {
      const Int128 last = piece.extent - 1;
      return store.is_linear() && store.first().least >= piece.first &&
             store.first().least + store.step() * last >= piece.first + piece.stride * last;
    });
  }

  /// The first iteration of a piece that stores nothing before `end`; rounded up to granules, as the runtime may do.
  static int64_t iteration(const StripPiece& piece, int64_t end, int64_t granule) {
    if (end <= piece.first) return 0;
    const Int128 i = (Int128{end} - piece.first + piece.stride - 1) / piece.stride;
    return static_cast<int64_t>(std::min<Int128>(piece.extent, (i + granule - 1) / granule * granule));
  }

  /// How many elements scratch must keep for a result.
  Int128 most_in_window() const {
    const Strips& s = strips_;
    return std::min<Int128>(s.elements, Int128{s.delay} + s.tile + s.spill);
  }

  std::string follow_tiles() const {
    const Strips& s = strips_;
    int64_t begin = 0, written = 0;
    for (Int128 next = s.phase > 0 ? s.phase : s.tile; begin < s.elements; next += s.tile) {
      const auto end = static_cast<int64_t>(std::min<Int128>(s.elements, next));
      const auto filled = static_cast<int64_t>(std::min<Int128>(s.elements, Int128{end} + s.spill));
      if (filled - written > most_in_window()) return "a tile leaves its window";
      for (const Sweep& sweep : sweeps_) {
        const StripPiece& piece = *sweep.piece;
        const int64_t from = begin == 0 ? 0 : iteration(piece, begin, 1);
        const int64_t to = end == s.elements ? piece.extent : iteration(piece, end, piece.granule);
        if (from >= to) continue;
        for (const Swept& load : sweep.loads) {
          const Extremes read = load.in(from, to);
          if (written > s.head && read.greatest >= s.head && read.least < written)
            return "a tile reads what has been written back";
        }
        for (const Swept& store : sweep.stores) {
          const Extremes made = store.in(from, to);
          if (made.least < written || made.greatest >= filled) return "a tile stores outside of its window";
        }
      }
      written = end == s.elements ? end : std::max(written, end - s.delay);
      begin = end;
    }
    return {};
  }

  const PlacedKernel& kernel_;
  const Strips& strips_;
  std::vector<Sweep> sweeps_;
  int64_t patched_ = 0;  ///< stores whose elements are put back
};

}  // namespace

std::string fault_of_strips(const PlacedKernel& kernel, const Strips& strips) {
  return StripsProof(kernel, strips).run();
}

}  // namespace lowtide::engine
