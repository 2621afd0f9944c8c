// Emits indices, loads and stores: as a scalar, a contiguous vector or a gather, by the index's step from lane to lane.

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/copy_bytes.h"
#include "base/status.h"
#include "codegen/llvm/emitter.h"
#include "codegen/short_steps.h"
#include "nest/blocks.h"

namespace lowtide::engine {
namespace {

/// A store past the caches fills a line, or a half that is filled up by the next one.
constexpr int64_t kLineBytes = 64;

/// Does step * lane + a sum of bounded terms fit 32 bits?
class Range {
 public:
  void add(double least, double greatest) {
    least_ += std::min(least, 0.0);
    greatest_ += std::max(greatest, 0.0);
  }
  bool fits() const { return least_ >= -2147483648.0 && greatest_ <= 2147483647.0; }

 private:
  double least_ = 0, greatest_ = 0;
};

}  // namespace

llvm::Type* Emitter::stored_type(ElementType type) {
  return builder_.getIntNTy(static_cast<unsigned>(stored_bytes(type)) * 8);
}

llvm::Align Emitter::alignment(ElementType type) const {
  return llvm::Align(aligned_ ? static_cast<uint64_t>(stored_bytes(type)) : 1);
}

Emitter::Address Emitter::address(const Affine& affine) {
  Address at;
  Range range;
  std::vector<const Affine::Term*> differing;
  at.scalar = integer(affine.constant);
  for (const auto& term : affine.terms) {
    const Node& atom = node(term.atom);
    V value = nullptr;
    if (width_ != 0 && atom.kind == NodeKind::kLoopIndex && atom.loop == lane_loop_) {
      at.step += term.coefficient;
      value = first_index_;
    } else if (const Emitted atom_value = get(term.atom); atom_value.lanes) {
      differing.push_back(&term);
      const auto c = static_cast<double>(term.coefficient);
      range.add(c * static_cast<double>(atom.least), c * static_cast<double>(atom.greatest));
      range.add(c * static_cast<double>(atom.greatest), c * static_cast<double>(atom.least));
      continue;
    } else {
      value = atom_value.value;
    }
    at.scalar = builder_.CreateAdd(at.scalar, builder_.CreateMul(value, number(term.coefficient)));
  }
  range.add(static_cast<double>(at.step) * width_, static_cast<double>(at.step) * width_);
  for (const auto* term : differing) {
    llvm::Type* element = range.fits() ? builder_.getInt32Ty() : builder_.getInt64Ty();
    V value = range.fits() ? narrow(term->atom) : vector(term->atom);
    if (term->coefficient != 1) {
      value = builder_.CreateMul(value, splat(llvm::ConstantInt::getSigned(element, term->coefficient)));
    }
    at.vector = at.vector ? builder_.CreateAdd(at.vector, value) : value;
  }
  return at;
}

Emitter::V Emitter::lane_offsets(const Address& at, bool& is_wide) {
  llvm::Type* element = at.vector ? at.vector->getType()->getScalarType() : builder_.getInt32Ty();
  if (is_given(at.step)) {  // shape_free() ensures that it fits 32 bits in all lanes
    is_wide = element->isIntegerTy(64);
    V steps = builder_.CreateMul(lane_numbers(element), splat(builder_.CreateIntCast(number(at.step), element, true)));
    return at.vector ? builder_.CreateAdd(steps, at.vector) : steps;
  }
  const bool step_fits = at.step * width_ == static_cast<int32_t>(at.step * width_);
  if (!at.vector && !step_fits) element = builder_.getInt64Ty();
  is_wide = element->isIntegerTy(64);
  if (at.step == 0) return at.vector;
  V steps = builder_.CreateMul(lane_numbers(element), splat(llvm::ConstantInt::getSigned(element, at.step)));
  return at.vector ? builder_.CreateAdd(steps, at.vector) : steps;
}

Emitter::V Emitter::affine_value(NodeId id, bool* lanes) {
  const Address at = address(node(id).affine);
  *lanes = !at.is_uniform();
  if (at.is_uniform()) return at.scalar;
  bool is_wide = false;
  V offsets = lane_offsets(at, is_wide);
  if (fits_32_bits(id)) {
    llvm::Type* i32 = builder_.getInt32Ty();
    offsets = builder_.CreateTrunc(offsets, llvm::FixedVectorType::get(i32, static_cast<unsigned>(width_)));
    return builder_.CreateAdd(splat(builder_.CreateTrunc(at.scalar, i32)), offsets);
  }
  return builder_.CreateAdd(splat(at.scalar), builder_.CreateSExt(offsets, type_of(ElementType::kS64, width_)));
}

Emitter::V Emitter::pointer(int32_t buffer, V index) {
  const ElementType type = nest_.buffers[buffer].type;
  return builder_.CreateGEP(stored_type(type), buffers_[buffer], index);
}

/// Lanes of stored_type(type) as the values that they are.
Emitter::V Emitter::from_stored(ElementType type, V lanes) {
  if (type == ElementType::kPred) return builder_.CreateICmpNE(lanes, llvm::Constant::getNullValue(lanes->getType()));
  const bool is_native = is_wide_float(type);
  return is_native ? builder_.CreateBitCast(lanes, type_of(type, width_)) : lanes;
}

Emitter::Emitted Emitter::emit_load(NodeId id) {
  const Node& n = node(id);
  if (const auto tile = tile_rows_.find(id); tile != tile_rows_.end()) {
    V value = builder_.CreateAlignedLoad(llvm::FixedVectorType::get(stored_type(n.type), static_cast<unsigned>(width_)),
                                         tile->second, llvm::Align(16));
    return {from_stored(n.type, value), true};
  }
  if (const auto term = row_terms_.find(id); term != row_terms_.end()) return {term->second, true};
  if (width_ != 0) {
    if (const auto clamped = clamped_index(nest_, n.affine, lane_loop_, varying_)) return load_clamped(n, *clamped);
  }
  return load_at(n, address(n.affine));
}

Emitter::Emitted Emitter::load_at(const Node& n, const Address& at, V only) {
  llvm::Type* element = n.type == ElementType::kPred ? builder_.getInt8Ty() : type_of(n.type, 0);
  const auto from_memory = [&](V value) -> V {
    if (n.type != ElementType::kPred) return value;
    return builder_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
  };
  if (at.is_uniform()) {
    return {from_memory(builder_.CreateAlignedLoad(element, pointer(n.buffer, at.scalar), alignment(n.type))), false};
  }
  auto* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(width_));
  V running = mask();
  if (only) running = running ? builder_.CreateAnd(running, only) : only;
  if (!at.vector && !active_ && is_short_step(at.step)) return {from_memory(load_apart(n, at, element)), true};
  if (at.vector || (at.step != 1 && at.step != -1)) return {from_memory(gather(n.buffer, at, element)), true};
  V first = at.scalar;
  if (at.step == -1) {
    first = builder_.CreateSub(first, integer(width_ - 1));
    if (running) running = builder_.CreateVectorReverse(running);
  }
  V from = pointer(n.buffer, first);
  prefetch(n, from);
  V value = load_vector(type, from, running);
  if (at.step == -1) value = builder_.CreateVectorReverse(value);
  return {from_memory(value), true};
}

