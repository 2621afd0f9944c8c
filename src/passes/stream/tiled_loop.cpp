#include <algorithm>

#include "passes/stream/loop_walk.h"
#include "passes/stream/slice_writer.h"

namespace lowtide::engine {
namespace {

class LoopTiler {
 public:
  LoopTiler(Module& module, const Instruction& loop, const LoopWalk& walk, int64_t size)
      : module_(module), loop_(loop), walk_(walk), size_(size), names_(*loop.called[1]) {}

  TiledLoop make() {
    state_ = tiled_state(loop_.shape, walk_, size_);
    return {make_condition(), make_body()};
  }

  static Shape tiled_state(const Shape& whole, const LoopWalk& walk, int64_t size) {
    Shape state = Shape::tuple({});
    for (size_t k = 0; k < walk.leaves.size(); ++k) {
      Shape leaf = Shape::array(whole.elements[k].type, whole.elements[k].dims);
      if (walk.leaves[k] == kSummed) leaf.type = type_of_sums(leaf.type);
      if (walk.leaves[k] >= 0) leaf.dims[walk.leaves[k]] = size;
      state.elements.push_back(leaf);
    }
    state.elements.push_back(Shape::scalar(ElementType::kS32));
    return state;
  }

 private:
  Computation* make_condition() {
    const Computation& old = *loop_.called[0];
    Computation& c = *module_.add_computation(module_.unused_computation_name(old.name));
    made_.clear();
    for (const auto& i : old.instructions()) {
      auto copy = copy_of(*i);
      copy->name = i->name;
      for (Instruction*& operand : copy->operands) operand = made_.at(operand);
      if (copy->opcode == Opcode::kParameter) copy->shape = state_;
      if (i->opcode == Opcode::kGetTupleElement) copy->shape = state_.elements[index_of(*i)];
      made_[i.get()] = c.append(std::move(copy));
    }
    c.root = made_.at(old.root);
    return &c;
  }

  static size_t index_of(const Instruction& element) {
    return static_cast<size_t>(element.as<TupleIndexAttributes>().index);
  }

  Computation* make_body() {
    const Computation& old = *loop_.called[1];
    Computation& c = *module_.add_computation(module_.unused_computation_name(old.name));
    into_.emplace(c, names_, "stream");
    made_.clear();
    Instruction* parameter = old.parameters()[0];
    made_[parameter] = into_->append(Opcode::kParameter, state_, {}, ParameterAttributes{0});
    const auto last = static_cast<int64_t>(walk_.leaves.size());
    at_ = into_->element(*made_.at(parameter), last);
    for (const auto& i : old.instructions()) {
      if (i.get() != parameter && i.get() != old.root) made_[i.get()] = make(*i);
    }
    std::vector<Instruction*> next;
    for (size_t k = 0; k < walk_.leaves.size(); ++k) {
      Instruction* leaf = old.root->operands[k];
      next.push_back(walk_.leaves[k] >= 0 ? sliced(*leaf, walk_.leaves[k]) : made_.at(leaf));
      if (walk_.leaves[k] == kSummed) next.back() = into_->convert(next.back(), state_.elements[k].type);
    }
    next.push_back(at_);
    c.root = into_->append(Opcode::kTuple, state_, next);
    return &c;
  }

  Instruction* make(const Instruction& i) {
    if (i.opcode == Opcode::kWhile) return make_loop(i);
    auto copy = copy_of(i);
    // Initial values of inner loops are created together with these.
    if (i.opcode == Opcode::kTuple || i.opcode == Opcode::kOptBarrier) return nullptr;
    if (i.opcode == Opcode::kGetTupleElement && i.operand(0).opcode == Opcode::kOptBarrier) {
      return made_.at(i.operand(0).operand(0).operands[index_of(i)]);
    }
    if (i.opcode == Opcode::kGetTupleElement) {
      copy->operands = {made_.at(&i.operand(0))};
      copy->shape = copy->operands[0]->shape.elements[index_of(i)];
      return into_->append(std::move(copy));
    }
    const int64_t state = walk_.arrays.at(&i);
    for (size_t k = 0; k < i.operands.size(); ++k) copy->operands[k] = operand_of(i, k, state);
    if (state >= 0) {
      copy->shape = slices_shape(i.shape, state, size_);
      adapt_to_slice(i, state, size_, copy->attributes);
      const Appender here = into_->appender();
      count_operand_from(i, state, size_, *copy, at_, here);
      return count_result_from(i, state, into_->append(std::move(copy)), at_, here);
    } else if (state == kSummed) {
      const ElementType type = type_of_sums(i.shape.type);
      if (i.opcode == Opcode::kConvert && copy->operands[0]->shape.type == type) return copy->operands[0];
      widen(i, *copy);
    }
    if (state == kSummed && is_in_place(i)) {
      // Keeps what earlier tiles have added there.
      const Shape& slot = i.operand(1).shape;
      std::vector<Instruction*> operands{copy->operands[0]};
      operands.insert(operands.end(), copy->operands.begin() + 2, copy->operands.end());
      Instruction* before = into_->append(Opcode::kDynamicSlice, Shape::array(type_of_sums(slot.type), slot.dims),
                                          operands, DynamicSliceAttributes{slot.dims});
      copy->operands[1] = into_->append(Opcode::kAdd, before->shape, {before, copy->operands[1]});
    }
    return into_->append(std::move(copy));
  }

