// Emits loads and stores of nearby elements that would otherwise be gathers and scatters: with clamped indices, or with
// short steps from lane to lane.

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/emitter.h"

namespace lowtide::engine {

// Each step distinguishes three cases: all lanes are within the bounds and read contiguously; all are beyond one bound
// and read one element; else lanes within the bounds read contiguously, and the others read the element at their bound.
Emitter::Emitted Emitter::load_clamped(const Node& n, const ClampedIndex& index) {
  const Node& linear = node(index.linear);
  const Affine along = linear.kind == NodeKind::kAffine ? linear.affine : Affine{0, {{index.linear, 1}}};
  const int64_t direction = index.step * index.coefficient;  // step of the clamped value from lane to lane
  V lanes = integer(width_);
  if (remaining_) lanes = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, lanes, remaining_);
  V first = address(along).scalar;
  V last = builder_.CreateAdd(first, builder_.CreateMul(builder_.CreateSub(lanes, integer(1)), integer(direction)));
  V low = direction > 0 ? first : last;
  V high = direction > 0 ? last : first;
  V rest = address(index.rest).scalar;
  const auto place = [&](V value) {
    return builder_.CreateAdd(rest, builder_.CreateMul(value, integer(index.coefficient)));
  };
  const Address whole{place(first), index.step, nullptr};
  const auto element_at = [&](V value) {
    value = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, integer(index.least));
    value = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, integer(index.greatest));
    return splat(load_at(n, {place(value), 0, nullptr}).value);
  };
  V inside = builder_.CreateAnd(builder_.CreateICmpSGE(low, integer(index.least)),
                                builder_.CreateICmpSLE(high, integer(index.greatest)));
  llvm::BasicBlock* after = new_block("loaded");
  std::vector<std::pair<V, llvm::BasicBlock*>> loaded;
  const auto ends_with = [&](V value) {
    loaded.emplace_back(value, builder_.GetInsertBlock());
    builder_.CreateBr(after);
  };
  const auto load_where = [&](V condition, const auto& load) {
    auto *yes = new_block("where"), *no = new_block("otherwise");
    builder_.CreateCondBr(condition, yes, no);
    builder_.SetInsertPoint(yes);
    ends_with(load());
    builder_.SetInsertPoint(no);
  };
  load_where(inside, [&] { return load_at(n, whole).value; });
  const bool are_ordered = !active_ && index.least <= index.greatest;
  if (are_ordered) {
    V beyond = builder_.CreateOr(builder_.CreateICmpSLT(high, integer(index.least)),
                                 builder_.CreateICmpSGT(low, integer(index.greatest)));
    load_where(beyond, [&] { return element_at(first); });
  }
  if (are_ordered && avx512_) {
    const auto [is_before, is_inside] = lanes_at_bounds(index, first);
    V edge = builder_.CreateSelect(is_before, element_at(first), element_at(last));
    ends_with(builder_.CreateSelect(is_inside, load_at(n, whole, is_inside).value, edge));
  } else {
    ends_with(load_at(n, address(n.affine)).value);
  }
  builder_.SetInsertPoint(after);
  auto* phi = builder_.CreatePHI(loaded[0].first->getType(), static_cast<unsigned>(loaded.size()));
  for (const auto& [value, block] : loaded) phi->addIncoming(value, block);
  return {phi, true};
}

// Two masks: the lanes before those within the bounds, and the lanes within the bounds.
std::pair<Emitter::V, Emitter::V> Emitter::lanes_at_bounds(const ClampedIndex& index, V first) {
  const int64_t direction = index.step * index.coefficient;
  const auto lanes_to = [&](int64_t bound, int64_t more) {
    V lanes = builder_.CreateMul(builder_.CreateSub(integer(bound), first), integer(direction));
    lanes = builder_.CreateAdd(lanes, integer(more));
    lanes = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, lanes, integer(0));
    lanes = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, lanes, integer(width_));
    return splat(builder_.CreateTrunc(lanes, builder_.getInt32Ty()));
  };
  const bool has_least = index.least != INT64_MIN, has_greatest = index.greatest != INT64_MAX;
  const bool is_entered = direction > 0 ? has_least : has_greatest, is_left = direction > 0 ? has_greatest : has_least;
  V numbers = lane_numbers(builder_.getInt32Ty());
  V none = llvm::Constant::getNullValue(type_of(ElementType::kPred, width_));
  V is_before = none;
  if (is_entered) {
    is_before = builder_.CreateICmpSLT(numbers, lanes_to(direction > 0 ? index.least : index.greatest, 0));
  }
  V is_inside = builder_.CreateNot(is_before);
  if (is_left) {
    V end = lanes_to(direction > 0 ? index.greatest : index.least, 1);
    is_inside = builder_.CreateAnd(is_inside, builder_.CreateICmpSLT(numbers, end));
  }
  return {is_before, is_inside};
}

