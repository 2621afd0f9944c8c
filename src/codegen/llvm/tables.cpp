// Emits table look-ups: with AVX-512, permutations of registers that hold rows of the table; else gathers from memory.

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/status.h"
#include "codegen/llvm/emitter.h"

namespace lowtide::engine {
namespace {

/// Are the lower halves of these 32-bit elements zero, as in bf16 numbers in f32?
bool are_upper_halves(const Node& table) {
  return type_bits(table.type) == 32 && std::all_of(table.table->elements.begin(), table.table->elements.end(),
                                                    [](uint64_t e) { return (e & 0xffff) == 0; });
}

}  // namespace

// The table is padded with zeros.
llvm::GlobalVariable* Emitter::table_in_memory(const Node& table, unsigned bits, size_t elements) {
  llvm::Type* element = builder_.getIntNTy(bits);
  std::vector<llvm::Constant*> constants;
  for (const uint64_t value : table.table->elements) constants.push_back(llvm::ConstantInt::get(element, value));
  constants.resize(std::max(elements, constants.size()), llvm::ConstantInt::get(element, 0));
  auto* type = llvm::ArrayType::get(element, constants.size());
  auto* made = new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::InternalLinkage,
                                        llvm::ConstantArray::get(type, constants), "table", nullptr,
                                        llvm::GlobalValue::NotThreadLocal, table_space_);
  made->setAlignment(llvm::Align(64));
  return made;
}

// Looks up one full register of indices, none negative. The number of elements in `rows` is a power of two.
Emitter::V Emitter::look_up(std::span<const uint64_t> rows, V index, unsigned bits) {
  const bool words = bits == 16;
  const size_t row = 512 / bits;
  llvm::Type* type = index->getType();
  const auto row_at = [&](size_t first) -> V {
    std::vector<llvm::Constant*> constants;
    for (size_t i = 0; i < row; ++i) {
      const size_t at = first + i;
      constants.push_back(llvm::ConstantInt::get(type->getScalarType(), at < rows.size() ? rows[at] : 0));
    }
    return llvm::ConstantVector::get(constants);
  };
  if (rows.size() <= row) {
    return builder_.CreateIntrinsic(
        words ? llvm::Intrinsic::x86_avx512_permvar_hi_512 : llvm::Intrinsic::x86_avx512_permvar_si_512, {},
        {row_at(0), index});
  }
  if (rows.size() <= 2 * row) {
    return builder_.CreateIntrinsic(
        words ? llvm::Intrinsic::x86_avx512_vpermi2var_hi_512 : llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
        {row_at(0), index, row_at(row)});
  }
  const size_t half = rows.size() / 2;
  V bit = builder_.CreateAnd(index, llvm::ConstantInt::get(type, half));
  V is_upper = builder_.CreateICmpNE(bit, llvm::Constant::getNullValue(type));
  return builder_.CreateSelect(is_upper, look_up(rows.subspan(half), index, bits),
                               look_up(rows.first(half), index, bits));
}

// Of all lanes, computed for `part` lanes at a time: a register full, whose last lanes may be unused.
Emitter::V Emitter::by_parts(V lanes, int32_t part, const std::function<V(V)>& of_part) {
  if (width_ == part) return of_part(lanes);
  std::vector<V> parts;
  for (int32_t first = 0; first < width_; first += part) {
    std::vector<int> places(static_cast<size_t>(part), -1);
    std::iota(places.begin(), places.begin() + std::min(part, width_ - first), first);
    parts.push_back(of_part(builder_.CreateShuffleVector(lanes, places)));
  }
  V whole = joined(parts);
  if (width_ % part == 0) return whole;
  std::vector<int> used(static_cast<size_t>(width_));
  std::iota(used.begin(), used.end(), 0);
  return builder_.CreateShuffleVector(whole, used);
}

// Does an array that the kernel only reads fit two registers, in which any element can be permuted to any lane?
bool Emitter::fits_registers(int32_t buffer, llvm::Type* element) const {
  const NestBuffer& array = nest_.buffers[buffer];
  const unsigned bits = element->getScalarSizeInBits();
  return avx512_ && !array.written && (bits == 32 || bits == 64) && array.elements > 0 &&
         array.elements * bits <= int64_t{2} * 512;
}