  /// Gives parts of sums the precision of the sums.
  void widen(const Instruction& i, Instruction& copy) {
    copy.shape = Shape::array(type_of_sums(i.shape.type), i.shape.dims);
    const bool precise = copy.shape.type == i.shape.type;
    if (precise || is_product(i)) return;
    for (Instruction*& operand : copy.operands) {
      if (is_floating(operand->shape.type)) operand = into_->convert(operand, copy.shape.type);
    }
    if (i.opcode == Opcode::kReduce) copy.called = {add_addition(module_, copy.shape.type, "stream_sum")};
  }

  /// Does it write slots of a sum that the tiles share?
  bool is_in_place(const Instruction& i) const {
    if (i.opcode != Opcode::kDynamicUpdateSlice) return false;
    const std::vector<Instruction*>& next = loop_.called[1]->root->operands;
    for (size_t k = 0; k < next.size(); ++k) {
      if (next[k] == &i && k < walk_.in_place.size() && walk_.in_place[k]) return true;
    }
    return false;
  }

  Instruction* operand_of(const Instruction& i, size_t k, int64_t state) {
    int64_t j = kWhole;
    if (state >= 0) {
      return operand_in_step(i, k, state, j) == InStep::kYes ? sliced(*i.operands[k], j) : made_.at(i.operands[k]);
    }
    if (state == kSummed) {
      for (size_t n = 0; n < i.operands.size(); ++n) {
        const int64_t d = walk_.arrays.at(i.operands[n]);
        if (d < 0) continue;
        j = folded_along(i, n, d)->dimensions[k];
        return j == kWhole ? made_.at(i.operands[k]) : sliced(*i.operands[k], j);
      }
    }
    return made_.at(i.operands[k]);
  }

  /// This tile's slices of an array of the old body.
  Instruction* sliced(const Instruction& array, int64_t d) {
    Instruction* made = made_.at(&array);
    if (walk_.arrays.at(&array) >= 0) return made;
    return into_->slices_from(*made, d, *at_, size_);
  }

  Instruction* make_loop(const Instruction& i) {
    const LoopWalk& inner = *walk_.loops.at(&i);
    const TiledLoop tiled = make_tiled_loop(module_, i, inner, size_);
    std::vector<Instruction*> start;
    for (size_t k = 0; k < inner.leaves.size(); ++k) {
      Instruction* leaf = i.operand(0).operands[k];
      start.push_back(inner.leaves[k] >= 0 ? sliced(*leaf, inner.leaves[k]) : made_.at(leaf));
      if (inner.leaves[k] == kSummed) start.back() = into_->convert(start.back(), type_of_sums(leaf->shape.type));
    }
    start.push_back(at_);
    const Shape state = tiled_state(i.shape, inner, size_);
    Instruction* tuple = into_->append(Opcode::kTuple, state, start);
    auto loop = copy_of(i);
    loop->shape = state;
    loop->operands = {tuple};
    loop->called = {tiled.condition, tiled.body};
    return into_->append(std::move(loop));
  }

  Module& module_;
  const Instruction& loop_;
  const LoopWalk& walk_;
  int64_t size_;
  Names names_;
  Shape state_;
  std::optional<SliceWriter> into_;                            ///< the body
  Instruction* at_ = nullptr;                                  ///< the tile's first slice
  std::unordered_map<const Instruction*, Instruction*> made_;  ///< old -> new
};

}  // namespace

TiledLoop make_tiled_loop(Module& module, const Instruction& loop, const LoopWalk& walk, int64_t size) {
  return LoopTiler(module, loop, walk, size).make();
}

Shape tiled_state(const Shape& whole, const LoopWalk& walk, int64_t size) {
  return LoopTiler::tiled_state(whole, walk, size);
}

}  // namespace lowtide::engine
