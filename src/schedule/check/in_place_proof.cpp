#include "schedule/check/in_place_proof.h"

#include <algorithm>
#include <map>

#include "ir/element_type.h"
#include "schedule/check/equation.h"

namespace lowtide::engine {
namespace {

/// The bytes that an access touches: `size` bytes at begin + size * element.
struct TouchedBytes {
  TouchedBytes(const Touches& kernel, const Touch& access, Int128 first)
      : of(kernel), touch(access), begin(first), size(element_bytes(kernel, access.buffer)) {
    const Extremes elements = of.bounds(*touch.element, kNoId, 0, 0);
    reach = {begin + size * elements.least, begin + size * elements.greatest + size - 1};
  }
  static int64_t element_bytes(const Touches& of, int32_t b) { return stored_bytes(of.nest().buffers[b].type); }

  const Touches& of;
  const Touch& touch;
  Int128 begin = 0;
  int64_t size = 0;
  Extremes reach;  ///< of all iterations
};

/// Which iterations of two accesses of one kernel are compared: both are in the same iteration of the first `still`
/// loops around both, and in the next loop the store's iteration is later (1) or earlier (-1) than the load's; 0: any.
struct Iterations {
  size_t still = 0;
  int later = 0;
};

class Meeting {
 public:
  Meeting(const TouchedBytes& load, const TouchedBytes& store) : load_(load), store_(store) {
    const Int128 apart = load.begin - store.begin;
    if (load.size == store.size && apart % load.size == 0) {
      unit_ = load.size;
    } else {  // compare the bytes of both elements
      equation_.add(1, 0, load.size - 1);
      equation_.add(-1, 0, store.size - 1);
    }
    equation_.add(apart / unit_);
    equation_.add(Int128{load.touch.element->constant} * scale(load));
    equation_.add(-Int128{store.touch.element->constant} * scale(store));
  }

  /// May two unrelated executions meet, such as those of two kernels?
  bool may_be() {
    add_apart(load_, 1);
    add_apart(store_, -1);
    return equation_.may_hold();
  }

  /// May these iterations of one kernel meet?
  bool may_be(const Iterations& how) {
    const Touches& of = load_.of;
    const std::vector<int32_t>& loops = load_.touch.loops;
    const int32_t differs = how.later != 0 ? loops[how.still] : kNoId;
    std::map<NodeId, std::pair<Int128, Int128>> atoms;
    for (const auto& term : load_.touch.element->terms) atoms[term.atom].first = term.coefficient * scale(load_);
    for (const auto& term : store_.touch.element->terms) atoms[term.atom].second = term.coefficient * scale(store_);
    for (const auto& [atom, by] : atoms) {
      const auto [least, greatest] = of.bounds(atom);
      const Node& node = of.nest().nodes[atom];
      if (of.is_fixed_by(atom, loops, how.still)) {
        equation_.add(by.first - by.second, least, greatest);
      } else if (node.kind == NodeKind::kLoopIndex && node.loop == differs && by.first == by.second) {
        const Int128 most = greatest - least;
        equation_.add(-by.second, how.later > 0 ? Int128{1} : -most, how.later > 0 ? most : Int128{-1});
      } else {
        equation_.add(by.first, least, greatest);
        equation_.add(-by.second, least, greatest);
      }
    }
    return equation_.may_hold();
  }

 private:
  Int128 scale(const TouchedBytes& of) const { return of.size / unit_; }
  void add_apart(const TouchedBytes& of, int sign) {
    for (const auto& term : of.touch.element->terms) {
      const auto [least, greatest] = of.of.bounds(term.atom);
      equation_.add(sign * term.coefficient * scale(of), least, greatest);
    }
  }

