// stablehlo.bitcast_convert with predicates, which are single bits: a number of w bits is w predicates, the lowest bit
// first. HLO's predicates are bytes, so the bits are extracted by shifts, or combined by shifts and additions.
#include <fmt/format.h>

#include "text/stablehlo/operations.h"

namespace lowtide::engine {
namespace {

using Scope = ModuleMaker::Scope;

std::optional<ElementType> unsigned_of(int bits) {
  for (const ElementType type : {ElementType::kU2, ElementType::kU4, ElementType::kU8, ElementType::kU16,
                                 ElementType::kU32, ElementType::kU64}) {
    if (type_bits(type) == bits) return type;
  }
  return std::nullopt;
}

class BitCast {
 public:
  BitCast(ModuleMaker& maker, Scope& scope, const MlirOperation& operation)
      : maker_(maker), scope_(scope), operation_(operation) {}

  /// The bits of `numbers`, along a new last dimension.
  Result<Instruction*> take_apart(Instruction* numbers, const Shape& bits, ElementType type) {
    LT_ASSIGN_OR_RETURN(numbers, cast(numbers, type));
    Dims dims(numbers->shape.dims.size());
    for (size_t d = 0; d < dims.size(); ++d) dims[d] = static_cast<int64_t>(d);
    LT_ASSIGN_OR_RETURN(numbers, maker_.broadcast(scope_, operation_, numbers, bits.dims, dims));
    LT_ASSIGN_OR_RETURN(Instruction * places, counted(type, bits.dims));
    LT_ASSIGN_OR_RETURN(Instruction * shifted, add(Opcode::kShiftRightLogical, places->shape, {numbers, places}));
    LT_ASSIGN_OR_RETURN(Instruction * one, filled(type, 1, bits.dims));
    LT_ASSIGN_OR_RETURN(Instruction * lowest, add(Opcode::kAnd, places->shape, {shifted, one}));
    return add(Opcode::kConvert, bits, {lowest});
  }

  /// The numbers whose bits are along the last dimension of `bits`.
  Result<Instruction*> put_together(Instruction* bits, const Shape& numbers, ElementType type) {
    const Dims extents = bits->shape.dims;
    LT_ASSIGN_OR_RETURN(bits, add(Opcode::kConvert, Shape::array(type, extents), {bits}));
    LT_ASSIGN_OR_RETURN(Instruction * places, counted(type, extents));
    LT_ASSIGN_OR_RETURN(Instruction * shifted, add(Opcode::kShiftLeft, places->shape, {bits, places}));
    LT_ASSIGN_OR_RETURN(Instruction * none, filled(type, 0, {}));
    const MlirRegion sum = adding_region(type, operation_.place);
    LT_ASSIGN_OR_RETURN(const Computation* adds, maker_.reducer(scope_, sum, "bitcast_convert.sum"));
    LT_ASSIGN_OR_RETURN(
        Instruction * all,
        maker_.add(
            scope_, operation_, Opcode::kReduce, Shape::array(type, numbers.dims), {shifted, none},
            {{"dimensions", braced_dims({static_cast<int64_t>(extents.size()) - 1})}, {"to_apply", '%' + adds->name}}));
    return cast(all, numbers.type);
  }

 private:
  Result<Instruction*> add(Opcode opcode, Shape shape, std::vector<Instruction*> operands) {
    return maker_.add(scope_, operation_, opcode, std::move(shape), std::move(operands));
  }
  Result<Instruction*> cast(Instruction* value, ElementType type) {
    if (value->shape.type == type) return value;
    return add(Opcode::kBitcastConvert, Shape::array(type, value->shape.dims), {value});
  }
  /// 0, 1, ... along the last dimension.
  Result<Instruction*> counted(ElementType type, const Dims& extents) {
    return maker_.add(scope_, operation_, Opcode::kIota, Shape::array(type, extents), {},
                      {{"iota_dimension", std::to_string(extents.size() - 1)}});
  }
  Result<Instruction*> filled(ElementType type, int64_t number, const Dims& extents) {
    Literal literal(Shape::scalar(type));
    dispatch(type, [&]<class T>() {
      if constexpr (requires { T(number); }) literal.data<T>()[0] = T(number);
    });
    LT_ASSIGN_OR_RETURN(Instruction * scalar,
                        maker_.add_constant(scope_, operation_, std::make_shared<const Literal>(std::move(literal))));
    return maker_.broadcast(scope_, operation_, scalar, extents, {});
  }

  ModuleMaker& maker_;
  Scope& scope_;
  const MlirOperation& operation_;
};

}  // namespace

Status make_bitcast_convert(ModuleMaker& maker, Scope& scope, const MlirOperation& operation) {
  LT_ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, maker.operands(scope, operation));
  if (operands.size() != 1 || operation.types.size() != 1 || !operands[0]->shape.is_array() ||
      !operation.types[0].is_array()) {
    return maker.fault(operation.place, "bitcast_convert: expected one array and one as result");
  }
  const Shape &from = operands[0]->shape, &to = operation.types[0];
  const bool apart = to.type == ElementType::kPred && from.type != ElementType::kPred;
  const bool together = from.type == ElementType::kPred && to.type != ElementType::kPred;
  const Shape &bits = apart ? to : from, &numbers = apart ? from : to;
  Dims extents = numbers.dims;
  extents.push_back(type_bits(numbers.type));
  const std::optional<ElementType> type = unsigned_of(type_bits(numbers.type));
  BitCast cast(maker, scope, operation);
  Instruction* result = nullptr;
  if ((apart || together) && bits.dims == extents && type && !is_complex(numbers.type)) {
    LT_ASSIGN_OR_RETURN(result,
                        apart ? cast.take_apart(operands[0], to, *type) : cast.put_together(operands[0], to, *type));
  } else {
    LT_ASSIGN_OR_RETURN(result, maker.add(scope, operation, Opcode::kBitcastConvert, to, operands));
  }
  maker.bind(scope, operation, result);
  return {};
}

}  // namespace lowtide::engine
