#include <llvm/IR/Constants.h>

#include "base/status.h"
#include "codegen/llvm/emitter.h"
#include "nest/blocks.h"

namespace lowtide::engine {

namespace {
constexpr int64_t kPairedTerms = 4;
}

llvm::BasicBlock* Emitter::new_block(const char* name) { return llvm::BasicBlock::Create(context_, name, function_); }

bool Emitter::is_varying_carried(int32_t loop, size_t slot) const {
  if (width_ == 0) return false;
  const auto [inside, behind] = carried_nodes_[loop][slot];
  const auto varies = [&](NodeId id) { return id != kNoId && varying_[id]; };
  if (inside != kNoId || behind != kNoId) return varies(inside) || varies(behind);
  const Carried& carried = loop_of(loop).carried[slot];  // neither is read
  return varies(carried.initial) || varies(carried.next);
}

void Emitter::set_carried(int32_t loop, std::span<const V> values, bool results) {
  for (size_t slot = 0; slot < values.size(); ++slot) {
    const auto [inside, behind] = carried_nodes_[loop][slot];
    const NodeId id = results ? behind : inside;
    if (id != kNoId) values_[id] = {values[slot], values[slot]->getType()->isVectorTy()};
  }
}

std::vector<Emitter::V> Emitter::count(V begin, V end, V step, std::span<const V> initial, const LoopBody& body) {
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* inside = new_block("loop");
  llvm::BasicBlock* after = new_block("after");
  // a loop that surely runs needs neither a test nor a branch around it
  const auto* first = llvm::dyn_cast<llvm::ConstantInt>(begin);
  const auto* last = llvm::dyn_cast<llvm::ConstantInt>(end);
  const bool runs = first && last && first->getSExtValue() < last->getSExtValue();
  if (runs) {
    builder_.CreateBr(inside);
  } else {
    builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), inside, after);
  }
  builder_.SetInsertPoint(inside);
  auto* index = builder_.CreatePHI(begin->getType(), 2);
  index->addIncoming(begin, before);
  std::vector<V> carried;
  for (V value : initial) {
    auto* phi = builder_.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, before);
    carried.push_back(phi);
  }
  const std::vector<V> next = body(index, carried);
  V next_index = builder_.CreateNSWAdd(index, step);
  llvm::BasicBlock* latch = builder_.GetInsertBlock();
  builder_.CreateCondBr(builder_.CreateICmpSLT(next_index, end), inside, after);
  index->addIncoming(next_index, latch);
  for (size_t i = 0; i < carried.size(); ++i) llvm::cast<llvm::PHINode>(carried[i])->addIncoming(next[i], latch);
  builder_.SetInsertPoint(after);
  std::vector<V> results;
  for (size_t i = 0; i < carried.size(); ++i) {
    auto* phi = builder_.CreatePHI(next[i]->getType(), 2);
    phi->addIncoming(next[i], latch);
    if (!runs) phi->addIncoming(initial[i], before);
    results.push_back(phi);
  }
  return results;
}

/// The guard of all stores in a block and its loops; kNoId: some have none, or another.
NodeId Emitter::common_guard(int32_t block) const {
  NodeId common = kNoId;
  for (const Item& item : nest_.blocks[block].items) {
    if (item.kind == Item::kNode) continue;
    const bool is_loop = item.kind == Item::kLoop;
    if (is_loop && loop_of(item.id).head >= 0) return kNoId;
    const NodeId guard = is_loop ? common_guard(loop_of(item.id).body) : nest_.stores[item.id].guard;
    if (guard == kNoId || (common != kNoId && guard != common)) return kNoId;
    common = guard;
  }
  return common;
}

