// Emits nests for threads of a grid (codegen/grid_plan.h): nodes are scalars, inside code that selects this thread's
// iterations.

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <algorithm>

#include "codegen/llvm/emitter.h"
#include "codegen/llvm_entry.h"

namespace lowtide::engine {
namespace {

constexpr unsigned kGlobalSpace = 1;

/// The digits of a number for these bases, the last one varying fastest.
std::vector<llvm::Value*> digits_of(llvm::IRBuilder<>& builder, llvm::Value* number,
                                    std::span<llvm::Value* const> bases) {
  std::vector<llvm::Value*> digits(bases.size());
  for (size_t d = bases.size(); d-- > 1;) {
    digits[d] = builder.CreateURem(number, bases[d]);
    number = builder.CreateUDiv(number, bases[d]);
  }
  if (!bases.empty()) digits[0] = number;
  return digits;
}

}  // namespace

void Emitter::emit_grid(const GridPlan& grid, bool on_device, bool apart) {
  aligned_ = true;
  if (on_device) {
    // Not constant memory: that serves one address at a time, and threads look up different elements.
    table_space_ = kGlobalSpace;
    for (size_t i = 0; i < grid.launches.size(); ++i) emit_device_launch(grid, i, apart);
    return;
  }
  std::vector<llvm::Function*> launches;
  for (size_t i = 0; i < grid.launches.size(); ++i) launches.push_back(emit_told_launch(grid, i));
  llvm::Type *i64 = builder_.getInt64Ty(), *i32 = builder_.getInt32Ty();
  auto* type =
      llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy(), i64, i64, i64, i32, i32, i32}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, kKernelSymbol, module_);
  builder_.SetInsertPoint(new_block("entry"));
  auto* end = new_block("end");
  auto* choice = builder_.CreateSwitch(function_->getArg(1), end);
  for (size_t i = 0; i < launches.size(); ++i) {
    auto* block = new_block("launch");
    choice->addCase(builder_.getInt64(i), block);
    builder_.SetInsertPoint(block);
    std::vector<V> arguments{function_->getArg(0)};
    for (unsigned a = 2; a < 7; ++a) arguments.push_back(function_->getArg(a));
    builder_.CreateCall(launches[i], arguments);
    builder_.CreateBr(end);
  }
  builder_.SetInsertPoint(end);
  builder_.CreateRetVoid();
}

// Parameters: one address per buffer, then begin and end.
llvm::Function* Emitter::emit_device_launch(const GridPlan& grid, size_t number, bool apart) {
  llvm::LLVMContext& context = context_;
  const GridLaunch& launch = grid.launches[number];
  std::vector<llvm::Type*> parameters(nest_.buffers.size(), builder_.getPtrTy(kGlobalSpace));
  parameters.insert(parameters.end(), 2, builder_.getInt64Ty());
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), parameters, false);
  function_ =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, kKernelSymbol + std::to_string(number), module_);
  function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  buffers_.clear();
  for (size_t i = 0; i < nest_.buffers.size(); ++i) {
    const NestBuffer& buffer = nest_.buffers[i];
    const auto at = static_cast<unsigned>(i);
    buffers_.push_back(function_->getArg(at));
    if (!apart) continue;
    function_->addParamAttr(at, llvm::Attribute::NoAlias);
    if (!buffer.written) function_->addParamAttr(at, llvm::Attribute::ReadOnly);
  }
  // The assembler must know how many threads share a block's registers.
  const auto note = [&](const char* what, int64_t value) {
    llvm::Metadata* const parts[] = {llvm::ValueAsMetadata::get(function_), llvm::MDString::get(context, what),
                                     llvm::ConstantAsMetadata::get(builder_.getInt32(static_cast<uint32_t>(value)))};
    module_.getOrInsertNamedMetadata("nvvm.annotations")->addOperand(llvm::MDNode::get(context, parts));
  };
  note("maxntidx", launch.threads());
  builder_.SetInsertPoint(new_block("entry"));
  const auto special = [&](llvm::Intrinsic::ID which) { return builder_.CreateIntrinsic(which, {}, {}); };
  const Place place{special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x),
                    special(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x),
                    special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x)};
  const auto first = static_cast<unsigned>(nest_.buffers.size());
  emit_tiles(grid.scalar.pieces[launch.piece], launch, function_->getArg(first), function_->getArg(first + 1), place);
  return function_;
}

llvm::Function* Emitter::emit_told_launch(const GridPlan& grid, size_t number) {
  llvm::Type *i64 = builder_.getInt64Ty(), *i32 = builder_.getInt32Ty();
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy(), i64, i64, i32, i32, i32}, false);
  function_ = llvm::Function::Create(type, llvm::Function::InternalLinkage, "launch" + std::to_string(number), module_);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  builder_.SetInsertPoint(new_block("entry"));
  buffers_.clear();
  for (size_t i = 0; i < nest_.buffers.size(); ++i) {
    V at = builder_.CreateConstGEP1_64(builder_.getPtrTy(), function_->getArg(0), i);
    buffers_.push_back(builder_.CreateLoad(builder_.getPtrTy(), at));
  }
  const Place place{function_->getArg(3), function_->getArg(4), function_->getArg(5)};
  const GridLaunch& launch = grid.launches[number];
  emit_tiles(grid.scalar.pieces[launch.piece], launch, function_->getArg(1), function_->getArg(2), place);
  return function_;
}

