#include "passes/rules/one_hot.h"

#include <functional>
#include <limits>

namespace lowtide::engine {
namespace {

constexpr int kDeepestMatch = 48;  ///< operations looked through

class Matcher {
 public:
  explicit Matcher(Maker* maker) : maker_(maker) {}

  /// `negated`: with zero and one exchanged; only for predicates.
  std::optional<OneHot> match(Instruction* value, int64_t d, bool negated, int depth) {
    if (depth > kDeepestMatch || !value->shape.is_array() || !value->shape.dynamic.empty()) return std::nullopt;
    if (value->shape.dims[d] < 2) return std::nullopt;
    const bool predicate = value->shape.type == ElementType::kPred;
    if (negated && !predicate) return std::nullopt;
    switch (value->opcode) {
      case Opcode::kCompare: return compared(*value, d, negated);
      case Opcode::kNot: return predicate ? match(value->operands[0], d, !negated, depth + 1) : std::nullopt;
      case Opcode::kConvert: return converted(*value, d, depth);
      case Opcode::kSelect: return negated ? std::nullopt : selected(*value, d, depth);
      case Opcode::kAnd:
      case Opcode::kOr: return masked(*value, d, negated, depth);
      case Opcode::kMultiply: return scaled(*value, d, depth);
      case Opcode::kReshape:
      case Opcode::kTranspose:
      case Opcode::kBroadcast:
      case Opcode::kCopy: return moved(*value, d, negated, depth);
      case Opcode::kSlice:
      case Opcode::kDynamicSlice: return sliced(*value, d, negated, depth);
      default: return std::nullopt;
    }
  }

 private:
  Instruction* rows(Instruction* value, int64_t d) { return without_dimension(value, d, maker_); }

  std::optional<OneHot> compared(Instruction& compare, int64_t d, bool negated) {
    if (compare.as<CompareAttributes>().direction != (negated ? CompareDirection::kNe : CompareDirection::kEq)) {
      return std::nullopt;
    }
    for (size_t k = 0; k < 2; ++k) {
      const auto first = counts_along(compare.operand(k), d);
      if (!first || !without_dimension(compare.operands[1 - k], d, nullptr)) continue;
      return OneHot{*first, compare.shape.dims[d], rows(compare.operands[1 - k], d), nullptr, nullptr};
    }
    return std::nullopt;
  }

  std::optional<OneHot> converted(Instruction& convert, int64_t d, int depth) {
    if (convert.shape.type == ElementType::kPred) return std::nullopt;
    auto found = match(convert.operands[0], d, false, depth + 1);
    if (found && found->scale && maker_) found->scale = maker_->convert(found->scale, convert.shape.type);
    return found;
  }

  std::optional<OneHot> selected(Instruction& select, int64_t d, int depth) {
    Instruction *test = select.operands[0], *yes = select.operands[1], *no = select.operands[2];
    if (test->shape.dims != select.shape.dims || select.shape.type == ElementType::kPred) return std::nullopt;
    for (const bool negated : {false, true}) {
      Instruction* kept = negated ? no : yes;
      if (!is_zero_everywhere(negated ? *yes : *no)) continue;
      // Either the test is one-hot ...
      if (without_dimension(kept, d, nullptr)) {
        if (auto found = match(test, d, negated, depth + 1)) {
          if (!is_one_everywhere(*kept)) found->scale = rows(kept, d);
          return found;
        }
      }
      // ... or the selected value.
      if (!negated && without_dimension(test, d, nullptr)) {
        auto found = match(kept, d, false, depth + 1);
        if (found) found->valid = both(found->valid, rows(test, d));
        return found;
      }
    }
    return std::nullopt;
  }

  /// Matches `a and b`; if negated, `a or b`, the negation of `not a and not b`.
  std::optional<OneHot> masked(Instruction& i, int64_t d, bool negated, int depth) {
    if (i.shape.type != ElementType::kPred || (i.opcode == Opcode::kOr) != negated) return std::nullopt;
    for (size_t k = 0; k < 2; ++k) {
      if (!without_dimension(i.operands[1 - k], d, nullptr)) continue;
      auto found = match(i.operands[k], d, negated, depth + 1);
      if (!found) continue;
      Instruction* mask = rows(i.operands[1 - k], d);
      if (negated && maker_)
        mask = maker_->make(Opcode::kNot, Shape::array(ElementType::kPred, mask->shape.dims), {mask});
      found->valid = both(found->valid, mask);
      return found;
    }
    return std::nullopt;
  }

