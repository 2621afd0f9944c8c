#include "library/comparator.h"

#include <cmath>
#include <cstring>
#include <unordered_map>

#include "library/convert.h"

namespace lowtide::engine {
namespace {

/// Are a and b the same function, a of parameter 2k, b of parameter 2k + 1? Sets or checks k.
bool alike(const Instruction& a, const Instruction& b, std::optional<int64_t>& k) {
  if (a.opcode != b.opcode || !same_shape(a.shape, b.shape) || a.operands.size() != b.operands.size()) return false;
  if (a.opcode == Opcode::kParameter) {
    const int64_t x = a.as<ParameterAttributes>().number, y = b.as<ParameterAttributes>().number;
    if (x % 2 != 0 || y != x + 1 || (k && *k != x / 2)) return false;
    k = x / 2;
    return true;
  }
  if (a.opcode == Opcode::kConstant) {
    const Value &x = a.as<ConstantAttributes>().value, &y = b.as<ConstantAttributes>().value;
    return x && y && x->known() && y->known() && std::ranges::equal(x->bytes(), y->bytes());
  }
  if (a.opcode == Opcode::kCompare) {
    const auto &x = a.as<CompareAttributes>(), &y = b.as<CompareAttributes>();
    if (x.direction != y.direction || x.type != y.type) return false;
  }
  for (size_t i = 0; i < a.operands.size(); ++i) {
    if (!alike(a.operand(i), b.operand(i), k)) return false;
  }
  return true;
}

/// Copies the function whose root is `a` into a program of one parameter.
class Copy {
 public:
  std::optional<ScalarProgram> program(const Instruction& a) {
    to_ = module_.add_computation("key");
    to_->root = copy(a);
    return ScalarProgram::compile(*to_);
  }

 private:
  Instruction* copy(const Instruction& a) {
    if (const auto known = copies_.find(&a); known != copies_.end()) return known->second;
    auto made = std::make_unique<Instruction>();
    made->opcode = a.opcode;
    made->name = a.name;
    made->shape = a.shape;
    made->attributes = a.attributes;
    if (a.opcode == Opcode::kParameter) made->attributes = ParameterAttributes{0};
    for (const Instruction* operand : a.operands) made->operands.push_back(copy(*operand));
    return copies_[&a] = to_->append(std::move(made));
  }

  Module module_;
  Computation* to_ = nullptr;
  std::unordered_map<const Instruction*, Instruction*> copies_;
};

/// The number that a scalar constant of a floating type is; nullopt if it isn't one, or not known.
std::optional<double> floating_constant(const Instruction& i) {
  if (i.opcode != Opcode::kConstant || !is_floating(i.shape.type) || i.shape.rank() != 0) return std::nullopt;
  const Value& value = i.as<ConstantAttributes>().value;
  if (!value || !value->known()) return std::nullopt;
  return dispatch(i.shape.type, [&]<class T>() -> std::optional<double> {
    if constexpr (is_complex_v<T>) {
      return std::nullopt;
    } else {
      T element;
      std::memcpy(&element, value->bytes().data(), sizeof(T));
      return static_cast<double>(to_sum<double>(element));
    }
  });
}

/// Is this how JAX orders floats: select(x is NaN, NaN, select(x is 0, 0, x)), in either order?
bool joins_zeros_and_nans(const Instruction& key) {
  if (!is_floating(key.shape.type)) return false;
  std::vector<const Instruction*> selects;
  const Instruction* x = &key;
  for (; x->opcode == Opcode::kSelect; x = x->operands[2]) selects.push_back(x);
  if (selects.size() != 2 || x->opcode != Opcode::kParameter) return false;
  bool zeros = false, nans = false;
  for (size_t k = 0; k < 2; ++k) {
    const Instruction &when = selects[k]->operand(0), &then = selects[k]->operand(1);
    if (when.opcode != Opcode::kCompare) return false;
    const auto& how = when.as<CompareAttributes>();
    const Instruction* of = when.operands[0];
    const bool is_of_x = of == x || (k == 0 && of == selects[1]);  // which is as much a NaN, or a zero, as x
    if (how.type == CompareType::kTotalOrder || !is_of_x) return false;
    const std::optional<double> made = floating_constant(then);
    if (!made || std::signbit(*made)) return false;
    nans |= how.direction == CompareDirection::kNe && when.operands[1] == of && std::isnan(*made);
    zeros |= how.direction == CompareDirection::kEq && floating_constant(when.operand(1)) == 0.0 && *made == 0;
  }
  return zeros && nans;
}

/// The key of a comparison.
std::optional<SortKey> single_key(const Instruction& root) {
  if (root.opcode != Opcode::kCompare) return std::nullopt;
  const auto& compare = root.as<CompareAttributes>();
  if (compare.direction != CompareDirection::kLt && compare.direction != CompareDirection::kGt) return std::nullopt;
  SortKey key;
  const Instruction* first = root.operands[0];
  std::optional<int64_t> operand;
  key.descending = compare.direction == CompareDirection::kGt;
  if (!alike(*first, root.operand(1), operand)) {
    first = root.operands[1];
    operand.reset();
    key.descending = !key.descending;
    if (!alike(*first, root.operand(0), operand)) return std::nullopt;
  }
  if (!operand || is_complex(first->shape.type)) return std::nullopt;
  key.operand = static_cast<size_t>(*operand);
  key.type = first->shape.type;
  key.total_order = !is_floating(key.type) || compare.type == CompareType::kTotalOrder;
  if (first->opcode != Opcode::kParameter) {
    key.function = Copy().program(*first);
    if (!key.function) return std::nullopt;
    key.joins_equals = joins_zeros_and_nans(*first);
  }
  return key;
}

/// Does `equal` hold exactly if neither of the operands of the comparison `less` comes before the other?
bool is_equality_of(const Instruction& equal, const Instruction& less) {
  if (equal.opcode != Opcode::kCompare || less.opcode != Opcode::kCompare) return false;
  const auto &e = equal.as<CompareAttributes>(), &l = less.as<CompareAttributes>();
  if (e.direction != CompareDirection::kEq || e.type != l.type) return false;
  return (equal.operands[0] == less.operands[0] && equal.operands[1] == less.operands[1]) ||
         (equal.operands[0] == less.operands[1] && equal.operands[1] == less.operands[0]);
}

/// Takes "less or (equal and rest)", or "select(equal, rest, less)", apart.
struct FirstKey {
  const Instruction *less = nullptr, *rest = nullptr;
};
FirstKey take_first_key(const Instruction& root) {
  if (root.opcode == Opcode::kSelect && is_equality_of(root.operand(0), root.operand(2)))
    return {root.operands[2], root.operands[1]};
  if (root.opcode != Opcode::kOr) return {};
  for (const size_t k : {0, 1}) {
    const Instruction &less = root.operand(k), &both = root.operand(1 - k);
    if (both.opcode != Opcode::kAnd) continue;
    for (const size_t j : {0, 1})
      if (is_equality_of(both.operand(j), less)) return {&less, both.operands[1 - j]};
  }
  return {};
}

}  // namespace

std::vector<SortKey> sort_keys(const Computation& comparator) {
  std::vector<SortKey> keys;
  for (const Instruction* root = comparator.root; root != nullptr;) {
    const FirstKey first = take_first_key(*root);
    std::optional<SortKey> key = single_key(first.less != nullptr ? *first.less : *root);
    if (!key) return {};
    keys.push_back(std::move(*key));
    root = first.rest;
  }
  return keys;
}

}  // namespace lowtide::engine