// array[index] in each lane, for an array that fits two registers. `index`: 64 bits a lane.
Emitter::V Emitter::look_up_in(int32_t buffer, V index, llvm::Type* element) {
  const unsigned bits = element->getScalarSizeInBits(), row = 512 / bits;
  const int64_t elements = nest_.buffers[buffer].elements;
  auto* lanes = llvm::FixedVectorType::get(builder_.getIntNTy(bits), row);
  const auto row_at = [&](int64_t first) -> V {
    std::vector<llvm::Constant*> exists;
    for (unsigned i = 0; i < row; ++i) exists.push_back(builder_.getInt1(first + i < elements));
    return load_vector(lanes, pointer(buffer, integer(first)), llvm::ConstantVector::get(exists));
  };
  const bool is_wide = bits == 64;
  V found = by_parts(index, static_cast<int32_t>(row), [&](V part) -> V {
    V at = builder_.CreateTrunc(part, lanes);
    if (elements <= row) {
      const auto permute =
          is_wide ? llvm::Intrinsic::x86_avx512_permvar_di_512 : llvm::Intrinsic::x86_avx512_permvar_si_512;
      return builder_.CreateIntrinsic(permute, {}, {row_at(0), at});
    }
    const auto permute =
        is_wide ? llvm::Intrinsic::x86_avx512_vpermi2var_q_512 : llvm::Intrinsic::x86_avx512_vpermi2var_d_512;
    return builder_.CreateIntrinsic(permute, {}, {row_at(0), at, row_at(row)});
  });
  return builder_.CreateBitCast(found, llvm::FixedVectorType::get(element, static_cast<unsigned>(width_)));
}

Emitter::Emitted Emitter::emit_table(NodeId id) {
  const Node& n = node(id);
  const NodeId operand = n.operands[0];
  const auto in_type = [&](V value) -> V {
    if (n.type == ElementType::kPred)
      return builder_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
    auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    llvm::Type* type = type_of(n.type, lanes ? static_cast<int32_t>(lanes->getNumElements()) : 0);
    if (type->isFPOrFPVectorTy()) return builder_.CreateBitCast(value, type);
    return value->getType() == type ? value : builder_.CreateTrunc(value, type);
  };
  const auto own_bits = static_cast<unsigned>(stored_bytes(n.type)) * 8;
  const bool is_signed = type_kind(node(operand).type) == TypeKind::kSigned;
  const Emitted index = get(operand);
  const Node& from = node(operand);
  const bool contiguous = index.lanes && from.kind == NodeKind::kLoopIndex && from.loop == lane_loop_;
  if (!index.lanes || contiguous) {
    llvm::GlobalVariable* table =
        table_in_memory(n, own_bits, n.table->elements.size() + static_cast<size_t>(contiguous ? width_ : 0));
    V wide = contiguous ? first_index_ : builder_.CreateIntCast(index.value, builder_.getInt64Ty(), is_signed);
    V at = builder_.CreateSub(wide, integer(n.table->first));
    V place = builder_.CreateGEP(builder_.getIntNTy(own_bits), table, at);
    llvm::Type* type = builder_.getIntNTy(own_bits);
    if (contiguous) type = llvm::FixedVectorType::get(type, static_cast<unsigned>(width_));
    return {in_type(builder_.CreateAlignedLoad(type, place, contiguous ? llvm::Align(1) : alignment(n.type))),
            contiguous};
  }
  const size_t size = std::bit_ceil(n.table->elements.size());
  const bool halves = avx512_ && are_upper_halves(n);
  const unsigned bits = avx512_ && (halves || own_bits < 32) ? 16 : 32;
  const int32_t chunk = (avx512_ ? 512 : 256) / static_cast<int32_t>(bits);
  auto* lane_type = llvm::FixedVectorType::get(builder_.getIntNTy(bits), static_cast<unsigned>(width_));
  V at = index.value;
  if (at->getType()->getScalarSizeInBits() == 64) at = narrow(operand);
  at = builder_.CreateIntCast(at, lane_type, is_signed);
  if (n.table->first != 0) at = builder_.CreateSub(at, llvm::ConstantInt::getSigned(lane_type, n.table->first));
  std::vector<uint64_t> rows = n.table->elements;
  if (halves) std::for_each(rows.begin(), rows.end(), [](uint64_t& e) { e >>= 16; });
  rows.resize(size, 0);
  llvm::GlobalVariable* table = avx512_ ? nullptr : table_in_memory(n, bits, size);
  // Lanes that don't run may hold any index.
  if (!avx512_) at = builder_.CreateAnd(at, llvm::ConstantInt::get(lane_type, size - 1));
  V found = by_parts(at, chunk, [&](V part) -> V {
    if (avx512_) return look_up(rows, part, bits);
    V all = llvm::Constant::getAllOnesValue(part->getType());
    return builder_.CreateIntrinsic(
        llvm::Intrinsic::x86_avx2_gather_d_d_256, {},
        {llvm::Constant::getNullValue(part->getType()), table, part, all, builder_.getInt8(4)});
  });
  if (halves) {
    llvm::Type* whole = type_of(ElementType::kU32, width_);
    found = builder_.CreateShl(builder_.CreateZExt(found, whole), 16);
  }
  return {in_type(found), true};
}

}  // namespace lowtide::engine
