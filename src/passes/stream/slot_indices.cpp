#include "passes/stream/slot_indices.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "analysis/trip_count.h"
#include "ir/literal.h"
#include "ops/no_calls.h"
#include "passes/rewrite.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kMostTrips = 1 << 14;
constexpr int kDeepest = 64;

/// Values of scalars in one iteration.
class Scalars {
 public:
  Scalars(const TripCount& trips, int64_t trip) : trips_(trips), trip_(trip) {}

  Value value_of(const Instruction& i, int depth = 0) {
    if (depth > kDeepest || !i.shape.is_array() || i.shape.rank() != 0) return nullptr;
    const auto known = values_.find(&i);
    if (known != values_.end()) return known->second;
    return values_[&i] = compute(i, depth);
  }

 private:
  Value compute(const Instruction& i, int depth) {
    if (i.opcode == Opcode::kConstant) return known_constant(i) ? i.as<ConstantAttributes>().value : nullptr;
    if (i.opcode == Opcode::kGetTupleElement) {
      const bool counts =
          i.operand(0).opcode == Opcode::kParameter && i.as<TupleIndexAttributes>().index == trips_.carry;
      return counts && is_integral(i.shape.type) ? counter(i.shape.type) : nullptr;
    }
    if (memory_class(i.opcode) != MemoryClass::kElementwise) return nullptr;
    std::vector<Value> operands;
    for (const Instruction* operand : i.operands) {
      operands.push_back(value_of(*operand, depth + 1));
      if (operands.back() == nullptr) return nullptr;
    }
    NoCalls context;
    auto value = rule_of(i.opcode).eval(i, operands, context);
    return value.ok() ? value.take() : nullptr;
  }

  Value counter(ElementType type) const {
    auto literal = std::make_shared<Literal>(Shape::scalar(type));
    const int64_t count = trips_.start + trip_ * trips_.step;
    std::memcpy(literal->bytes().data(), &count, literal->bytes().size());
    return literal;
  }

  const TripCount& trips_;
  int64_t trip_;
  std::unordered_map<const Instruction*, Value> values_;
};

}  // namespace

std::vector<int64_t> slots_of_trips(const Instruction& start, const Instruction& loop, int64_t last) {
  const auto trips = trip_count(loop);
  if (!trips || trips->carry < 0 || trips->trips < 1 || trips->trips > kMostTrips) return {};
  std::vector<int64_t> slots;
  for (int64_t trip = 0; trip < trips->trips; ++trip) {
    const Value slot = Scalars(*trips, trip).value_of(start);
    if (slot == nullptr || !slot->known()) return {};
    slots.push_back(std::clamp<int64_t>(index_at(*slot, 0), 0, last));
  }
  return slots;
}

bool writes_each_slot_once(const Instruction& update, const Instruction& loop) {
  const Shape &stack = update.shape, &slot = update.operand(1).shape;
  for (size_t d = 0; d < stack.dims.size(); ++d) {
    std::vector<int64_t> starts = slots_of_trips(update.operand(2 + d), loop, stack.dims[d] - slot.dims[d]);
    if (starts.empty()) continue;
    std::ranges::sort(starts);
    // Slices that are disjoint along one dimension are disjoint.
    const auto near = std::ranges::adjacent_find(starts, [&](int64_t a, int64_t b) { return b - a < slot.dims[d]; });
    if (near == starts.end()) return true;
  }
  return false;
}

}  // namespace lowtide::engine