Emitter::V Emitter::load_vector(llvm::Type* type, V from, V running) {
  if (!running) return builder_.CreateAlignedLoad(type, from, llvm::Align(1));
  return builder_.CreateMaskedLoad(type, from, llvm::Align(1), running, llvm::Constant::getNullValue(type));
}

// For a serial loop inside the lane loop that moves from row to row: the next row is on another page, which hardware
// prefetchers don't reach. Addresses past the end are harmless.
void Emitter::prefetch(const Node& load, V first) {
  if (serial_loop_ == kNoId) return;
  const int64_t bytes = stored_bytes(load.type);
  for (const auto& term : load.affine.terms) {
    const Node& atom = node(term.atom);
    constexpr int64_t kPage = 4096, kAhead = 8;
    if (atom.kind != NodeKind::kLoopIndex || atom.loop != serial_loop_) continue;
    const int64_t extent = loop_of(serial_loop_).extent;
    const bool is_far = is_given(term.coefficient) || std::abs(term.coefficient) * bytes >= kPage / 4;
    if (!is_far || (!is_given(extent) && extent < 2 * kAhead)) continue;
    V ahead = builder_.CreateMul(number(term.coefficient), integer(bytes * kAhead));
    for (int64_t line = 0; line < width_ * bytes; line += 64) {
      V at = builder_.CreateGEP(builder_.getInt8Ty(), first, builder_.CreateAdd(ahead, integer(line)));
      builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {at->getType()},
                               {at, builder_.getInt32(0), builder_.getInt32(3), builder_.getInt32(1)});
    }
  }
}

