#include "scope.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "numbers.h"

namespace lowtide::engine {
namespace {

// More floats than integers: they have more operations, and more ways to be wrong.
constexpr ElementType kTypes[] = {
    ElementType::kF32,  ElementType::kF32,  ElementType::kF32, ElementType::kF32,  ElementType::kF32,
    ElementType::kBF16, ElementType::kBF16, ElementType::kF16, ElementType::kF64,  ElementType::kF64,
    ElementType::kS32,  ElementType::kS32,  ElementType::kU32, ElementType::kPred, ElementType::kS8,
    ElementType::kU8,   ElementType::kS16,  ElementType::kU16, ElementType::kS64,  ElementType::kU64,
};
constexpr int64_t kExtents[] = {1, 2, 2, 3, 3, 4, 5, 7, 8};
constexpr int64_t kMostElements = 420;

void set_number(Literal& literal, int64_t element, double value, double imaginary = 0) {
  dispatch(literal.shape().type, [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      literal.data<T>()[element] = value != 0;
    } else if constexpr (requires(T t) { t.imag(); }) {
      using Part = typename T::value_type;
      literal.data<T>()[element] = {static_cast<Part>(value), static_cast<Part>(imaginary)};
    } else if constexpr (requires(T t) { t.held; }) {
      literal.data<T>()[element] = T(static_cast<int64_t>(value));
    } else if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>) {
      literal.data<T>()[element] = static_cast<T>(value);
    } else {
      literal.data<T>()[element] = T(static_cast<float>(value));
    }
  });
}

/// Numbers at the ends of integer types, where sums wrap and places lie outside of everything.
void set_extreme_integer(Literal& literal, int64_t element, Draws& choices) {
  const int bits = type_bits(literal.shape().type);
  const bool is_signed = type_kind(literal.shape().type) == TypeKind::kSigned;
  const uint64_t highest = ~uint64_t{0} >> (is_signed ? 65 - bits : 64 - bits);
  const uint64_t lowest = is_signed ? ~highest : 0;
  const uint64_t numbers[] = {lowest, highest, lowest + 1, highest - 1, highest / 2 + 1};
  const uint64_t number = choices.of(numbers);
  std::memcpy(literal.bytes().data() + element * stored_bytes(literal.shape().type), &number,
              static_cast<size_t>(stored_bytes(literal.shape().type)));
}

/// Infinities, no number, a negative zero, numbers at the ends of float types. XLA:CPU flushes denormals, so that
/// comparing them would have another outcome.
void set_extreme_float(Literal& literal, int64_t element, bool for_xla, Draws& choices) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const ElementType type = literal.shape().type;
  const double largest = type == ElementType::kF16 ? 65504 : type == ElementType::kF64 ? 1.7976931348623157e308 : 3e38;
  const double numbers[] = {kInfinity,
                            -kInfinity,
                            std::numeric_limits<double>::quiet_NaN(),
                            -0.0,
                            largest,
                            -largest,
                            smallest_step(type) / 4};
  const double number = choices.of(numbers);
  set_number(literal, element, for_xla && std::fabs(number) == smallest_step(type) / 4 ? 0 : number);
}

}  // namespace

Instruction* Scope::choose(Draws& choices, const Test& test) {
  const uint64_t taste = choices.next();
  const Entry* best = nullptr;
  uint64_t best_score = 0;
  for (const Entry& entry : entries_) {
    if (!entry.choosable || !test(entry)) continue;
    const uint64_t score = mix(taste ^ entry.tag);
    if (best && score <= best_score) continue;
    best = &entry;
    best_score = score;
  }
  return best ? best->instruction : nullptr;
}

Instruction* Scope::parameter(int64_t number, const Shape& shape, const Fact& fact) {
  auto parameter = std::make_unique<Instruction>();
  parameter->opcode = Opcode::kParameter;
  parameter->shape = shape;
  parameter->attributes = ParameterAttributes{number};
  Instruction* added = computation_.append(std::move(parameter));
  added->name = "p" + std::to_string(number) + "." + std::to_string(added->id);
  index_[added] = entries_.size();
  entries_.push_back({added, fact, mix(tag_ + made_by_gene_++), shape.is_array()});
  return added;
}

