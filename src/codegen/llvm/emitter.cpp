#include "codegen/llvm/emitter.h"

#include <llvm/IR/Constants.h>

#include <algorithm>
#include <bit>

#include "base/status.h"
#include "codegen/llvm_entry.h"
#include "codegen/side_by_side.h"

namespace lowtide::engine {

Emitter::Emitter(llvm::Module& module, const Nest& nest, const KernelPlan& plan, bool avx512)
    : module_(module), context_(module.getContext()), builder_(context_), nest_(nest), plan_(plan), avx512_(avx512) {
  carried_nodes_.resize(nest.loops.size());
  for (size_t i = 0; i < nest.loops.size(); ++i) {
    carried_nodes_[i].assign(nest.loops[i].carried.size(), {kNoId, kNoId});
  }
  for (size_t i = 0; i < nest.nodes.size(); ++i) {
    const Node& n = nest.nodes[i];
    if (n.kind != NodeKind::kCarried && n.kind != NodeKind::kResult) continue;
    auto& pair = carried_nodes_[n.loop][n.slot];
    (n.kind == NodeKind::kCarried ? pair.first : pair.second) = static_cast<NodeId>(i);
  }
}

void Emitter::emit() {
  llvm::Type* i64 = builder_.getInt64Ty();
  llvm::Type* pointer = builder_.getPtrTy();
  std::vector<llvm::Function*> pieces;
  for (size_t i = 0; i < plan_.pieces.size(); ++i) pieces.push_back(emit_piece(plan_.pieces[i], i));
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, i64, i64, i64}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, kKernelSymbol, module_);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  builder_.SetInsertPoint(new_block("entry"));
  auto* end = new_block("end");
  auto* choice = builder_.CreateSwitch(function_->getArg(1), end);
  for (size_t i = 0; i < pieces.size(); ++i) {
    auto* block = new_block("piece");
    choice->addCase(builder_.getInt64(i), block);
    builder_.SetInsertPoint(block);
    builder_.CreateCall(pieces[i], {function_->getArg(0), function_->getArg(2), function_->getArg(3)});
    builder_.CreateBr(end);
  }
  builder_.SetInsertPoint(end);
  builder_.CreateRetVoid();
}

llvm::Function* Emitter::emit_piece(const PiecePlan& piece, size_t number) {
  llvm::Type* i64 = builder_.getInt64Ty();
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy(), i64, i64}, false);
  function_ = llvm::Function::Create(type, llvm::Function::InternalLinkage, "piece" + std::to_string(number), module_);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  if (avx512_) function_->addFnAttr("prefer-vector-width", "512");
  builder_.SetInsertPoint(new_block("entry"));
  buffers_.clear();
  for (size_t i = 0; i < nest_.buffers.size(); ++i) {
    V at = builder_.CreateConstGEP1_64(builder_.getPtrTy(), function_->getArg(0), i);
    buffers_.push_back(builder_.CreateLoad(builder_.getPtrTy(), at));
  }
  load_given();
  find_far_buffers();
  clear_values();
  if (piece.loop == kNoId) {
    emit_items(piece.items);
  } else {
    emit_items(std::span(piece.items).first(piece.items.size() - 1));
    emit_loop(piece.loop, function_->getArg(1), function_->getArg(2));
  }
  end_far_stores();
  builder_.CreateRetVoid();
  return function_;
}

void Emitter::load_given() {
  int64_t last = kFirstGiven - 1;
  const auto find = [&](int64_t value) {
    if (is_given(value)) last = std::max(last, value);
  };
  for (const Loop& loop : nest_.loops) find(loop.extent);
  const auto find_in = [&](const Affine& affine) {
    for (const auto& term : affine.terms) find(term.coefficient);
  };
  for (const Node& n : nest_.nodes) find_in(n.affine);
  for (const Store& store : nest_.stores) find_in(store.index);
  given_.clear();
  if (last < kFirstGiven) return;
  V at = builder_.CreateConstGEP1_64(builder_.getPtrTy(), function_->getArg(0), nest_.buffers.size());
  V numbers = builder_.CreateLoad(builder_.getPtrTy(), at);
  for (int64_t k = 0; k <= last - kFirstGiven; ++k) {
    V place = builder_.CreateConstGEP1_64(builder_.getInt64Ty(), numbers, static_cast<uint64_t>(k));
    given_.push_back(builder_.CreateLoad(builder_.getInt64Ty(), place));
  }
}