int32_t Emitter::register_lanes(llvm::Type* element) const {
  return std::min(width_, (avx512_ ? 512 : 256) / static_cast<int32_t>(element->getScalarSizeInBits()));
}

Emitter::V Emitter::joined(const std::vector<V>& parts) {
  return parts.size() == 1 ? parts[0] : llvm::concatenateVectors(builder_, parts);
}

// Each register of the result needs as many loads as the step has elements; the last load ends with the last lane's
// element, so that nothing past it is read.
Emitter::V Emitter::load_apart(const Node& n, const Address& at, llvm::Type* element) {
  const int32_t part = register_lanes(element);
  const auto step = static_cast<int32_t>(at.step);
  auto* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(part));
  V end = nullptr;  // end of what the active lanes read, relative to the first
  if (remaining_) {
    end = builder_.CreateAdd(builder_.CreateMul(builder_.CreateSub(remaining_, integer(1)), integer(step)), integer(1));
    end = builder_.CreateVectorSplat(static_cast<unsigned>(part), builder_.CreateTrunc(end, builder_.getInt32Ty()));
  }
  const auto read_from = [&](int32_t begin) -> V {
    V from = pointer(n.buffer, builder_.CreateAdd(at.scalar, integer(begin)));
    if (!end) return builder_.CreateAlignedLoad(type, from, llvm::Align(1));
    std::vector<llvm::Constant*> places;
    for (int32_t i = 0; i < part; ++i) places.push_back(builder_.getInt32(static_cast<uint32_t>(begin + i)));
    V within = builder_.CreateICmpSLT(llvm::ConstantVector::get(places), end);
    return builder_.CreateMaskedLoad(type, from, llvm::Align(1), within, llvm::Constant::getNullValue(type));
  };
  std::vector<V> parts;
  for (int32_t lane = 0; lane < width_; lane += part) {
    V chosen = nullptr;
    for (int32_t k = 0; k < step; ++k) {
      const bool is_last = k + 1 == step;
      const int32_t begin = is_last ? (part - 1) * step + 1 - part : k * part;
      V read = read_from(lane * step + begin);
      std::vector<int> picked;
      for (int32_t i = 0; i < part; ++i) {
        const int32_t place = i * step;
        const bool is_here = is_last ? place >= k * part : place / part == k;
        picked.push_back(is_here ? part + place - begin : chosen ? i : -1);
      }
      chosen = builder_.CreateShuffleVector(chosen ? chosen : read, read, picked);
    }
    parts.push_back(chosen);
  }
  return joined(parts);
}

// Writes register by register: interleaves the lanes of all stores that belong to it, in memory order.
bool Emitter::store_together(std::span<const int32_t> stores) {
  if (stores.empty()) return false;
  const auto store = [&](int32_t id) -> const Store& { return nest_.stores[id]; };
  const Store& first = store(stores[0]);
  const Address at = address(first.index);
  const auto step = static_cast<int32_t>(stores.size());
  V running = mask();
  if (at.vector || at.step != step || (running && !avx512_)) return false;
  const ElementType type = nest_.buffers[first.buffer].type;
  std::vector<V> values;
  for (const int32_t id : stores) values.push_back(in_memory(type, vector(store(id).value)));
  const int32_t part = register_lanes(values[0]->getType());
  const auto lanes_of = [&](V value, int32_t lane) {
    return part == width_ ? value : builder_.CreateShuffleVector(value, llvm::createSequentialMask(lane, part, 0));
  };
  for (int32_t lane = 0; lane < width_; lane += part) {
    std::vector<V> own;
    for (V value : values) own.push_back(lanes_of(value, lane));
    V sorted = llvm::concatenateVectors(builder_, own);
    sorted = builder_.CreateShuffleVector(sorted, llvm::createInterleaveMask(part, step));
    V to = pointer(first.buffer, builder_.CreateAdd(at.scalar, integer(lane * step)));
    if (running) {
      V runs = builder_.CreateShuffleVector(lanes_of(running, lane), llvm::createReplicatedMask(step, part));
      builder_.CreateMaskedStore(sorted, to, llvm::Align(1), runs);
    } else {
      builder_.CreateAlignedStore(sorted, to, llvm::Align(1));
    }
  }
  return true;
}

}  // namespace lowtide::engine
