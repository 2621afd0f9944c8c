/// Affine arithmetic of a NestBuilder. A division that bounds don't decide becomes an atom q = floor(x / d); the
/// remainder is x - d q, so that splitting an index and recombining it gives the same sum.

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/int128.h"
#include "nest/builder_state.h"
#include "nest/reach.h"

namespace lowtide::engine {
namespace {

int64_t floor_of(int64_t x, int64_t y) { return x / y - (x % y != 0 && (x < 0) != (y < 0)); }

constexpr int64_t kMostCutsOfADivision = 2;
constexpr int kDeepest = 8;  // levels of nested remainders that bounds look through

/// Have the numbers in a position, which reshapes and transpositions of many dimensions split and recombine repeatedly,
/// grown so much that they may overflow the next time?
bool has_grown(const Affine& position, int64_t elements) {
  const auto is_large = [&](int64_t number) {
    return std::abs(static_cast<double>(number)) * static_cast<double>(elements) > 0x1p56;
  };
  return is_large(position.constant) || std::ranges::any_of(position.terms, is_large, &Affine::Term::coefficient);
}

}  // namespace

Affine NestBuilder::affine(NodeId integer) {
  if (auto view = affine_view(integer)) return *view;
  const NodeId wide = convert(integer, ElementType::kS64);
  if (auto view = affine_view(wide)) return *view;
  return {0, {{wide, 1}}};
}

std::optional<Affine> NestBuilder::affine_view(NodeId id) const {
  const Node& value = node(id);
  if (!is_integral(value.type)) return {};
  if (value.kind == NodeKind::kConstant) {
    const int64_t constant = integer_of_bits(value.type, value.bits);
    if (value.type == ElementType::kU64 && constant < 0) return {};
    return Affine{constant, {}};
  }
  if (value.type == ElementType::kS64) {
    if (value.kind == NodeKind::kAffine) return value.affine;
    return Affine{0, {{id, 1}}};
  }
  if (value.kind != NodeKind::kOperation || value.opcode != Opcode::kConvert) return {};
  const Node& from = node(value.operands[0]);
  if (from.type != ElementType::kS64) return {};
  const Bounds range = value.type == ElementType::kU64 ? Bounds{0, INT64_MAX} : range_of(value.type);
  if (from.least < range.least || from.greatest > range.greatest) return {};
  return affine_view(value.operands[0]);
}

Affine NestBuilder::plus(const Affine& a, const Affine& b) {
  Affine sum;
  LT_ASSERT(!__builtin_add_overflow(a.constant, b.constant, &sum.constant), "an index overflows");
  auto x = a.terms.begin(), y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->atom < y->atom)) {
      sum.terms.push_back(*x++);
    } else if (x == a.terms.end() || y->atom < x->atom) {
      sum.terms.push_back(*y++);
    } else {
      int64_t coefficient = 0;
      LT_ASSERT(!__builtin_add_overflow(x->coefficient, y->coefficient, &coefficient), "an index overflows");
      if (coefficient != 0) sum.terms.push_back({x->atom, coefficient});
      ++x, ++y;
    }
  }
  return sum;
}

Affine NestBuilder::times(const Affine& a, int64_t factor) {
  if (factor == 0) return {};
  Affine product = a;
  bool overflow = __builtin_mul_overflow(a.constant, factor, &product.constant);
  for (auto& term : product.terms) {
    overflow = __builtin_mul_overflow(term.coefficient, factor, &term.coefficient) || overflow;
  }
  LT_ASSERT(!overflow, "an index overflows");
  return product;
}

Bounds NestBuilder::plain_bounds(const Affine& a) const {
  const Reach all = reach_of(nest_, a, kNoId);
  return {saturated(all.least), saturated(all.greatest)};
}

Bounds NestBuilder::bounds(const Affine& a) const { return bounds_within(a, kDeepest); }

// k x - k d q with q = floor(x / d) is k times a remainder, though each part alone may be large.
Bounds NestBuilder::bounds_within(const Affine& a, int depth) const {
  Bounds best = plain_bounds(a);
  if (depth == 0) return best;
  for (const auto& term : a.terms) {
    const auto quotient = quotient_of(term.atom);
    if (!quotient || term.coefficient % quotient->divisor != 0) continue;
    const int64_t k = -term.coefficient / quotient->divisor;
    Affine rest = a;
    std::erase_if(rest.terms, [&](const Affine::Term& t) { return t.atom == term.atom; });
    bool shrinks = true;
    for (const auto& part : quotient->of.terms) {
      const auto same = std::find_if(rest.terms.begin(), rest.terms.end(),
                                     [&](const Affine::Term& t) { return t.atom == part.atom; });
      shrinks = shrinks && same != rest.terms.end() && (same->coefficient > 0) == (Int128{k} * part.coefficient > 0);
      if (!shrinks) break;
      const Int128 left = Int128{same->coefficient} - Int128{k} * part.coefficient;
      shrinks = left == saturated(left);
      same->coefficient = static_cast<int64_t>(left);
    }
    if (!shrinks) continue;
    std::erase_if(rest.terms, [](const Affine::Term& t) { return t.coefficient == 0; });
    rest.constant = saturated(Int128{rest.constant} - Int128{k} * quotient->of.constant);
    const Bounds others = bounds_within(rest, depth - 1);
    const Int128 most = Int128{k} * (quotient->divisor - 1);
    best.least = std::max(best.least, saturated(Int128{others.least} + std::min(most, Int128{0})));
    best.greatest = std::min(best.greatest, saturated(Int128{others.greatest} + std::max(most, Int128{0})));
  }
  return best;
}

