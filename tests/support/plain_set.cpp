#include "support/plain_set.h"

#include <array>
#include <initializer_list>

#include "nest/builder.h"
#include "nest/legalise.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kCount = 40;
constexpr std::array kMemory{ElementType::kPred, ElementType::kS8,  ElementType::kS16, ElementType::kS32,
                             ElementType::kS64,  ElementType::kU8,  ElementType::kU16, ElementType::kU32,
                             ElementType::kU64,  ElementType::kF32, ElementType::kF64};

/// out[i] = operation(in0[i], in1[i], ...), f16 by way of its bits; nothing where that isn't plain.
class Maker {
 public:
  void add(Node operation, std::initializer_list<ElementType> operands) {
    NestBuilder nest;
    std::vector<int32_t> buffers;
    for (const ElementType type : operands) buffers.push_back(nest.add_buffer(in_memory(type), kCount));
    const int32_t to = nest.add_buffer(in_memory(operation.type), kCount);
    const int32_t loop = nest.begin_parallel(kCount);
    const Affine at = nest.index_of(loop);
    std::vector<NodeId> loaded;
    size_t k = 0;
    for (const ElementType type : operands) {
      const NodeId value = nest.load(buffers[k++], at);
      loaded.push_back(type == ElementType::kF16 ? bitcast(nest, value, type) : value);
    }
    NodeId made = kNoId;
    if (operation.kind == NodeKind::kFma) {
      made = nest.fma(loaded[0], loaded[1], loaded[2]);
    } else if (operation.opcode == Opcode::kCompare) {
      made = nest.compare(loaded[0], loaded[1], operation.compare);
    } else {
      made = nest.operation(operation.opcode, operation.type, loaded);
    }
    nest.store(to, at, operation.type == ElementType::kF16 ? bitcast(nest, made, ElementType::kU16) : made);
    nest.end_parallel(loop);
    Nest finished = nest.take();
    if (check_plain(finished).empty()) nests.push_back(std::move(finished));
  }

  std::vector<Nest> nests;

 private:
  static ElementType in_memory(ElementType type) { return type == ElementType::kF16 ? ElementType::kU16 : type; }
  static NodeId bitcast(NestBuilder& nest, NodeId value, ElementType type) {
    return nest.operation(Opcode::kBitcastConvert, type, {value});
  }
};

}  // namespace

std::vector<Nest> plain_set() {
  Maker maker;
  const auto of = [](Opcode opcode, ElementType type) {
    return Node{.kind = NodeKind::kOperation, .opcode = opcode, .type = type};
  };
  for (const ElementType type : kMemory) {
    for (const Opcode unary : {Opcode::kSqrt, Opcode::kNegate, Opcode::kAbs, Opcode::kFloor, Opcode::kCeil,
                               Opcode::kRoundNearestEven, Opcode::kPopcnt, Opcode::kCountLeadingZeros, Opcode::kNot}) {
      maker.add(of(unary, type), {type});
    }
    for (const Opcode binary : {Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply, Opcode::kDivide, Opcode::kMaximum,
                                Opcode::kMinimum, Opcode::kRemainder, Opcode::kShiftLeft, Opcode::kShiftRightArithmetic,
                                Opcode::kShiftRightLogical, Opcode::kAnd, Opcode::kOr, Opcode::kXor}) {
      maker.add(of(binary, type), {type, type});
    }
    for (const CompareDirection direction : {CompareDirection::kEq, CompareDirection::kNe, CompareDirection::kGe,
                                             CompareDirection::kGt, CompareDirection::kLe, CompareDirection::kLt}) {
      Node compare = of(Opcode::kCompare, ElementType::kPred);
      compare.compare.direction = direction;
      maker.add(compare, {type, type});
    }
    maker.add(of(Opcode::kSelect, type), {ElementType::kPred, type, type});
    if (is_floating(type)) maker.add(Node{.kind = NodeKind::kFma, .type = type}, {type, type, type});
    for (const ElementType to : kMemory) {
      maker.add(of(Opcode::kConvert, to), {type});
      maker.add(of(Opcode::kBitcastConvert, to), {type});
    }
  }
  for (const auto& [from, to] :
       {std::pair(ElementType::kF16, ElementType::kF32), std::pair(ElementType::kF32, ElementType::kF16)}) {
    maker.add(of(Opcode::kConvert, to), {from});
  }
  return std::move(maker.nests);
}

}  // namespace lowtide::engine
