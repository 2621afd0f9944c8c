#include "passes/rules/trip_places.h"

#include <algorithm>

#include "ir/element_read.h"
#include "passes/in_place/slices.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepestPlace = 16;                   ///< operations looked through
constexpr int64_t kMostProduct = int64_t{1} << 40;  ///< products of iterations and smaller steps don't overflow

bool holds(ElementType type, const Progression& p, int64_t trips) {
  if (p.start <= -kMostProduct || p.start >= kMostProduct || std::abs(p.step) * trips >= kMostProduct) return false;
  const int64_t last = p.start + p.step * (trips - 1);
  const int64_t least = std::min(p.start, last), greatest = std::max(p.start, last);
  const int bits = type_bits(type);
  if (type_kind(type) == TypeKind::kUnsigned) return least >= 0 && (bits >= 63 || greatest < (int64_t{1} << bits));
  if (type_kind(type) != TypeKind::kSigned) return false;
  return bits >= 64 || (least >= -(int64_t{1} << (bits - 1)) && greatest < (int64_t{1} << (bits - 1)));
}

std::optional<Progression> look(const Instruction& value, const Instruction& loop, int64_t trips, int depth) {
  if (depth > kDeepestPlace || !value.shape.is_array() || !is_integral(value.shape.type)) return std::nullopt;
  if (element_count(value.shape) != 1) return std::nullopt;
  std::optional<Progression> found;
  const auto operand = [&](size_t k) { return look(value.operand(k), loop, trips, depth + 1); };
  switch (value.opcode) {
    case Opcode::kConstant:
      if (const Literal* literal = known_constant(value)) found = {integer_at(*literal, 0), 0};
      break;
    case Opcode::kGetTupleElement:
      if (element_read(value) < 0 || value.parent != loop.called[1]) return std::nullopt;
      found = progression_of(loop, element_read(value));
      break;
    case Opcode::kCopy:
    case Opcode::kReshape:
    case Opcode::kBroadcast:
    case Opcode::kConvert: found = operand(0); break;
    case Opcode::kAdd:
    case Opcode::kSubtract: {
      const auto a = operand(0), b = operand(1);
      if (!a || !b) return std::nullopt;
      const int64_t sign = value.opcode == Opcode::kAdd ? 1 : -1;
      found = {a->start + sign * b->start, a->step + sign * b->step};
      break;
    }
    case Opcode::kMaximum:
    case Opcode::kMinimum: {  // one operand in every iteration, if it is above the other in the first and the last
      const auto a = operand(0), b = operand(1);
      if (!a || !b) return std::nullopt;
      const auto lies_above = [&](const Progression& x, const Progression& y) {
        return x.start >= y.start && x.start + x.step * (trips - 1) >= y.start + y.step * (trips - 1);
      };
      const bool wants_upper = value.opcode == Opcode::kMaximum;
      if (lies_above(*a, *b)) found = wants_upper ? *a : *b;
      if (!found && lies_above(*b, *a)) found = wants_upper ? *b : *a;
      break;
    }
    case Opcode::kNegate:
      found = operand(0);
      if (found) found = {-found->start, -found->step};
      break;
    default: return std::nullopt;
  }
  return found && holds(value.shape.type, *found, trips) ? found : std::nullopt;
}

}  // namespace

std::optional<Progression> in_each_trip(const Instruction& value, const Instruction& loop, int64_t trips) {
  return look(value, loop, trips, 0);
}

std::optional<TripPlaces> trip_places(const Instruction& i, size_t first_start, const Shape& part, const Shape& all,
                                      const Instruction& loop, int64_t trips) {
  std::optional<TripPlaces> found;
  for (size_t d = 0; d < all.dims.size(); ++d) {
    const Instruction& start = i.operand(first_start + d);
    if (part.dims[d] == all.dims[d] && is_zero(start)) continue;
    const auto places = in_each_trip(start, loop, trips);
    if (found || part.dims[d] != 1 || !places) return std::nullopt;
    found = {d, *places};
    const int64_t last = found->last(trips);
    if (std::min(places->start, last) < 0 || std::max(places->start, last) >= all.dims[d]) return std::nullopt;
  }
  return found;
}

}  // namespace lowtide::engine