std::optional<NestBuilder::Quotient> NestBuilder::quotient_of(NodeId atom) const {
  const Node& value = node(atom);
  if (value.kind != NodeKind::kOperation || value.opcode != Opcode::kDivide || value.type != ElementType::kS64) {
    return {};
  }
  const Node& divisor = node(value.operands[1]);
  if (divisor.kind != NodeKind::kConstant || static_cast<int64_t>(divisor.bits[0]) <= 0) return {};
  if (node(value.operands[0]).least < 0) return {};
  const auto of = affine_view(value.operands[0]);
  if (!of) return {};
  return Quotient{*of, static_cast<int64_t>(divisor.bits[0])};
}

Affine NestBuilder::floor_divide(const Affine& a, int64_t divisor) {
  LT_ASSERT(divisor > 0, "an index is divided by what isn't positive");
  if (divisor == 1) return a;
  const Bounds whole = bounds(a);
  if (floor_of(whole.least, divisor) == floor_of(whole.greatest, divisor)) {
    return fixed(floor_of(whole.least, divisor));
  }
  // terms that are multiples of the divisor are divided exactly; only the rest needs a division
  Affine even, rest;
  even.constant = floor_of(a.constant, divisor);
  rest.constant = a.constant - even.constant * divisor;
  for (const auto& term : a.terms) {
    if (term.coefficient % divisor == 0) {
      even.terms.push_back({term.atom, term.coefficient / divisor});
    } else {
      rest.terms.push_back(term);
    }
  }
  if (rest.terms.empty()) return even;
  // floor((g r + c) / (g d)) = floor((r + floor(c / g)) / d)
  int64_t common = divisor;
  for (const auto& term : rest.terms) common = std::gcd(common, term.coefficient);
  rest.constant = floor_of(rest.constant, common);
  for (auto& term : rest.terms) term.coefficient /= common;
  divisor /= common;
  Bounds left = bounds(rest);
  if (const int64_t low = floor_of(left.least, divisor); low == floor_of(left.greatest, divisor)) {
    return plus(even, fixed(low));
  }
  // floor((floor(x / e) + c) / d) = floor((x + c e) / (d e))
  if (rest.terms.size() == 1 && rest.terms[0].coefficient == 1) {
    if (const auto quotient = quotient_of(rest.terms[0].atom);
        quotient && Int128{divisor} * quotient->divisor < INT64_MAX / 2 && rest.constant >= 0) {
      return plus(even, floor_divide(plus(quotient->of, fixed(rest.constant * quotient->divisor)),
                                     divisor * quotient->divisor));
    }
  }
  if (left.least < 0) {  // HLO's division rounds toward zero: make the dividend non-negative and correct the quotient
    const int64_t lift = -floor_of(left.least, divisor);
    even.constant -= lift;
    rest.constant += lift * divisor;
    left = {left.least + lift * divisor, left.greatest + lift * divisor};
  }
  const int64_t first = floor_of(left.least, divisor), last = floor_of(left.greatest, divisor);
  if (last - first <= kMostCutsOfADivision) {
    for (int64_t multiple = first + 1; multiple <= last; ++multiple) note_cut(rest, multiple * divisor);
  }
  const NodeId dividend = value_of(rest);
  Node made{.kind = NodeKind::kOperation, .opcode = Opcode::kDivide, .type = ElementType::kS64};
  made.operands = {dividend, integer(ElementType::kS64, divisor)};
  made.least = left.least / divisor;
  made.greatest = left.greatest / divisor;
  return plus(even, {0, {{make(std::move(made)), 1}}});
}

void NestBuilder::note_cut(const Affine& a, int64_t limit) {
  if (a.terms.empty()) return;
  const auto longest =
      std::ranges::max_element(a.terms, {}, [](const auto& term) { return std::abs(term.coefficient); });
  const int64_t coefficient = longest->coefficient;
  if (node(longest->atom).kind != NodeKind::kLoopIndex) return;
  const int32_t loop = node(longest->atom).loop;
  const Loop& along = nest_.loops[loop];
  if (along.kind != LoopKind::kParallel) return;
  // The other terms must lie within one step of the longest: a position in rows.
  Affine others = a;
  others.terms.erase(others.terms.begin() + (longest - a.terms.begin()));
  const Bounds rest = bounds(others);
  if (Int128{rest.greatest} - rest.least >= std::abs(coefficient)) return;
  // c i < r: i < ceil(r / c); with c < 0: i > r / c, so i >= floor(r / c) + 1
  for (const int64_t end : {rest.least, rest.greatest}) {
    const int64_t r = limit - end;
    const int64_t at = coefficient > 0 ? -floor_of(-r, coefficient) : floor_of(r, coefficient) + 1;
    if (at <= 0 || at >= along.extent) continue;
    shared_->cuts.insert({loop, at});
    shared_->has_mixed_cuts |= !others.terms.empty();
  }
}

