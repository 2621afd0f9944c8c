/// Loops of a NestBuilder.

#include "nest/builder_state.h"

namespace lowtide::engine {

int32_t NestBuilder::begin(LoopKind kind, int64_t extent, std::span<const NodeId> initial) {
  const auto id = static_cast<int32_t>(nest_.loops.size());
  Loop loop{.kind = kind, .extent = extent};
  // a piece keeps its loop even for one iteration: pieces are run as loops
  const bool inlined = kind != LoopKind::kWhile && extent == 1 && !(kind == LoopKind::kParallel && block_ == 0);
  OpenLoop open{.outer = block_, .inlined = inlined, .carried = {}};
  const int32_t block = inlined ? block_ : add_block(block_, id);
  (kind == LoopKind::kWhile ? loop.head : loop.body) = block;
  if (!inlined && kind != LoopKind::kWhile) {
    Node index{.kind = NodeKind::kLoopIndex, .type = ElementType::kS64, .loop = id};
    index.least = 0;
    index.greatest = extent > 0 ? extent - 1 : 0;
    loop.index = place(std::move(index), block);
  }
  for (const NodeId value : initial) {
    const ElementType type = node(value).type;
    const auto slot = static_cast<int32_t>(loop.carried.size());
    loop.carried.push_back({type, value, kNoId});
    open.carried.push_back(
        inlined ? value : place({.kind = NodeKind::kCarried, .type = type, .loop = id, .slot = slot}, block));
  }
  nest_.loops.push_back(std::move(loop));
  shared_->loops.push_back(std::move(open));
  block_ = block;
  return id;
}

int32_t NestBuilder::begin_parallel(int64_t extent, bool one_by_one) {
  const int32_t loop = begin(LoopKind::kParallel, extent, {});
  nest_.loops[loop].one_by_one = one_by_one;
  return loop;
}

void NestBuilder::end_parallel(int32_t loop) {
  const OpenLoop& open = shared_->loops[loop];
  block_ = open.outer;
  if (!open.inlined) nest_.blocks[block_].items.push_back({Item::kLoop, loop});
}

int32_t NestBuilder::begin_reduce(int64_t extent, std::span<const NodeId> initial,
                                  std::shared_ptr<const Function> combine, std::span<const NodeId> neutral) {
  const int32_t loop = begin(LoopKind::kReduce, extent, initial);
  nest_.loops.back().combine = std::move(combine);
  nest_.loops.back().neutral.assign(neutral.begin(), neutral.end());
  return loop;
}

int32_t NestBuilder::begin_sequential(int64_t extent, std::span<const NodeId> initial) {
  return begin(LoopKind::kSequential, extent, initial);
}

int32_t NestBuilder::begin_while(std::span<const NodeId> initial) { return begin(LoopKind::kWhile, 0, initial); }

void NestBuilder::begin_while_body(int32_t loop, NodeId condition) {
  const int32_t head = nest_.loops[loop].head;
  block_ = add_block(head, loop);
  nest_.loops[loop].body = block_;
  nest_.loops[loop].condition = condition;
}

std::vector<NodeId> NestBuilder::end_carrying(int32_t loop, std::span<const NodeId> next) {
  const OpenLoop& open = shared_->loops[loop];
  Loop& ended = nest_.loops[loop];
  LT_ASSERT(next.size() == ended.carried.size(), "a loop must give a next value for each one it carries");
  block_ = open.outer;
  if (open.inlined) return {next.begin(), next.end()};
  nest_.blocks[block_].items.push_back({Item::kLoop, loop});
  std::vector<NodeId> results;
  for (size_t slot = 0; slot < next.size(); ++slot) {
    const ElementType type = ended.carried[slot].type;
    LT_ASSERT(node(next[slot]).type == type, "a carried value changes its type");
    ended.carried[slot].next = next[slot];
    results.push_back(
        place({.kind = NodeKind::kResult, .type = type, .loop = loop, .slot = static_cast<int32_t>(slot)}, block_));
  }
  return results;
}

Affine NestBuilder::index_of(int32_t loop) {
  const Loop& of = nest_.loops[loop];
  LT_ASSERT(of.kind != LoopKind::kWhile, "a while loop has no index");
  if (of.extent == 1) return fixed(0);
  return {0, {{of.index, 1}}};
}

NodeId NestBuilder::carried(int32_t loop, int32_t slot) const { return shared_->loops[loop].carried[slot]; }

}  // namespace lowtide::engine
