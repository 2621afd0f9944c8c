// The plain operations (nest/legalise.h), each one or a few instructions, for scalars and vectors alike.

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

#include <fmt/format.h>

#include "base/status.h"
#include "codegen/llvm/emitter.h"
#include "codegen/rotation.h"

namespace lowtide::engine {
namespace {

bool is_signed(ElementType type) { return type_kind(type) == TypeKind::kSigned; }

bool is_64_bit_integer(ElementType type) { return type == ElementType::kS64 || type == ElementType::kU64; }

/// The upper halves of lanes, if shifting and truncating would leave these (the last steps of rounding to bf16), else
/// null. One shuffle takes them from two registers; shifting, truncating and joining take seven steps.
llvm::Value* upper_halves(llvm::IRBuilder<>& builder, llvm::Value* value, llvm::Type* type) {
  constexpr unsigned kFewestBits = 16;  // AVX-512 shuffles bytes across registers only in its later versions
  const unsigned bits = type->getScalarSizeInBits();
  auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!lanes || bits < kFewestBits || value->getType()->getScalarSizeInBits() != 2 * bits) return nullptr;
  llvm::Value* whole = nullptr;
  using namespace llvm::PatternMatch;
  if (!match(value, m_LShr(m_Value(whole), m_SpecificInt(bits)))) return nullptr;
  const unsigned count = lanes->getNumElements();
  llvm::Value* halves = builder.CreateBitCast(whole, llvm::FixedVectorType::get(lanes->getElementType(), 2 * count));
  return builder.CreateShuffleVector(halves, llvm::createStrideMask(1, 2, count));
}

}  // namespace

// Can the operation run in 32 bits? The result's low half depends only on the operands' low halves, or all operands
// fit.
bool Emitter::is_narrow_operation(NodeId id) const {
  const Node& n = node(id);
  if (n.kind != NodeKind::kOperation || !fits_32_bits(id)) return false;
  const auto all_fit = [&] {
    for (const NodeId operand : n.operands) {
      if (!fits_32_bits(operand)) return false;
    }
    return true;
  };
  switch (n.opcode) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kSelect: return true;
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kDivide:
    case Opcode::kRemainder: return all_fit();
    case Opcode::kShiftRightLogical:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftLeft: {
      const Node& count = node(n.operands[1]);
      return all_fit() && count.kind == NodeKind::kConstant && count.bits[0] < 32 && node(n.operands[0]).least >= 0;
    }
    default: return false;
  }
}

Emitter::Emitted Emitter::emit_operation(NodeId id) {
  const Node& n = node(id);
  bool lanes = false;
  for (const NodeId operand : n.operands) lanes = lanes || get(operand).lanes;
  const ElementType from = node(n.operands[0]).type;
  std::vector<V> operands;
  if (lanes && is_narrow_operation(id)) {
    for (const NodeId operand : n.operands) {
      operands.push_back(is_64_bit_integer(node(operand).type) ? narrow(operand) : vector(operand));
    }
    return {operate(n, from, operands), true};
  }
  if (lanes && n.opcode == Opcode::kCompare && is_64_bit_integer(from) && fits_32_bits(n.operands[0]) &&
      fits_32_bits(n.operands[1])) {
    return {compare(n, ElementType::kS32, narrow(n.operands[0]), narrow(n.operands[1])), true};
  }
  if (lanes && n.kind == NodeKind::kOperation && n.opcode == Opcode::kConvert && is_64_bit_integer(from) &&
      (fits_32_bits(n.operands[0]) || (is_integral(n.type) && !is_64_bit_integer(n.type)))) {
    // a 64-bit result that fits is kept in 32 bits, too, so the value stays unchanged
    if (is_64_bit_integer(n.type)) {
      if (fits_32_bits(id)) return {narrow(n.operands[0]), true};
      return {builder_.CreateSExt(narrow(n.operands[0]), type_of(n.type, width_)), true};
    }
    return {convert(ElementType::kS32, n.type, narrow(n.operands[0])), true};
  }
  if (const auto rotation = rotation_of(nest_, id); rotation && !fits_32_bits(id)) {
    V value = as(rotation->value, lanes);
    V count = llvm::ConstantInt::get(value->getType(), rotation->left);
    return {builder_.CreateIntrinsic(llvm::Intrinsic::fshl, {value->getType()}, {value, value, count}), lanes};
  }
  for (const NodeId operand : n.operands) operands.push_back(as(operand, lanes));
  if (lanes && n.kind == NodeKind::kOperation && n.opcode == Opcode::kConvert && is_integral(from) &&
      fits_32_bits(id)) {
    return {convert(from, ElementType::kS32, operands[0]), true};
  }
  return {operate(n, from, operands), lanes};
}

