#include "passes/rules/index_forms.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "ir/literal.h"
#include "ops/infer.h"
#include "passes/canonicalise/remove_noop_casts.h"

namespace lowtide::engine {
namespace {

constexpr int kDeepestForm = 48;                        ///< operations looked through
constexpr int64_t kMostNumber = int64_t{1} << 40;       ///< sums of smaller numbers don't overflow
constexpr int64_t kLargestConstant = int64_t{1} << 16;  ///< elements of a constant that is read

Dims without(Dims dims, int64_t d) {
  dims.erase(dims.begin() + d);
  return dims;
}

int64_t extent(const Instruction& value, int64_t d) { return value.shape.dims[d]; }

bool is_plain(const Instruction& i) { return i.shape.is_array() && i.shape.dynamic.empty(); }

/// Can the type represent first ... first + n - 1?
bool holds(ElementType type, int64_t first, int64_t n) {
  const int64_t last = first + n - 1;
  const int bits = type_bits(type);
  if (type_kind(type) == TypeKind::kUnsigned) return first >= 0 && (bits >= 63 || last < (int64_t{1} << bits));
  if (type_kind(type) != TypeKind::kSigned) return false;
  return bits >= 64 || (first >= -(int64_t{1} << (bits - 1)) && last < (int64_t{1} << (bits - 1)));
}

std::optional<int64_t> counts_in_constant(const Instruction& value, int64_t d) {
  const Literal* literal = known_constant(value);
  if (!literal || literal->size() == 0 || literal->size() > kLargestConstant) return std::nullopt;
  int64_t stride = 1;
  for (int64_t k = d + 1; k < value.shape.rank(); ++k) stride *= extent(value, k);
  const int64_t first = integer_at(*literal, 0);
  if (first <= -kMostNumber || first >= kMostNumber) return std::nullopt;
  for (int64_t e = 0; e < literal->size(); ++e) {
    if (integer_at(*literal, e) != first + e / stride % extent(value, d)) return std::nullopt;
  }
  return first;
}

std::optional<int64_t> counts(const Instruction& value, int64_t d, int depth);

/// first + i + c, if one side counts and the other is an integer c everywhere.
std::optional<int64_t> counts_shifted(const Instruction& value, int64_t d, int depth) {
  const bool minus = value.opcode == Opcode::kSubtract;
  for (size_t k = 0; k < (minus ? 1 : 2); ++k) {
    const Value shift = same_everywhere(value.operand(1 - k));
    if (!shift) continue;
    const auto first = counts(value.operand(k), d, depth + 1);
    const int64_t by = integer_at(*shift, 0);
    if (first && by > -kMostNumber && by < kMostNumber) return *first + (minus ? -by : by);
  }
  return std::nullopt;
}

/// The operand that a select chooses everywhere, if its condition compares a counting value with a number; else null.
const Instruction* taken_everywhere(const Instruction& select, int64_t d, int depth) {
  const Instruction& condition = select.operand(0);
  if (condition.opcode != Opcode::kCompare || condition.shape.dims != select.shape.dims) return nullptr;
  const auto first = counts(condition.operand(0), d, depth + 1);
  const Value bound = same_everywhere(condition.operand(1));
  if (!first || !bound) return nullptr;
  const int64_t last = *first + extent(select, d) - 1, b = index_at(*bound, 0);
  const auto choice = [&](bool always, bool never) {
    return always ? &select.operand(1) : never ? &select.operand(2) : nullptr;
  };
  switch (condition.as<CompareAttributes>().direction) {
    case CompareDirection::kLt: return choice(last < b, *first >= b);
    case CompareDirection::kLe: return choice(last <= b, *first > b);
    case CompareDirection::kGt: return choice(*first > b, last <= b);
    case CompareDirection::kGe: return choice(*first >= b, last < b);
    default: return nullptr;
  }
}

std::optional<int64_t> counts(const Instruction& value, int64_t d, int depth) {
  if (depth > kDeepestForm || !is_plain(value) || !is_integral(value.shape.type)) return std::nullopt;
  std::optional<int64_t> first;
  switch (value.opcode) {
    case Opcode::kIota:
      if (value.as<IotaAttributes>().dimension == d) first = 0;
      break;
    case Opcode::kConstant: first = counts_in_constant(value, d); break;
    case Opcode::kAdd:
    case Opcode::kSubtract: first = counts_shifted(value, d, depth); break;
    case Opcode::kConvert: first = counts(value.operand(0), d, depth + 1); break;
    case Opcode::kSelect: {
      const Instruction* taken = taken_everywhere(value, d, depth);
      if (taken != nullptr) first = counts(*taken, d, depth + 1);
      break;
    }
    case Opcode::kSlice: {
      const auto& box = value.as<SliceAttributes>();
      const auto k = static_cast<size_t>(d);
      first = counts(value.operand(0), d, depth + 1);
      if (first && box.strides[k] != 1 && extent(value, d) > 1) return std::nullopt;
      if (first) *first += box.starts[k];
      break;
    }
    default: {
      const int64_t before = dimension_of_operand(value, d);
      if (before >= 0) first = counts(value.operand(0), before, depth + 1);
    }
  }
  return first && holds(value.shape.type, *first, extent(value, d)) ? first : std::nullopt;
}

class Projection {
 public:
  explicit Projection(Maker* maker) : maker_(maker) {}