Affine NestBuilder::remainder(const Affine& a, int64_t divisor) {
  return plus(a, times(floor_divide(a, divisor), -divisor));
}

Affine NestBuilder::remainder_as_atom(const Affine& a, int64_t divisor) {
  const Bounds whole = bounds(a);
  Node made{.kind = NodeKind::kOperation, .opcode = Opcode::kRemainder, .type = ElementType::kS64};
  made.operands = {value_of(a), integer(ElementType::kS64, divisor)};
  made.least = whole.least < 0 ? 1 - divisor : 0;
  made.greatest = divisor - 1;
  return {0, {{make(std::move(made)), 1}}};
}

Affine NestBuilder::clamp(const Affine& a, int64_t least, int64_t greatest) {
  if (least == greatest) return fixed(least);
  const Bounds known = bounds(a);
  if (known.least >= least && known.greatest <= greatest) return a;
  if (known.least >= greatest) return fixed(greatest);
  if (known.greatest <= least) return fixed(least);
  note_cut(a, least);
  note_cut(a, greatest + 1);
  Node made{.kind = NodeKind::kOperation, .opcode = Opcode::kClamp, .type = ElementType::kS64};
  made.operands = {integer(ElementType::kS64, least), value_of(a), integer(ElementType::kS64, greatest)};
  made.least = std::max(least, known.least);
  made.greatest = std::min(greatest, known.greatest);
  return {0, {{make(std::move(made)), 1}}};
}

NodeId NestBuilder::value_of(const Affine& a) {
  if (a.terms.empty()) return integer(ElementType::kS64, a.constant);
  if (a.constant == 0 && a.terms.size() == 1 && a.terms[0].coefficient == 1) return a.terms[0].atom;
  Node made{.kind = NodeKind::kAffine, .type = ElementType::kS64, .affine = a};
  const Bounds known = bounds(a);
  made.least = known.least;
  made.greatest = known.greatest;
  return make(std::move(made));
}

std::optional<bool> NestBuilder::known_less(const Affine& a, int64_t limit) {
  const Bounds known = bounds(a);
  if (known.greatest < limit) return true;
  if (known.least >= limit) return false;
  note_cut(a, limit);
  return {};
}

std::optional<bool> NestBuilder::known_comparison(const Affine& difference, CompareDirection direction) {
  const auto inverted = [](std::optional<bool> known) { return known ? std::optional(!*known) : known; };
  switch (direction) {
    case CompareDirection::kLt: return known_less(difference, 0);
    case CompareDirection::kGe: return inverted(known_less(difference, 0));
    case CompareDirection::kLe: return known_less(difference, 1);
    case CompareDirection::kGt: return inverted(known_less(difference, 1));
    case CompareDirection::kEq:
    case CompareDirection::kNe: {
      const Bounds known = bounds(difference);
      const bool equal = known.least == 0 && known.greatest == 0;
      if (!equal && known.least <= 0 && known.greatest >= 0) {
        note_cut(difference, 0);
        note_cut(difference, 1);
        return {};
      }
      return equal == (direction == CompareDirection::kEq);
    }
  }
  return {};
}

NodeId NestBuilder::less(const Affine& a, int64_t limit) {
  if (const auto known = known_less(a, limit)) return integer(ElementType::kPred, *known);
  return compare(value_of(a), integer(ElementType::kS64, limit), {CompareDirection::kLt, CompareType::kDefault});
}

NodeId NestBuilder::within(const Affine& a, int64_t least, int64_t greatest) {
  if (least > greatest) return integer(ElementType::kPred, 0);
  const NodeId above = operation(Opcode::kNot, ElementType::kPred, {less(a, least)});
  if (known_integer(above) == 0) return above;
  return operation(Opcode::kAnd, ElementType::kPred, {above, less(a, greatest + 1)});
}

Affine NestBuilder::position(const Index& index, const Dims& extents) {
  Affine at;
  int64_t stride = 1;
  for (size_t d = extents.size(); d-- > 0;) {
    at = plus(at, times(index[d], stride));
    stride *= std::max<int64_t>(extents[d], 1);
  }
  return at;
}

Index NestBuilder::index_at(const Affine& position, const Dims& extents) {
  Index index(extents.size());
  int64_t elements = 1;
  for (const int64_t extent : extents) elements *= std::max<int64_t>(extent, 1);
  Affine rest = has_grown(position, elements) ? remainder_as_atom(position, elements) : position;
  for (size_t d = extents.size(); d-- > 0;) {
    if (extents[d] <= 1) continue;
    bool outermost = true;
    for (size_t e = 0; e < d; ++e) outermost = outermost && extents[e] <= 1;
    if (outermost) {
      index[d] = rest;
      break;
    }
    const Affine next = floor_divide(rest, extents[d]);
    index[d] = plus(rest, times(next, -extents[d]));
    rest = next;
  }
  return index;
}

}  // namespace lowtide::engine