  const TouchedBytes &load_, &store_;
  int64_t unit_ = 1;
  Equation equation_;
};

bool are_apart(const Extremes& a, const Extremes& b) { return a.greatest < b.least || b.greatest < a.least; }

/// May the store write an element before the load reads it?
bool may_come_before(const TouchedBytes& store, const TouchedBytes& load) {
  const Touches& of = load.of;
  const Touch &reads = load.touch, &writes = store.touch;
  const int32_t piece = writes.first_piece;
  if (reads.last_piece < piece || are_apart(load.reach, store.reach)) return false;
  if (reads.ahead || reads.last_piece > piece) {
    const bool once = reads.last_piece == piece && of.runs_at_once(piece);
    return !once && Meeting(load, store).may_be(Iterations{});
  }
  size_t common = 0;
  while (common < std::min(reads.loops.size(), writes.loops.size()) && reads.loops[common] == writes.loops[common])
    ++common;
  for (size_t k = 0; k < common; ++k) {
    const Loop& loop = of.nest().loops[reads.loops[k]];
    if (loop.kind == LoopKind::kWhile) {
      if (Meeting(load, store).may_be(Iterations{k, 0})) return true;
    } else if (loop.extent > 1) {
      if (Meeting(load, store).may_be(Iterations{k, 1}) || Meeting(load, store).may_be(Iterations{k, -1})) return true;
    }
  }
  return reads.order > writes.order && Meeting(load, store).may_be(Iterations{common, 0});
}

/// The operand that is overwritten before it is read, considering only accesses with takes_part().
std::optional<int32_t> overwritten(const PlacedKernel& kernel, const auto& takes_part) {
  std::vector<TouchedBytes> stores;
  for (const Touch& touch : kernel.touches.all()) {
    if (!touch.stores || !takes_part(touch) || kernel.changes_nothing(touch)) continue;
    stores.emplace_back(kernel.touches, touch, kernel.place(touch.buffer).begin);
  }
  for (const Touch& touch : kernel.touches.all()) {
    if (touch.stores || touch.buffer >= kernel.inputs || !takes_part(touch)) continue;
    const BytePlace& place = kernel.place(touch.buffer);
    std::optional<TouchedBytes> load;
    for (const TouchedBytes& store : stores) {
      if (!place.meets(kernel.place(store.touch.buffer))) continue;
      if (std::ranges::find(kernel.standing, std::pair(store.touch.buffer, touch.buffer)) != kernel.standing.end())
        continue;
      if (!load) load.emplace(kernel.touches, touch, place.begin);
      if (may_come_before(store, *load)) return touch.buffer;
    }
  }
  return {};
}

}  // namespace

bool PlacedKernel::changes_nothing(const Touch& store) const {
  const Node& value = touches.nest().nodes[store.value];
  if (value.kind != NodeKind::kLoad || value.buffer >= inputs) return false;
  const BytePlace &to = place(store.buffer), &from = place(value.buffer);
  const int64_t size = TouchedBytes::element_bytes(touches, store.buffer);
  return to.space == from.space && TouchedBytes::element_bytes(touches, value.buffer) == size &&
         value.affine.terms == store.element->terms &&
         from.begin - to.begin == (store.element->constant - value.affine.constant) * size;
}

std::optional<int32_t> operand_overwritten(const PlacedKernel& kernel) {
  return overwritten(kernel, [](const Touch&) { return true; });
}

std::optional<int32_t> operand_overwritten_by(const PlacedKernel& kernel, int32_t piece) {
  return overwritten(kernel, [&](const Touch& touch) { return !touch.ahead && touch.first_piece == piece; });
}

bool is_idle(const PlacedKernel& kernel, int32_t piece) {
  return std::ranges::all_of(kernel.touches.all(), [&](const Touch& touch) {
    return !touch.stores || touch.first_piece != piece || kernel.changes_nothing(touch);
  });
}

bool may_read_of(const Touches& reader, int32_t input, const Touches& writer, int32_t output) {
  for (const Touch& load : reader.all()) {
    if (load.stores || load.buffer != input) continue;
    const TouchedBytes reads(reader, load, 0);
    for (const Touch& store : writer.all()) {
      if (!store.stores || store.buffer != output) continue;
      const TouchedBytes writes(writer, store, 0);
      if (!are_apart(reads.reach, writes.reach) && Meeting(reads, writes).may_be()) return true;
    }
  }
  return false;
}

}  // namespace lowtide::engine