/// A loop that only stores, and under one guard that is known before it, is skipped where that doesn't hold.
void Emitter::emit_loop(int32_t id, V begin, V end) {
  const Loop& loop = loop_of(id);
  const NodeId guard = loop.kind == LoopKind::kParallel ? common_guard(loop.body) : kNoId;
  const auto known = guard == kNoId ? Emitted{} : values_[guard];
  const bool is_before = guard != kNoId && !stands_in(nest_, node(guard).block, loop.body);
  if (!is_before || !known.value || known.lanes) return emit_whole_loop(id, begin, end);
  llvm::BasicBlock* then = new_block("then");
  llvm::BasicBlock* after = new_block("after");
  builder_.CreateCondBr(known.value, then, after);
  builder_.SetInsertPoint(then);
  emit_whole_loop(id, begin, end);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

void Emitter::emit_whole_loop(int32_t id, V begin, V end) {
  const Loop& loop = loop_of(id);
  if (loop.kind == LoopKind::kWhile) {
    const bool differs = width_ != 0 && varying_[loop.condition];
    return differs ? emit_while_in_lanes(id) : emit_while(id);
  }
  if (width_ == 0 && plan_.tiled[id]) return emit_tiled(find_tiling(nest_, id, avx512_), begin, end);
  if (width_ == 0 && plan_.lanes[id] > 0) {
    return loop.kind == LoopKind::kSequential ? emit_ordered_loop(id, begin, end) : emit_lane_loop(id, begin, end);
  }
  if (width_ == 0 && plan_.after[id] > 0) return emit_rows_then_lanes(id, begin, end);
  const bool whole = llvm::isa<llvm::Constant>(begin) && llvm::isa<llvm::Constant>(end);
  if (whole && is_short_product_sum(loop)) return emit_short_sum(id);
  const std::vector<NodeId> rows = whole ? row_loads(id) : std::vector<NodeId>();
  if (rows.empty()) return emit_serial_loop(id, begin, end);
  emit_row_loop(id, rows);
}

void Emitter::emit_serial_loop(int32_t id, V begin, V end) {
  const Loop& loop = loop_of(id);
  std::vector<V> initial;
  for (size_t slot = 0; slot < loop.carried.size(); ++slot) {
    initial.push_back(as(loop.carried[slot].initial, is_varying_carried(id, slot)));
  }
  if (loop.extent == 0) return set_carried(id, initial, true);
  const int32_t outer = std::exchange(serial_loop_, id);
  const std::vector<V> results = count(begin, end, 1, initial, [&](V index, std::span<const V> carried) {
    index_[id] = index;
    set_carried(id, carried, false);
    emit_block(loop.body);
    std::vector<V> next;
    for (size_t slot = 0; slot < loop.carried.size(); ++slot) {
      next.push_back(as(loop.carried[slot].next, is_varying_carried(id, slot)));
    }
    return next;
  });
  serial_loop_ = outer;
  set_carried(id, results, true);
}

bool Emitter::is_short_product_sum(const Loop& loop) const {
  constexpr size_t kFewNodes = 32;  // of one term, whose code is repeated for each term
  if (loop.kind != LoopKind::kReduce || loop.extent < kPairedTerms || loop.extent > kMostTermsWrittenOut) return false;
  if (loop.carried.size() != 1 || loop.neutral.size() != 1 || !loop.combine) return false;
  const auto& items = nest_.blocks[loop.body].items;
  if (items.size() > kFewNodes) return false;
  for (const Item& item : items) {
    if (item.kind != Item::kNode) return false;
  }
  const Node& next = node(loop.carried[0].next);
  if (next.kind == NodeKind::kFma) return node(next.operands[2]).kind == NodeKind::kCarried;
  const auto is_product = [&](NodeId id) {
    return node(id).kind == NodeKind::kOperation && node(id).opcode == Opcode::kMultiply;
  };
  return is_floating(next.type) && next.kind == NodeKind::kOperation && next.opcode == Opcode::kAdd &&
         (is_product(next.operands[0]) || is_product(next.operands[1]));
}

// Term k is added to partial sum k mod 4, then these as (0 + 1) + (2 + 3); the remaining terms likewise, and last. This
// is the order of XLA:CPU's dots.
void Emitter::emit_short_sum(int32_t id) {
  const Loop& loop = loop_of(id);
  const bool varies = is_varying_carried(id, 0);
  const RowElements rows = load_rows(id, row_loads(id), integer(0), loop.extent);
  const auto add = [&](V a, V b) {
    const std::vector<V> both{a, b};
    return call(*loop.combine, both, varies ? width_ : 0)[0];
  };
  const auto sum_of = [&](int64_t begin, int64_t end) {
    std::vector<V> sums;
    for (int64_t k = begin; k < end; ++k) {
      const auto at = static_cast<size_t>((k - begin) % kPairedTerms);
      if (at == sums.size()) sums.push_back(as(loop.neutral[0], varies));
      index_[id] = integer(k);
      for (const auto& [load, elements] : rows) row_terms_[load] = elements[k];
      set_carried(id, std::span(&sums[at], 1), false);
      emit_block(loop.body);
      sums[at] = as(loop.carried[0].next, varies);
    }
    while (sums.size() > 1) {
      std::vector<V> pairs;
      for (size_t i = 0; i < sums.size(); i += 2) {
        pairs.push_back(i + 1 < sums.size() ? add(sums[i], sums[i + 1]) : sums[i]);
      }
      sums = std::move(pairs);
    }
    return sums[0];
  };
  const int64_t whole = loop.extent / kPairedTerms * kPairedTerms;
  V sum = add(as(loop.carried[0].initial, varies), sum_of(0, whole));
  if (whole < loop.extent) sum = add(sum, sum_of(whole, loop.extent));
  row_terms_.clear();
  set_carried(id, std::span(&sum, 1), true);
}

// Whole steps of `width` lanes, then the rest: under a mask with AVX-512, else one by one. No iteration is computed
// twice: in-place kernels depend on it.
void Emitter::emit_lane_loop(int32_t id, V begin, V end) {
  const Loop& loop = loop_of(id);
  const int32_t width = plan_.lanes[id];
  const bool carries = !loop.carried.empty();
  lane_loop_ = id;
  varying_ = varying_nodes(nest_, id);
  equal_ = equal_lanes(nest_, id, varying_);

  std::vector<V> partial;
  for (const NodeId neutral : loop.neutral) {
    partial.push_back(llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(static_cast<unsigned>(width)),
                                                     constant(node(neutral))));
  }
  LT_ASSERT(!carries || partial.size() == loop.carried.size(), "a loop spread over lanes has no neutral start");
  const auto run_body = [&](V index, std::span<const V> carried) {
    width_ = width;
    first_index_ = index;
    set_carried(id, carried, false);
    emit_block(loop.body);
    std::vector<V> next;
    for (size_t slot = 0; slot < carried.size(); ++slot) {
      V value = vector(loop.carried[slot].next);
      if (V running = mask()) value = builder_.CreateSelect(running, value, carried[slot]);
      next.push_back(value);
    }
    width_ = 0;
    first_index_ = remaining_ = nullptr;
    return next;
  };

  const bool given = is_given(loop.extent);
  const bool has_rest = given || loop.extent % width != 0;
  // [begin, whole) in whole steps: begin is a multiple of the width, and so is end unless it is the extent
  V whole = end;
  if (has_rest) whole = builder_.CreateAnd(end, integer(-static_cast<int64_t>(width)));
  const bool once = has_rest && plan_.masked[id];
  if (once) whole = begin;
  if ((given || loop.extent >= width) && !once) partial = count(begin, whole, width, partial, run_body);
  const auto run_rest_in_lanes = [&](V index, std::span<const V> carried) {
    remaining_ = builder_.CreateSub(end, index);
    return run_body(index, carried);
  };
  if (has_rest && avx512_) partial = count(whole, end, width, partial, run_rest_in_lanes);
  std::vector<V> merged;
  if (carries) merged = merge_lanes(loop, partial);
  if (has_rest && !avx512_) {
    merged = count(whole, end, 1, merged, [&](V index, std::span<const V> carried) {
      index_[id] = index;
      set_carried(id, carried, false);
      emit_block(loop.body);
      std::vector<V> next;
      for (const Carried& c : loop.carried) next.push_back(scalar(c.next));
      return next;
    });
  }
  lane_loop_ = kNoId;
  equal_ = {};
  if (!carries) return;
  std::vector<V> both;
  for (const Carried& c : loop.carried) both.push_back(scalar(c.initial));
  both.insert(both.end(), merged.begin(), merged.end());
  set_carried(id, call(*loop.combine, both, 0), true);
}

