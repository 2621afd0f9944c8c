#include "text/stablehlo/arithmetic.h"

#include <cstring>

namespace lowtide::engine {

Term Arithmetic::of(Instruction* array) { return {this, array}; }

Term Arithmetic::add(Opcode opcode, ElementType type, const Term& like, std::vector<Instruction*> operands,
                     std::vector<HloAttribute> attributes) {
  Shape shape = Shape::array(type, like.array->shape.dims);
  Result<Instruction*> made =
      maker_.add(scope_, operation_, opcode, std::move(shape), std::move(operands), std::move(attributes));
  if (made.ok()) return of(*made);
  if (status_.ok()) status_ = made.status();
  return like;
}

Term Arithmetic::unary(Opcode opcode, const Term& x) {
  const bool to_real = (opcode == Opcode::kReal || opcode == Opcode::kImag) && is_complex(x.type());
  const ElementType part = x.type() == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
  const bool predicate = opcode == Opcode::kIsFinite;
  return add(opcode, predicate ? ElementType::kPred : to_real ? part : x.type(), x, {x.array});
}

Term Arithmetic::binary(Opcode opcode, const Term& x, const Term& y) {
  ElementType type = x.type();
  if (opcode == Opcode::kComplex) type = type == ElementType::kF32 ? ElementType::kC64 : ElementType::kC128;
  return add(opcode, type, x, {x.array, y.array});
}

Term Arithmetic::compare(const char* direction, const Term& x, const Term& y) {
  return add(Opcode::kCompare, ElementType::kPred, x, {x.array, y.array}, {{"direction", direction}});
}

Term Arithmetic::select(const Term& which, const Term& x, const Term& y) {
  return add(Opcode::kSelect, x.type(), x, {which.array, x.array, y.array});
}

Term Arithmetic::convert(const Term& x, ElementType type) {
  return x.type() == type ? x : add(Opcode::kConvert, type, x, {x.array});
}

Term Arithmetic::bitcast(const Term& x, ElementType type) { return add(Opcode::kBitcastConvert, type, x, {x.array}); }

Term Arithmetic::number(double value, const Term& like) {
  Literal literal(Shape::scalar(like.type()));
  dispatch(like.type(), [&]<class T>() {
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      literal.data<T>()[0] = T(static_cast<typename T::value_type>(value), 0);
    } else if constexpr (std::is_integral_v<T> || requires(T t) { t.held; }) {
      literal.data<T>()[0] = static_cast<T>(static_cast<int64_t>(value));
    } else {
      literal.data<T>()[0] = static_cast<T>(value);
    }
  });
  return filled(std::move(literal), like);
}

Term Arithmetic::integer(uint64_t value, const Term& like) {
  Literal literal(Shape::scalar(like.type()));
  std::memcpy(literal.bytes().data(), &value, std::min(literal.bytes().size(), sizeof value));
  return filled(std::move(literal), like);
}

Term Arithmetic::filled(Literal scalar, const Term& like) {
  Result<Instruction*> constant =
      maker_.add_constant(scope_, operation_, std::make_shared<const Literal>(std::move(scalar)));
  if (constant.ok()) constant = maker_.broadcast(scope_, operation_, *constant, like.array->shape.dims, {});
  if (constant.ok()) return of(*constant);
  if (status_.ok()) status_ = constant.status();
  return like;
}

Term Arithmetic::polynomial(const Term& x, std::span<const double> coefficients) {
  Term sum = number(coefficients[0], x);
  for (const double c : coefficients.subspan(1)) sum = sum * x + c;
  return sum;
}

}  // namespace lowtide::engine