Emitter::V Emitter::gather(int32_t buffer, const Address& at, llvm::Type* element) {
  auto* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(width_));
  V running = mask();
  bool is_wide = false;
  V offsets = lane_offsets(at, is_wide);
  if (fits_registers(buffer, element)) {
    llvm::Type* wide = type_of(ElementType::kS64, width_);
    return look_up_in(buffer, builder_.CreateAdd(splat(at.scalar), builder_.CreateSExt(offsets, wide)), element);
  }
  if (avx512_ && element->getScalarSizeInBits() >= 32) {
    V from = pointer(buffer, at.scalar);
    V addresses = builder_.CreateGEP(element, from, offsets);
    V all = running ? running : llvm::Constant::getAllOnesValue(type_of(ElementType::kPred, width_));
    return builder_.CreateMaskedGather(type, addresses, llvm::Align(1), all, llvm::Constant::getNullValue(type));
  }
  // Lane by lane. Lanes that don't run read element 0 of the buffer, which always exists.
  V from = pointer(buffer, at.scalar);
  if (running) {
    llvm::Type* wide = type_of(ElementType::kS64, width_);
    V whole = builder_.CreateAdd(splat(at.scalar), builder_.CreateSExt(offsets, wide));
    offsets = builder_.CreateSelect(running, whole, llvm::Constant::getNullValue(wide));
    from = buffers_[buffer];
  }
  V gathered = llvm::PoisonValue::get(type);
  for (int32_t lane = 0; lane < width_; ++lane) {
    V offset =
        builder_.CreateSExt(builder_.CreateExtractElement(offsets, static_cast<uint64_t>(lane)), builder_.getInt64Ty());
    V value = builder_.CreateAlignedLoad(element, builder_.CreateGEP(element, from, offset), llvm::Align(1));
    gathered = builder_.CreateInsertElement(gathered, value, static_cast<uint64_t>(lane));
  }
  return gathered;
}

void Emitter::scatter(int32_t buffer, const Address& at, V value, V running) {
  V from = pointer(buffer, at.scalar);
  bool is_wide = false;
  V offsets = at.is_uniform() ? static_cast<V>(llvm::Constant::getNullValue(type_of(ElementType::kS32, width_)))
                              : lane_offsets(at, is_wide);
  llvm::Type* element = value->getType()->getScalarType();
  if (running || (avx512_ && element->getScalarSizeInBits() >= 32)) {
    V all = running ? running : llvm::Constant::getAllOnesValue(type_of(ElementType::kPred, width_));
    builder_.CreateMaskedScatter(value, builder_.CreateGEP(element, from, offsets), llvm::Align(1), all);
    return;
  }
  for (int32_t lane = 0; lane < width_; ++lane) {
    V offset =
        builder_.CreateSExt(builder_.CreateExtractElement(offsets, static_cast<uint64_t>(lane)), builder_.getInt64Ty());
    builder_.CreateAlignedStore(builder_.CreateExtractElement(value, static_cast<uint64_t>(lane)),
                                builder_.CreateGEP(element, from, offset), llvm::Align(1));
  }
}

/// The value as stored in memory: predicates are bytes.
Emitter::V Emitter::in_memory(ElementType type, V value) {
  if (type != ElementType::kPred) return value;
  const bool is_vector = value->getType()->isVectorTy();
  return builder_.CreateZExt(value, is_vector ? type_of(ElementType::kU8, width_) : builder_.getInt8Ty());
}