Emitter::V Emitter::operate(const Node& n, ElementType operand_type, std::span<const V> operands) {
  if (n.kind == NodeKind::kFma) {
    return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {operands[0]->getType()},
                                    {operands[0], operands[1], operands[2]});
  }
  switch (n.opcode) {
    case Opcode::kCompare: return compare(n, operand_type, operands[0], operands[1]);
    case Opcode::kSelect: return builder_.CreateSelect(operands[0], operands[1], operands[2]);
    case Opcode::kConvert: return convert(operand_type, n.type, operands[0]);
    case Opcode::kCopy: return operands[0];
    case Opcode::kBitcastConvert: {
      auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(operands[0]->getType());
      return builder_.CreateBitCast(operands[0],
                                    type_of(n.type, lanes ? static_cast<int32_t>(lanes->getNumElements()) : 0));
    }
    default: return is_floating(n.type) ? operate_on_floats(n, operands) : operate_on_integers(n, operands);
  }
}

Emitter::V Emitter::operate_on_floats(const Node& n, std::span<const V> o) {
  switch (n.opcode) {
    case Opcode::kAdd: return builder_.CreateFAdd(o[0], o[1]);
    case Opcode::kSubtract: return builder_.CreateFSub(o[0], o[1]);
    case Opcode::kMultiply:
      for (const int one : {0, 1}) {  // skip a factor of 1: HLO scales random numbers to [0, 1) by it
        const auto* constant = llvm::dyn_cast<llvm::Constant>(o[one]);
        if (const auto* splat = constant && constant->getType()->isVectorTy() ? constant->getSplatValue() : constant) {
          const auto* value = llvm::dyn_cast<llvm::ConstantFP>(splat);
          if (value && value->isExactlyValue(1.0)) return o[1 - one];
        }
      }
      return builder_.CreateFMul(o[0], o[1]);
    case Opcode::kDivide: return builder_.CreateFDiv(o[0], o[1]);
    case Opcode::kNegate: return builder_.CreateFNeg(o[0]);
    case Opcode::kSqrt: return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, o[0]);
    case Opcode::kAbs: return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, o[0]);
    case Opcode::kFloor: return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, o[0]);
    case Opcode::kCeil: return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, o[0]);
    case Opcode::kRoundNearestEven: return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, o[0]);
    case Opcode::kMaximum: return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, o[0], o[1]);
    case Opcode::kMinimum: return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, o[0], o[1]);
    default: break;
  }
  LT_ASSERT(false, fmt::format("{} of floats is no plain operation", opcode_name(n.opcode)));
}