void Emitter::clear_values() {
  values_.assign(nest_.nodes.size(), {});
  index_.assign(nest_.loops.size(), nullptr);
  remembered_.clear();
}

void Emitter::emit_items(std::span<const Item> items) {
  for (; !items.empty(); items = items.subspan(1)) {
    const Item& item = items.front();
    switch (item.kind) {
      case Item::kNode: emit_node(item.id); break;
      case Item::kStore: {
        const std::vector<int32_t> stores = width_ != 0 ? side_by_side(nest_, items) : std::vector<int32_t>();
        if (store_together(stores)) {
          items = items.subspan(stores.size() - 1);
        } else {
          emit_store(nest_.stores[item.id]);
        }
        break;
      }
      case Item::kLoop: emit_loop(item.id, integer(0), number(loop_of(item.id).extent)); break;
    }
  }
}

void Emitter::emit_block(int32_t block) { emit_items(nest_.blocks[block].items); }

void Emitter::emit_node(NodeId id) {
  const Node& n = node(id);
  const int32_t whole = width_;
  if (width_ != 0 && equal_.has(id)) {
    group_ = equal_.group;
    width_ /= group_;
  }
  Emitted& value = values_[id];
  switch (n.kind) {
    case NodeKind::kAffine: value.value = affine_value(id, &value.lanes); break;
    case NodeKind::kOperation:
    case NodeKind::kFma: value = emit_operation(id); break;
    case NodeKind::kTable: value = emit_table(id); break;
    case NodeKind::kLoad: value = emit_load(id); break;
    default: break;  // the others need no code here
  }
  width_ = whole;
  group_ = 1;
}

Emitter::Emitted Emitter::get(NodeId id) {
  const Node& n = node(id);
  if (n.kind == NodeKind::kConstant) return {constant(n), false};
  if (n.kind == NodeKind::kLoopIndex) {
    if (width_ == 0 || n.loop != lane_loop_) return {index_[n.loop], false};
    llvm::Type* element = fits_32_bits(id) ? builder_.getInt32Ty() : builder_.getInt64Ty();
    const auto in_lanes = [&] {
      V first = builder_.CreateTrunc(first_index_, element);
      return builder_.CreateAdd(splat(first), lane_numbers(element));
    };
    return {remember(first_index_, group_ == 1 ? kLaneIndex : kGroupIndex, in_lanes), true};
  }
  const Emitted& value = values_[id];
  LT_ASSERT(value.value, "a node is used before it is computed");
  return {value.lanes && width_ != 0 ? in_width(value.value) : value.value, value.lanes};
}

Emitter::V Emitter::in_width(V value) {
  const auto lanes = static_cast<int32_t>(llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements());
  if (lanes == width_) return value;
  return remember(value, lanes < width_ ? kSpreadOut : kGathered, [&] {
    std::vector<int> from;
    for (int32_t i = 0; i < width_; ++i) from.push_back(lanes < width_ ? i / equal_.group : i * equal_.group);
    return builder_.CreateShuffleVector(value, from);
  });
}

Emitter::V Emitter::scalar(NodeId id) {
  const Emitted value = get(id);
  LT_ASSERT(!value.lanes, "a value that differs between lanes is used as a scalar");
  return value.value;
}

Emitter::V Emitter::vector(NodeId id) {
  const Emitted value = get(id);
  if (!value.lanes) return splat(value.value);
  llvm::Type* own = type_of(node(id).type, width_);
  return value.value->getType() == own ? value.value : builder_.CreateSExt(value.value, own);
}

