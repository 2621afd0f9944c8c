#include "target/roles.h"

#include <algorithm>

#include "analysis/evaluations.h"
#include "analysis/partitioning.h"
#include "ops/op_rule.h"
#include "ops/sharding_calls.h"

namespace lowtide::engine {
namespace {

constexpr double kFewTerms = 16;  ///< sums this short are like elementwise arithmetic
/// The least size of a product worth a call. With 64 bits, writing short sums takes as long as computing them.
constexpr double kManyProducts = 1 << 20, kLeastTerms = 4;
constexpr double kFewReads = 4;  ///< reads of each operand element that need no library's blocking

/// Transposes and broadcasts that only move, add or drop dimensions of one element leave every byte in place.
bool keeps_order(const Instruction& i) {
  const Shape& from = i.operand(0).shape;
  if (element_count(from) != element_count(i.shape)) return false;
  const Dims& map = i.as<DimensionsAttributes>().dimensions;
  int64_t last = -1;
  for (int64_t d = 0; d < i.shape.rank(); ++d) {
    int64_t at = d;
    if (i.opcode == Opcode::kTranspose) {
      at = map[d];
      if (from.dims[at] == 1) continue;
    } else {
      if (d >= from.rank() || from.dims[d] == 1) continue;
      at = map[d];
    }
    if (at < last) return false;
    last = at;
  }
  return true;
}

bool whole_bytes(ElementType type) { return is_array_type(type) && type_bits(type) == 8 * stored_bytes(type); }

}  // namespace

/// Not if sums are short or one side is hardly more than a vector: then operands, even if recomputed for each read, are
/// read only a few times, and the dot can as well be computed element by element.
bool is_thick(const Instruction& dot) {
  if (terms_of(dot) <= kFewTerms) return false;
  const double contracted = terms_of(dot), result = elements_of(dot.shape);
  const double left = elements_of(dot.operand(0).shape), right = elements_of(dot.operand(1).shape);
  // result = batch m n, left = batch m k, right = batch k n
  return std::min(result * contracted / std::max(left, 1.0), result * contracted / std::max(right, 1.0)) > kFewReads;
}

/// If the contracted dimension of an operand isn't its last, a kernel's lanes read it contiguously, while a routine
/// must transpose or copy it, unless it widens the elements anyway: then more reads are needed to be worth a call.
bool is_worth_a_call(const Instruction& dot) {
  const Shape &l = dot.operand(0).shape, &r = dot.operand(1).shape;
  const double terms = terms_of(dot), result = elements_of(dot.shape), left = elements_of(l), right = elements_of(r);
  const auto& a = dot.as<DotAttributes>();
  const auto lies_across = [](const Shape& operand, const Dims& contracted) {
    return type_bits(operand.type) >= 32 && std::ranges::find(contracted, operand.rank() - 1) == contracted.end();
  };
  double least_reads = 2;
  if (left >= right && lies_across(l, a.lhs_contracting_dims)) least_reads = kFewReads + 1;
  if (left < right && lies_across(r, a.rhs_contracting_dims)) least_reads = 3;
  const double least_terms = type_bits(dot.shape.type) <= 32 ? kLeastTerms : kFewTerms;
  return terms * result >= kManyProducts && terms >= least_terms &&
         result * terms / std::max({left, right, 1.0}) >= least_reads;
}

bool has_element(const Instruction& i) {
  const OpRule& rule = rule_of(i.opcode);
  if (!rule.element && !rule.leaf_element) return false;
  return !rule.has_element || rule.has_element(i);
}

bool has_update(const Instruction& i) {
  const OpRule& rule = rule_of(i.opcode);
  return (rule.update || rule.store) && (!rule.has_update || rule.has_update(i));
}

bool is_running_fold(const Instruction& i) { return has_update(i) && !rule_of(i.opcode).updated_operand; }

bool can_be_view(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kReshape: return true;
    case Opcode::kBitcast:
    case Opcode::kBitcastConvert:
      return whole_bytes(i.shape.type) && whole_bytes(i.operand(0).shape.type) &&
             logical_bytes(i.shape) == logical_bytes(i.operand(0).shape) && is_row_major(i.shape) &&
             is_row_major(i.operand(0).shape);
    case Opcode::kTranspose:
    case Opcode::kBroadcast: return keeps_order(i);
    // Whole and part are the same bytes on one device. If sizes are those of all devices, they are different arrays.
    case Opcode::kCustomCall:
      return !i.shape.is_tuple() && names_its_operands(i) && stated_parts(i.parent->module()).has_value();
    default: return false;
  }
}

bool is_heavy(const Instruction& i) {
  switch (memory_class(i.opcode)) {
    case MemoryClass::kReduce:
    case MemoryClass::kContract: return terms_of(i) > kFewTerms;
    case MemoryClass::kSource:
    case MemoryClass::kView:
    case MemoryClass::kElementwise:
    case MemoryClass::kIndexMap: return false;
    default:
      return i.opcode != Opcode::kRngBitGenerator && i.opcode != Opcode::kWhile && i.opcode != Opcode::kConditional;
  }
}

}  // namespace lowtide::engine