// Combines the upper half of the lanes with the lower half until one lane is left, always in the same order.
std::vector<Emitter::V> Emitter::merge_lanes(const Loop& loop, std::vector<V> partial) {
  int32_t width = plan_.lanes[&loop - nest_.loops.data()];
  while (width > 1) {
    width /= 2;
    std::vector<int> low, high;
    for (int32_t i = 0; i < width; ++i) low.push_back(i), high.push_back(width + i);
    std::vector<V> both;
    for (V value : partial) both.push_back(builder_.CreateShuffleVector(value, low));
    for (V value : partial) both.push_back(builder_.CreateShuffleVector(value, high));
    partial = call(*loop.combine, both, width);
  }
  for (V& value : partial) {
    if (value->getType()->isVectorTy()) value = builder_.CreateExtractElement(value, uint64_t{0});
  }
  return partial;
}

void Emitter::emit_while(int32_t id) {
  const Loop& loop = loop_of(id);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* head = new_block("while");
  std::vector<V> carried;
  std::vector<V> initial;
  for (size_t slot = 0; slot < loop.carried.size(); ++slot) {
    initial.push_back(as(loop.carried[slot].initial, is_varying_carried(id, slot)));
  }
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  for (V value : initial) {
    auto* phi = builder_.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, before);
    carried.push_back(phi);
  }
  set_carried(id, carried, false);
  emit_block(loop.head);
  llvm::BasicBlock* body = new_block("do");
  llvm::BasicBlock* after = new_block("done");
  builder_.CreateCondBr(scalar(loop.condition), body, after);
  builder_.SetInsertPoint(body);
  emit_block(loop.body);
  std::vector<V> next;
  for (size_t slot = 0; slot < carried.size(); ++slot) {
    next.push_back(as(loop.carried[slot].next, is_varying_carried(id, slot)));
  }
  for (size_t slot = 0; slot < carried.size(); ++slot) {
    llvm::cast<llvm::PHINode>(carried[slot])->addIncoming(next[slot], builder_.GetInsertBlock());
  }
  builder_.CreateBr(head);
  builder_.SetInsertPoint(after);
  set_carried(id, carried, true);
}