Instruction* Scope::append(Opcode opcode, Shape shape, std::vector<Instruction*> operands, Attributes attributes,
                           std::vector<Computation*> called, bool choosable) {
  Instruction made;
  made.opcode = opcode;
  made.shape = std::move(shape);
  made.operands = std::move(operands);
  made.attributes = std::move(attributes);
  made.called = std::move(called);
  std::vector<Fact> facts;
  for (const Instruction* operand : made.operands) {
    if (!operand) return nullptr;
    facts.push_back(fact(operand));
  }
  const auto fact = fact_of(made, facts);
  if (!fact) return nullptr;
  Instruction* added = computation_.append(std::make_unique<Instruction>(std::move(made)));
  added->name = std::string(opcode_name(opcode)) + "." + std::to_string(added->id);
  index_[added] = entries_.size();
  entries_.push_back({added, *fact, mix(tag_ + made_by_gene_++), choosable && added->shape.is_array()});
  return added;
}

bool Scope::append_parts(Opcode opcode, const Shape& shape, std::vector<Instruction*> operands, Attributes attributes,
                         std::vector<Computation*> called) {
  Instruction* all = append(opcode, shape, std::move(operands), std::move(attributes), std::move(called));
  for (size_t k = 0; all && k < shape.elements.size(); ++k) element_of(all, static_cast<int64_t>(k));
  return all != nullptr;
}

Instruction* Scope::constant(ElementType type, double value) {
  Literal literal(Shape::scalar(type));
  set_number(literal, 0, value);
  return append(Opcode::kConstant, literal.shape(), {}, ConstantAttributes{std::make_shared<Literal>(literal)}, {},
                false);
}

Instruction* Scope::constant_array(const Shape& shape, Draws& choices) {
  Literal literal(shape);
  const bool fractions = is_floating(shape.type) || is_complex(shape.type);
  const bool is_signed = fractions || type_kind(shape.type) == TypeKind::kSigned;
  const auto number = [&] {
    const auto whole = static_cast<double>(choices.between(is_signed ? -40 : 0, 40));
    return fractions ? whole / 8 : whole;
  };
  const bool extreme = choices.one_in(8) && !is_complex(shape.type) && shape.type != ElementType::kPred;
  for (int64_t e = 0; e < literal.size(); ++e) {
    if (extreme && choices.one_in(3)) {
      if (fractions) {
        set_extreme_float(literal, e, for_xla_, choices);
      } else {
        set_extreme_integer(literal, e, choices);
      }
      continue;
    }
    const double value = number();
    set_number(literal, e, value, is_complex(shape.type) ? number() : 0);
  }
  return append(Opcode::kConstant, shape, {}, ConstantAttributes{std::make_shared<Literal>(literal)});
}

Instruction* Scope::broadcast(Instruction* operand, const Dims& result, const Dims& dimensions) {
  if (!operand) return nullptr;
  return append(Opcode::kBroadcast, with_dims(operand->shape, result), {operand}, DimensionsAttributes{dimensions});
}

Instruction* Scope::tuple(const std::vector<Instruction*>& parts) {
  std::vector<Shape> shapes;
  for (const Instruction* part : parts) shapes.push_back(part->shape);
  return append(Opcode::kTuple, Shape::tuple(std::move(shapes)), parts);
}

Instruction* Scope::element_of(Instruction* tuple, int64_t index) {
  return append(Opcode::kGetTupleElement, tuple->shape.elements[index], {tuple}, TupleIndexAttributes{index});
}

Computation* Scope::finish(const std::string& name, Instruction* root) {
  Computation* finished = module_->add_computation(module_->unused_computation_name(name));
  finished->take_all(computation_);
  finished->root = root;
  return finished;
}

ElementType random_type(Draws& choices) { return choices.of(kTypes); }
ElementType random_complex_type(Draws& choices) { return choices.one_in(3) ? ElementType::kC128 : ElementType::kC64; }

Shape random_shape(Draws& choices, ElementType type) {
  Dims dims;
  int64_t count = 1;
  const int64_t rank = choices.between(0, 4);
  while (static_cast<int64_t>(dims.size()) < rank) {
    const int64_t extent = choices.one_in(60) ? 0 : choices.of(kExtents);
    if (count * extent > kMostElements) break;
    count *= extent;
    dims.push_back(extent);
  }
  return Shape::array(type, dims);
}

}  // namespace lowtide::engine