  Instruction* of(Instruction* value, int64_t d, int depth) {
    if (depth > kDeepestForm || !is_plain(*value)) return nullptr;
    const auto [known, is_new] = known_.try_emplace({value, d}, nullptr);
    if (is_new) known->second = look(value, d, depth);
    return known->second;
  }

 private:
  Instruction* look(Instruction* value, int64_t d, int depth) {
    const Dims rest = without(value->shape.dims, d);
    const Shape shape = Shape::array(value->shape.type, rest);
    if (extent(*value, d) == 1) return maker_ ? maker_->reshape(value, rest) : value;
    switch (value->opcode) {
      case Opcode::kConstant: {
        const Value scalar = same_everywhere(*value);
        if (!scalar) return nullptr;
        if (!maker_) return value;
        Instruction* made =
            maker_->make(Opcode::kConstant, Shape::scalar(value->shape.type), {}, ConstantAttributes{scalar});
        return maker_->broadcast(made, rest, {});
      }
      case Opcode::kIota: {
        const int64_t counted = value->as<IotaAttributes>().dimension;
        if (counted == d) return nullptr;
        return maker_ ? maker_->make(Opcode::kIota, shape, {}, IotaAttributes{counted - (counted > d)}) : value;
      }
      case Opcode::kBroadcast: return of_broadcast(*value, d, depth);
      case Opcode::kReshape: {
        const int64_t before = dimension_before_reshape(*value, d);
        Instruction* inner = before < 0 ? nullptr : of(value->operands[0], before, depth + 1);
        return inner && maker_ ? maker_->reshape(inner, rest) : inner;
      }
      case Opcode::kTranspose: {
        Dims permutation = value->as<DimensionsAttributes>().dimensions;
        const int64_t before = permutation[d];
        Instruction* inner = of(value->operands[0], before, depth + 1);
        if (!inner || !maker_) return inner;
        permutation = without(permutation, d);
        for (int64_t& p : permutation) p -= p > before;
        return maker_->transpose(inner, permutation);
      }
      case Opcode::kSlice:
      case Opcode::kDynamicSlice: {
        Instruction* inner = of(value->operands[0], d, depth + 1);
        return inner && maker_ ? slice_without_dimension(*value, inner, d, *maker_) : inner;
      }
      default: return of_elementwise(*value, d, shape, depth);
    }
  }

  Instruction* of_broadcast(Instruction& value, int64_t d, int depth) {
    Dims dimensions = value.as<DimensionsAttributes>().dimensions;
    const auto at = std::ranges::find(dimensions, d);
    Instruction* inner = value.operands[0];
    if (at != dimensions.end()) {
      inner = of(inner, at - dimensions.begin(), depth + 1);
      dimensions.erase(at);
    }
    if (!inner || !maker_) return inner;
    for (int64_t& k : dimensions) k -= k > d;
    return maker_->broadcast(inner, without(value.shape.dims, d), dimensions);
  }

  Instruction* of_elementwise(Instruction& value, int64_t d, const Shape& shape, int depth) {
    if (memory_class(value.opcode) != MemoryClass::kElementwise || !value.called.empty() || value.operands.empty()) {
      return nullptr;
    }
    std::vector<Instruction*> operands;
    for (Instruction* operand : value.operands) {
      const bool scalar = operand->shape.rank() == 0 && value.shape.rank() > 0;
      if (!scalar && operand->shape.dims != value.shape.dims) return nullptr;
      operands.push_back(scalar ? operand : of(operand, d, depth + 1));
      if (!operands.back()) return nullptr;
    }
    return maker_ ? maker_->like(value, shape, operands) : &value;
  }