Emitter::V Emitter::operate_on_integers(const Node& n, std::span<const V> o) {
  const bool sign = is_signed(n.type);
  switch (n.opcode) {
    case Opcode::kAdd: return builder_.CreateAdd(o[0], o[1]);
    case Opcode::kSubtract: return builder_.CreateSub(o[0], o[1]);
    case Opcode::kMultiply: return builder_.CreateMul(o[0], o[1]);
    case Opcode::kDivide:
    case Opcode::kRemainder: return divide(n, o[0], o[1]);
    case Opcode::kAnd: return builder_.CreateAnd(o[0], o[1]);
    case Opcode::kOr: return builder_.CreateOr(o[0], o[1]);
    case Opcode::kXor: return builder_.CreateXor(o[0], o[1]);
    case Opcode::kNot: return builder_.CreateNot(o[0]);
    case Opcode::kMaximum:
      return builder_.CreateBinaryIntrinsic(sign ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, o[0], o[1]);
    case Opcode::kMinimum:
      return builder_.CreateBinaryIntrinsic(sign ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, o[0], o[1]);
    case Opcode::kPopcnt: return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, o[0]);
    case Opcode::kCountLeadingZeros:
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, o[0], builder_.getFalse());
    // A count of the width or more gives any value; LLVM would give poison, which is fine for values nothing uses.
    case Opcode::kShiftLeft: return builder_.CreateShl(o[0], o[1]);
    case Opcode::kShiftRightLogical: return builder_.CreateLShr(o[0], o[1]);
    case Opcode::kShiftRightArithmetic: return builder_.CreateAShr(o[0], o[1]);
    default: break;
  }
  LT_ASSERT(false, fmt::format("{} of integers is no plain operation", opcode_name(n.opcode)));
}

// Lanes that don't run may hold a zero divisor, which would trap.
Emitter::V Emitter::divide(const Node& n, V a, V b) {
  const bool sign = is_signed(n.type);
  if (V running = b->getType()->isVectorTy() && !llvm::isa<llvm::Constant>(b) ? mask() : nullptr) {
    b = builder_.CreateSelect(running, b, llvm::ConstantInt::get(b->getType(), 1));
  }
  if (n.opcode == Opcode::kDivide) return sign ? builder_.CreateSDiv(a, b) : builder_.CreateUDiv(a, b);
  return sign ? builder_.CreateSRem(a, b) : builder_.CreateURem(a, b);
}

Emitter::V Emitter::compare(const Node& n, ElementType operand_type, V a, V b) {
  using P = llvm::CmpInst::Predicate;
  const bool sign = is_signed(operand_type);
  const auto choose = [&](P floating, P with_sign, P without) {
    if (is_floating(operand_type)) return builder_.CreateFCmp(floating, a, b);
    return builder_.CreateICmp(sign ? with_sign : without, a, b);
  };
  switch (n.compare.direction) {
    case CompareDirection::kEq: return choose(P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ);
    case CompareDirection::kNe: return choose(P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE);
    case CompareDirection::kGe: return choose(P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE);
    case CompareDirection::kGt: return choose(P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT);
    case CompareDirection::kLe: return choose(P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE);
    case CompareDirection::kLt: return choose(P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT);
  }
  __builtin_unreachable();
}

Emitter::V Emitter::convert(ElementType from, ElementType to, V value) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  llvm::Type* type = type_of(to, vector ? static_cast<int32_t>(vector->getNumElements()) : 0);
  if (is_floating(from) && is_floating(to)) return builder_.CreateFPCast(value, type);
  if (is_floating(from)) return is_signed(to) ? builder_.CreateFPToSI(value, type) : builder_.CreateFPToUI(value, type);
  if (is_floating(to)) return is_signed(from) ? builder_.CreateSIToFP(value, type) : builder_.CreateUIToFP(value, type);
  if (V halves = avx512_ ? upper_halves(builder_, value, type) : nullptr) return halves;
  return builder_.CreateIntCast(value, type, is_signed(from));
}

std::vector<Emitter::V> Emitter::call(const Function& function, std::span<const V> arguments, int32_t lanes) {
  const int32_t outer = std::exchange(width_, lanes);
  std::vector<V> values(function.nodes.size());
  for (size_t i = 0; i < function.nodes.size(); ++i) {
    const Node& n = function.nodes[i];
    if (n.kind == NodeKind::kConstant) {
      values[i] = lanes == 0 ? constant(n) : splat(constant(n));
    } else if (n.kind == NodeKind::kArgument) {
      values[i] = arguments[n.slot];
    } else {
      std::vector<V> operands;
      for (const NodeId operand : n.operands) operands.push_back(values[operand]);
      values[i] = operate(n, function.nodes[n.operands[0]].type, operands);
    }
  }
  width_ = outer;
  std::vector<V> results;
  for (const NodeId result : function.results) results.push_back(values[result]);
  return results;
}

}  // namespace lowtide::engine