void Emitter::emit_values(int32_t id) {
  for (const Item& item : nest_.blocks[loop_of(id).body].items) {
    if (item.kind == Item::kNode) emit_node(item.id);
  }
}

// One iteration of the shared loops.
void Emitter::emit_shared(const GridLaunch& grid) {
  for (const int32_t id : grid.shared) {
    if (id != grid.shared.back()) {
      emit_values(id);
      continue;
    }
    for (const Item& item : nest_.blocks[loop_of(id).body].items) {
      if (item.kind != Item::kLoop || grid.part == GridPart::kAll) emit_items({&item, 1});
    }
  }
}

void Emitter::emit_tiles(const PiecePlan& piece, const GridLaunch& grid, V begin, V end, const Place& place) {
  clear_values();
  if (grid.shared.empty()) {
    llvm::BasicBlock *only = new_block("only"), *others = new_block("others");
    V number = builder_.CreateOr(place.block, place.thread);
    builder_.CreateCondBr(builder_.CreateIsNull(number), only, others);
    builder_.SetInsertPoint(only);
    if (piece.loop == kNoId) {
      emit_items(piece.items);
    } else {
      emit_items(std::span(piece.items).first(piece.items.size() - 1));
      emit_loop(piece.loop, begin, end);
    }
    builder_.CreateBr(others);
    builder_.SetInsertPoint(others);
    builder_.CreateRetVoid();
    return;
  }
  // Iterations and tiles are numbered in 32 bits if all of them fit: 64-bit divisions are slow.
  const int64_t slack = int64_t{2} * grid.threads();
  llvm::Type* number =
      grid.iterations + slack < INT32_MAX && grid.tiles < INT32_MAX / 2 ? builder_.getInt32Ty() : builder_.getInt64Ty();
  const auto fixed = [&](int64_t value) -> V { return llvm::ConstantInt::getSigned(number, value); };
  const auto cast = [&](V value) { return builder_.CreateIntCast(value, number, false); };
  V asked = cast(builder_.CreateSub(end, begin));
  const auto bases_of = [&](const std::vector<int32_t>& loops) {
    std::vector<V> bases;
    for (const int32_t id : loops) bases.push_back(id == piece.loop ? asked : fixed(loop_of(id).extent));
    return bases;
  };
  const std::vector<V> row_bases = bases_of(grid.rows), column_bases = bases_of(grid.columns);
  const auto product = [&](const std::vector<V>& bases) {
    V all = fixed(1);
    for (V base : bases) all = builder_.CreateMul(all, base);
    return all;
  };
  V row_count = product(row_bases), column_count = product(column_bases);
  const auto tiles_of = [&](V count, int64_t extent) {
    return builder_.CreateUDiv(builder_.CreateAdd(count, fixed(extent - 1)), fixed(extent));
  };
  V tiles_along = tiles_of(column_count, grid.tile_columns);
  V tiles = builder_.CreateMul(tiles_of(row_count, grid.tile_rows), tiles_along);
  V thread = cast(place.thread), width = fixed(grid.tile_columns);
  V row_in_tile = builder_.CreateUDiv(thread, width), column_in_tile = builder_.CreateURem(thread, width);
  emit_items(std::span(piece.items).first(piece.items.size() - 1));
  count(cast(place.block), tiles, cast(place.blocks), {}, [&](V tile, std::span<const V>) {
    const auto at = [&](V which, int64_t extent, V inside) {
      return builder_.CreateAdd(builder_.CreateMul(which, fixed(extent)), inside);
    };
    V row = fixed(0), inside = nullptr, column = nullptr;
    if (grid.rows.empty()) {
      column = at(tile, grid.tile_columns, column_in_tile);
      inside = builder_.CreateICmpULT(column, column_count);
    } else {
      row = at(builder_.CreateUDiv(tile, tiles_along), grid.tile_rows, row_in_tile);
      column = at(builder_.CreateURem(tile, tiles_along), grid.tile_columns, column_in_tile);
      inside = builder_.CreateAnd(builder_.CreateICmpULT(row, row_count), builder_.CreateICmpULT(column, column_count));
    }
    llvm::BasicBlock *mine = new_block("mine"), *done = new_block("done");
    builder_.CreateCondBr(inside, mine, done);
    builder_.SetInsertPoint(mine);
    const auto set_indices = [&](const std::vector<int32_t>& loops, V which, const std::vector<V>& bases) {
      const std::vector<V> digits = digits_of(builder_, which, bases);
      for (size_t d = 0; d < loops.size(); ++d) {
        V index = builder_.CreateZExt(digits[d], builder_.getInt64Ty());
        if (loops[d] == piece.loop) index = builder_.CreateAdd(index, begin);
        index_[loops[d]] = index;
      }
    };
    set_indices(grid.rows, row, row_bases);
    set_indices(grid.columns, column, column_bases);
    if (grid.ordered == kNoId) {
      emit_shared(grid);
    } else {
      count(begin, end, 1, {}, [&](V index, std::span<const V>) {
        index_[grid.ordered] = index;
        emit_values(grid.ordered);
        emit_shared(grid);
        return std::vector<V>();
      });
    }
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
    return std::vector<V>();
  });
  builder_.CreateRetVoid();
}

}  // namespace lowtide::engine