  std::optional<OneHot> scaled(Instruction& product, int64_t d, int depth) {
    if (product.shape.type == ElementType::kPred) return std::nullopt;
    for (size_t k = 0; k < 2; ++k) {
      if (!without_dimension(product.operands[1 - k], d, nullptr)) continue;
      auto found = match(product.operands[k], d, false, depth + 1);
      if (!found) continue;
      Instruction* factor = rows(product.operands[1 - k], d);
      found->scale = found->scale && maker_ ? maker_->binary(Opcode::kMultiply, found->scale, factor) : factor;
      return found;
    }
    return std::nullopt;
  }

  std::optional<OneHot> moved(Instruction& i, int64_t d, bool negated, int depth) {
    const int64_t before = dimension_of_operand(i, d);
    if (before < 0) return std::nullopt;
    auto found = match(i.operands[0], before, negated, depth + 1);
    if (!found || !maker_) return found;
    for (Instruction** part : {&found->ids, &found->valid, &found->scale}) {
      if (*part) *part = moved_rows(*part, i, d, before);
    }
    return found;
  }

  /// Slices the classes, or the rows.
  std::optional<OneHot> sliced(Instruction& slice, int64_t d, bool negated, int depth) {
    const auto* box = slice.if_as<SliceAttributes>();
    const auto k = static_cast<size_t>(d);
    const int64_t classes = slice.shape.dims[k];
    if (box ? box->strides[k] != 1 : classes != slice.operand(0).shape.dims[k]) return std::nullopt;
    auto found = match(slice.operands[0], d, negated, depth + 1);
    if (!found) return found;
    found->classes = classes;
    if (box) found->first += box->starts[k];
    if (!maker_) return found;
    for (Instruction** part : {&found->ids, &found->valid, &found->scale}) {
      if (*part) *part = slice_without_dimension(slice, *part, d, *maker_);
    }
    return found;
  }

  /// Moves rows as an operation moves the other dimensions.
  Instruction* moved_rows(Instruction* part, const Instruction& i, int64_t d, int64_t before) {
    Dims rest = i.shape.dims;
    rest.erase(rest.begin() + d);
    if (i.opcode == Opcode::kCopy) return part;
    if (i.opcode == Opcode::kReshape) return maker_->reshape(part, rest);
    Dims map = i.as<DimensionsAttributes>().dimensions;
    if (i.opcode == Opcode::kTranspose) {
      map.erase(map.begin() + d);
      for (int64_t& k : map) k -= k > before;
      return maker_->transpose(part, map);
    }
    map.erase(map.begin() + before);
    for (int64_t& k : map) k -= k > d;
    return maker_->broadcast(part, rest, map);
  }

  Instruction* both(Instruction* a, Instruction* b) { return a && maker_ ? maker_->binary(Opcode::kAnd, a, b) : b; }

  Maker* maker_;
};

}  // namespace

std::optional<OneHot> one_hot_along(Instruction* value, int64_t d, Maker* maker) {
  if (value->shape.dims[d] > std::numeric_limits<int32_t>::max()) return std::nullopt;
  auto found = Matcher(nullptr).match(value, d, false, 0);
  return found && maker ? Matcher(maker).match(value, d, false, 0) : found;
}

ElementType sum_type(ElementType type) { return is_floating(type) && type_bits(type) < 32 ? ElementType::kF32 : type; }

Instruction* places_of(const OneHot& one_hot, Maker& maker) {
  // Narrow types may not represent the number of classes; 32 and 64 bits wrap, and ids out of range stay out of range.
  Instruction* ids = one_hot.ids;
  if (type_bits(ids->shape.type) < 32) ids = maker.convert(ids, ElementType::kS32);
  if (one_hot.first == 0) return ids;
  return maker.binary(Opcode::kSubtract, ids, maker.filled(ids->shape.type, ids->shape.dims, one_hot.first));
}

}  // namespace lowtide::engine