void Emitter::emit_store(const Store& store) {
  const Address at = address(store.index);
  const Emitted value = get(store.value);
  const Emitted guard = store.guard == kNoId ? Emitted{} : get(store.guard);
  const ElementType type = nest_.buffers[store.buffer].type;
  // A guard that is the same in all lanes is a branch.
  llvm::BasicBlock* after = nullptr;
  if (guard.value && !guard.lanes) {
    auto* then = new_block("then");
    after = new_block("after");
    builder_.CreateCondBr(guard.value, then, after);
    builder_.SetInsertPoint(then);
  }
  if (at.is_uniform() && !value.lanes && !guard.lanes) {
    builder_.CreateAlignedStore(in_memory(type, value.value), pointer(store.buffer, at.scalar), alignment(type));
  } else {
    V running = mask();
    if (guard.lanes) running = running ? builder_.CreateAnd(running, guard.value) : guard.value;
    V stored = in_memory(type, vector(store.value));
    if (at.vector || (at.step != 1 && at.step != -1)) {
      scatter(store.buffer, at, stored, running);
    } else {
      V first = at.scalar;
      if (at.step == -1) {
        first = builder_.CreateSub(first, integer(width_ - 1));
        stored = builder_.CreateVectorReverse(stored);
        if (running) running = builder_.CreateVectorReverse(running);
      }
      V to = pointer(store.buffer, first);
      if (running) {
        builder_.CreateMaskedStore(stored, to, llvm::Align(1), running);
      } else if (is_far(store)) {
        store_far(store.buffer, stored, to);
      } else {
        builder_.CreateAlignedStore(stored, to, llvm::Align(1));
      }
    }
  }
  if (after) {
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }
}

// Arrays of kFarBytes are written past the caches, except where the kernel reads the same memory, whose lines are in
// the cache already.
void Emitter::find_far_buffers() {
  far_.assign(nest_.buffers.size(), nullptr);
  has_far_stores_ = false;
  for (const Store& store : nest_.stores) {
    const NestBuffer& buffer = nest_.buffers[store.buffer];
    const std::vector<int32_t> loops = loops_around(nest_, store.block);
    const bool known = std::ranges::none_of(loops, [&](int32_t loop) { return is_given(loop_of(loop).extent); });
    const std::optional<Int128> times = known ? parallel_iterations(nest_, store.block) : std::nullopt;
    V& far = far_[store.buffer];
    if (buffer.read || far || !times || *times * stored_bytes(buffer.type) < kFarBytes) continue;
    far = builder_.getTrue();
    for (size_t other = 0; other < nest_.buffers.size(); ++other) {
      if (!nest_.buffers[other].read) continue;
      far = builder_.CreateAnd(far, builder_.CreateICmpNE(buffers_[store.buffer], buffers_[other]));
    }
  }
}

bool Emitter::is_far(const Store& store) const {
  const int64_t bytes = width_ * stored_bytes(nest_.buffers[store.buffer].type);
  return far_[store.buffer] && bytes % (kLineBytes / 2) == 0;
}

void Emitter::store_far(int32_t buffer, V value, V to) {
  has_far_stores_ = true;
  auto* past = new_block("far");
  auto* plain = new_block("near");
  auto* after = new_block("after");
  const int64_t bytes = width_ * stored_bytes(nest_.buffers[buffer].type);
  const int64_t unit = bytes % kLineBytes == 0 ? kLineBytes : kLineBytes / 2;
  V within = builder_.CreateAnd(builder_.CreatePtrToInt(to, builder_.getInt64Ty()), integer(unit - 1));
  V aligned = builder_.CreateICmpEQ(within, integer(0));
  builder_.CreateCondBr(builder_.CreateAnd(far_[buffer], aligned), past, plain);
  builder_.SetInsertPoint(past);
  auto* stored = builder_.CreateAlignedStore(value, to, llvm::Align(static_cast<uint64_t>(unit)));
  V one = llvm::ConstantInt::get(builder_.getInt32Ty(), 1);
  stored->setMetadata(llvm::LLVMContext::MD_nontemporal,
                      llvm::MDNode::get(context_, llvm::ConstantAsMetadata::get(llvm::cast<llvm::Constant>(one))));
  builder_.CreateBr(after);
  builder_.SetInsertPoint(plain);
  builder_.CreateAlignedStore(value, to, llvm::Align(1));
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

// Stores past the caches aren't ordered with others on x86; those who read the array must see them.
void Emitter::end_far_stores() {
  if (has_far_stores_ && llvm::Triple(module_.getTargetTriple()).isX86())
    builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
}

}  // namespace lowtide::engine