Emitter::V Emitter::narrow(NodeId id) {
  const Emitted value = get(id);
  if (!value.lanes) return splat(builder_.CreateTrunc(value.value, builder_.getInt32Ty()));
  llvm::Type* narrow = llvm::FixedVectorType::get(builder_.getInt32Ty(), static_cast<unsigned>(width_));
  return builder_.CreateTrunc(value.value, narrow);
}

Emitter::V Emitter::remember(V key, int what, const std::function<V()>& make) {
  V& made = remembered_[{key, {builder_.GetInsertBlock(), what}}];
  if (!made) made = make();
  return made;
}

// A splat is created again in each block: one that lives across blocks would occupy a register for each part of a wide
// vector, but one within a block needs a single register.
Emitter::V Emitter::splat(V scalar) {
  const auto lanes = llvm::ElementCount::getFixed(static_cast<unsigned>(width_));
  if (auto* known = llvm::dyn_cast<llvm::Constant>(scalar)) return llvm::ConstantVector::getSplat(lanes, known);
  return remember(scalar, width_, [&] { return builder_.CreateVectorSplat(lanes, scalar); });
}

Emitter::V Emitter::lane_numbers(llvm::Type* element) {
  std::vector<llvm::Constant*> numbers;
  for (int32_t i = 0; i < width_; ++i) {
    numbers.push_back(llvm::ConstantInt::get(element, static_cast<uint64_t>(i) * static_cast<uint64_t>(group_)));
  }
  return llvm::ConstantVector::get(numbers);
}

bool Emitter::fits_32_bits(NodeId id) const {
  const Node& n = node(id);
  if (n.type != ElementType::kS64 && n.type != ElementType::kU64) return false;
  if (n.kind == NodeKind::kConstant) {
    const auto value = static_cast<int64_t>(n.bits[0]);
    return value == static_cast<int32_t>(value) && (n.type == ElementType::kS64 || value >= 0);
  }
  return n.least >= (n.type == ElementType::kS64 ? INT32_MIN : 0) && n.greatest <= INT32_MAX;
}

llvm::Type* Emitter::type_of(ElementType type, int32_t lanes) {
  llvm::Type* scalar = nullptr;
  switch (type) {
    case ElementType::kPred: scalar = builder_.getInt1Ty(); break;
    case ElementType::kF16: scalar = builder_.getHalfTy(); break;
    case ElementType::kF32: scalar = builder_.getFloatTy(); break;
    case ElementType::kF64: scalar = builder_.getDoubleTy(); break;
    default: scalar = builder_.getIntNTy(static_cast<unsigned>(stored_bytes(type)) * 8); break;
  }
  return lanes == 0 ? scalar : llvm::FixedVectorType::get(scalar, static_cast<unsigned>(lanes));
}

llvm::Constant* Emitter::constant(const Node& n) {
  llvm::Type* type = type_of(n.type, 0);
  if (n.type == ElementType::kPred) return builder_.getInt1((n.bits[0] & 0xff) != 0);
  const unsigned bits = type->getScalarSizeInBits();
  const llvm::APInt value(bits, bits == 64 ? n.bits[0] : n.bits[0] & ((uint64_t{1} << bits) - 1));
  if (type->isIntegerTy()) return llvm::ConstantInt::get(context_, value);
  return llvm::ConstantFP::get(context_, llvm::APFloat(type->getFltSemantics(), value));
}

Emitter::V Emitter::mask() {
  V running = nullptr;
  if (remaining_) {
    running = remember(remaining_, kRunning, [&] {
      llvm::Type* i32 = builder_.getInt32Ty();
      return builder_.CreateICmpULT(lane_numbers(i32), splat(builder_.CreateTrunc(remaining_, i32)));
    });
  }
  if (active_) {
    V active = remember(active_, kActive, [&] {
      return builder_.CreateICmpNE(active_, llvm::Constant::getNullValue(active_->getType()));
    });
    return active;  // only running lanes were ever active
  }
  return running;
}

}  // namespace lowtide::engine