// Runs until no lane's condition holds; a lane whose condition failed keeps its values. The running lanes are carried
// as integers: LLVM moves a mask that lives across blocks bit by bit.
void Emitter::emit_while_in_lanes(int32_t id) {
  const Loop& loop = loop_of(id);
  llvm::Type* flags = type_of(ElementType::kS32, width_);
  const auto as_flags = [&](V lanes) { return builder_.CreateSExt(lanes, flags); };
  V running = mask();
  V first_active = running ? as_flags(running) : llvm::Constant::getAllOnesValue(flags);
  V outer_active = active_;
  std::vector<V> initial;
  for (size_t slot = 0; slot < loop.carried.size(); ++slot) initial.push_back(vector(loop.carried[slot].initial));
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* head = new_block("while");
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  auto* active = builder_.CreatePHI(flags, 2);
  active->addIncoming(first_active, before);
  std::vector<V> carried;
  for (V value : initial) {
    auto* phi = builder_.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, before);
    carried.push_back(phi);
  }
  active_ = active;
  set_carried(id, carried, false);
  emit_block(loop.head);
  V goes_on = builder_.CreateAnd(mask(), vector(loop.condition));
  V still_active = as_flags(goes_on);
  llvm::BasicBlock* body = new_block("do");
  llvm::BasicBlock* after = new_block("done");
  V bits = builder_.CreateBitCast(goes_on, builder_.getIntNTy(static_cast<unsigned>(width_)));
  builder_.CreateCondBr(builder_.CreateICmpNE(bits, llvm::ConstantInt::get(bits->getType(), 0)), body, after);
  builder_.SetInsertPoint(body);
  active_ = still_active;
  emit_block(loop.body);
  std::vector<V> next;
  for (size_t slot = 0; slot < carried.size(); ++slot) {
    next.push_back(builder_.CreateSelect(mask(), vector(loop.carried[slot].next), carried[slot]));
  }
  for (size_t slot = 0; slot < carried.size(); ++slot) {
    llvm::cast<llvm::PHINode>(carried[slot])->addIncoming(next[slot], builder_.GetInsertBlock());
  }
  active->addIncoming(still_active, builder_.GetInsertBlock());
  builder_.CreateBr(head);
  builder_.SetInsertPoint(after);
  active_ = outer_active;
  set_carried(id, carried, true);
}

}  // namespace lowtide::engine