  Maker* maker_;
  std::map<std::pair<const Instruction*, int64_t>, Instruction*> known_;
};

Value scalar_element(const Literal& literal, ElementType type) {
  auto scalar = std::make_shared<Literal>(Shape::scalar(type));
  std::memcpy(scalar->bytes().data(), literal.bytes().data(), scalar->bytes().size());
  return scalar;
}

}  // namespace

int64_t dimension_before_reshape(const Instruction& reshape, int64_t d) {
  int64_t before = 1;
  for (int64_t k = 0; k < d; ++k) before *= extent(reshape, k);
  int64_t seen = 1;
  const Shape& from = reshape.operand(0).shape;
  for (int64_t k = 0; k < from.rank(); ++k) {
    const int64_t n = from.dims[k];
    if (seen == before && n == extent(reshape, d) && n != 1) return k;
    seen *= n;
  }
  return -1;
}

std::vector<Regrouped> regrouped(const Instruction& reshape) {
  const Dims &from = reshape.operand(0).shape.dims, &to = reshape.shape.dims;
  std::vector<Regrouped> groups;
  if (contains(from, 0) || contains(to, 0)) return groups;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    Regrouped group;
    int64_t left = 1, right = 1;
    const auto take = [](const Dims& dims, size_t& next, int64_t& product, std::vector<size_t>& taken) {
      if (next == dims.size()) return;
      if (dims[next] > 1) taken.push_back(next);
      product *= dims[next++];
    };
    take(from, i, left, group.from);
    take(to, j, right, group.to);
    while (left != right) left < right ? take(from, i, left, group.from) : take(to, j, right, group.to);
    groups.push_back(std::move(group));
  }
  return groups;
}

int64_t dimension_of_operand(const Instruction& i, int64_t d) {
  switch (i.opcode) {
    case Opcode::kCopy: return d;
    case Opcode::kReshape: return dimension_before_reshape(i, d);
    case Opcode::kTranspose: return i.as<DimensionsAttributes>().dimensions[d];
    case Opcode::kBroadcast: {
      const Dims& dimensions = i.as<DimensionsAttributes>().dimensions;
      const auto at = std::ranges::find(dimensions, d);
      return at == dimensions.end() ? -1 : at - dimensions.begin();
    }
    default: return -1;
  }
}

Instruction* slice_without_dimension(const Instruction& slice, Instruction* value, int64_t d, Maker& maker) {
  const Shape shape = Shape::array(value->shape.type, without(slice.shape.dims, d));
  if (shape.dims == value->shape.dims) return value;
  std::vector<Instruction*> operands(slice.operands.begin(), slice.operands.end());
  operands[0] = value;
  Attributes attributes = slice.attributes;
  if (auto* box = std::get_if<SliceAttributes>(&attributes)) {
    for (Dims* list : {&box->starts, &box->limits, &box->strides}) *list = without(*list, d);
  } else {
    operands.erase(operands.begin() + 1 + d);
    attributes = DynamicSliceAttributes{shape.dims};
  }
  return maker.make(slice.opcode, shape, operands, attributes);
}

std::optional<int64_t> counts_along(const Instruction& value, int64_t d) { return counts(value, d, 0); }

Value same_everywhere(const Instruction& value) {
  const Instruction* i = &value;
  for (int depth = 0; depth < kDeepestForm; ++depth) {
    switch (i->opcode) {
      case Opcode::kBroadcast:
      case Opcode::kReshape:
      case Opcode::kTranspose:
      case Opcode::kCopy: i = i->operands[0]; continue;
      default: break;
    }
    break;
  }
  const Literal* literal = known_constant(*i);
  if (!literal || !i->shape.is_array() || literal->size() == 0 || literal->size() > kLargestConstant) return nullptr;
  const size_t each = literal->bytes().size() / static_cast<size_t>(literal->size());
  for (size_t at = each; at < literal->bytes().size(); at += each) {
    if (std::memcmp(literal->bytes().data(), literal->bytes().data() + at, each) != 0) return nullptr;
  }
  return scalar_element(*literal, i->shape.type);
}

namespace {

/// `number` is 0 or 1: every type represents these, so that converts can be looked through.
bool is_everywhere(const Instruction& value, double number) {
  const Instruction* before = &value;
  while (before->opcode == Opcode::kConvert) before = before->operands[0];
  const Value scalar = same_everywhere(*before);
  return scalar && !is_complex(scalar->shape().type) && number_at(*scalar, 0) == number;
}

}  // namespace

bool is_zero_everywhere(const Instruction& value) { return is_everywhere(value, 0); }
bool is_one_everywhere(const Instruction& value) { return is_everywhere(value, 1); }

Instruction* without_dimension(Instruction* value, int64_t d, Maker* maker) {
  return Projection(maker).of(value, d, 0);
}

}  // namespace lowtide::engine
