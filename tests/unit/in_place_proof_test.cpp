// Proofs that results may lie over operands, against all orders in which a kernel's iterations may run.
#include "schedule/check/in_place_proof.h"

#include <gtest/gtest.h>

#include <random>

#include "nest/builder.h"
#include "region_test_support.h"

namespace lowtide::engine {
namespace {

/// One execution of a load or store.
struct Event {
  bool stores = false, idle = false;
  bool any_order = false;  ///< of a load: anywhere in its piece
  int32_t buffer = kNoId;
  int64_t element = 0;
  int32_t piece = kNoId;                             ///< the loop in block 0 around it
  std::vector<std::pair<int32_t, int64_t>> indices;  ///< the loops around it, and where they are
  size_t number = 0;                                 ///< in program order
};

/// Every execution, found by running through the loops of a nest without control flow.
class AllEvents {
 public:
  explicit AllEvents(const Nest& nest) : nest_(nest), values_(nest.nodes.size(), 0) {}
  std::vector<Event> run() {
    block(0);
    return std::move(events_);
  }

 private:
  int64_t at(const Affine& element) const {
    int64_t sum = element.constant;
    for (const auto& term : element.terms) sum += term.coefficient * values_[term.atom];
    return sum;
  }
  void add(bool stores, int32_t buffer, const Affine& element, bool idle) {
    events_.push_back({stores, idle, false, buffer, at(element), piece_, indices_, events_.size()});
  }
  /// Loads of block 0 that a loop's stores need are done again in each of its calls.
  void load_ahead(int32_t body, bool any_order) {
    for (const Item& item : nest_.blocks[body].items) {
      if (item.kind == Item::kLoop) load_ahead(nest_.loops[item.id].body, any_order);
      if (item.kind != Item::kStore) continue;
      const Node* value = &nest_.nodes[nest_.stores[item.id].value];
      if (value->kind == NodeKind::kOperation) value = &nest_.nodes[value->operands[0]];
      if (value->block != 0) continue;
      add(false, value->buffer, value->affine, false);
      events_.back().any_order = any_order;
    }
  }
  void block(int32_t id) {
    for (const Item& item : nest_.blocks[id].items) {
      if (item.kind == Item::kNode) {
        const Node& node = nest_.nodes[item.id];
        if (node.kind == NodeKind::kLoad && id != 0) add(false, node.buffer, node.affine, false);
      } else if (item.kind == Item::kStore) {
        const Store& store = nest_.stores[item.id];
        const Node& value = nest_.nodes[store.value];
        add(true, store.buffer, store.index,
            value.kind == NodeKind::kLoad && value.buffer == 0 && at(value.affine) == at(store.index));
      } else {
        const Loop& loop = nest_.loops[item.id];
        if (id == 0) {
          piece_ = item.id;
          load_ahead(loop.body, loop.extent > 1);
        }
        for (int64_t i = 0; i < loop.extent; ++i) {
          values_[loop.index] = i;
          indices_.emplace_back(item.id, i);
          block(loop.body);
          indices_.pop_back();
        }
        if (id == 0) piece_ = kNoId;
      }
    }
  }

  const Nest& nest_;
  std::vector<int64_t> values_;
  std::vector<std::pair<int32_t, int64_t>> indices_;
  int32_t piece_ = kNoId;
  std::vector<Event> events_;
};

/// May a store of buffer 1 come before a load of buffer 0 from the same place? Iterations run in any order.
bool may_be_overwritten(const Nest& nest) {
  const std::vector<Event> events = AllEvents(nest).run();
  for (const Event& load : events) {
    if (load.stores || load.buffer != 0) continue;
    for (const Event& store : events) {
      if (!store.stores || store.idle || store.buffer != 1 || store.element != load.element) continue;
      bool other_iteration = false;
      for (size_t k = 0; k < std::min(load.indices.size(), store.indices.size()); ++k) {
        if (load.indices[k].first != store.indices[k].first) break;
        other_iteration = other_iteration || load.indices[k] != store.indices[k];
      }
      const bool any_order = load.piece == store.piece && (load.any_order || other_iteration);
      if (any_order || store.number < load.number) return true;
    }
  }
  return false;
}

/// Buffer 1 over buffer 0, `elements` of both.
std::optional<int32_t> proof(const Nest& nest, int64_t shift = 0) {
  const int64_t bytes = 4 * nest.buffers[0].elements;
  const Touches touches(nest);
  return operand_overwritten({touches, {{0, shift, shift + bytes}, {0, 0, bytes}}, 1});
}

class RandomNest {
 public:
  explicit RandomNest(unsigned seed) : chance_(seed) {}
  Nest make() {
    constexpr int64_t kElements = 64;
    nest_.add_buffer(ElementType::kF32, kElements);
    nest_.add_buffer(ElementType::kF32, kElements);
    for (int64_t piece = within(1, 3); piece > 0; --piece) {
      const int64_t depth = within(1, 3);
      std::vector<int32_t> loops;
      for (int64_t d = 0; d < depth; ++d) loops.push_back(nest_.begin_parallel(within(1, 4)));
      const int64_t pairs = within(1, 2);
      const Affine store = element(loops);
      for (int64_t k = 0; k < pairs; ++k) {
        // Often where it is stored, or a little beside.
        const Affine load = within(0, 2) == 0 ? element(loops) : nest_.plus(store, NestBuilder::fixed(within(0, 2)));
        const NodeId value = nest_.load(0, within(0, 5) == 0 ? NestBuilder::fixed(within(0, 63)) : load);
        const bool copies = within(0, 3) == 0;
        nest_.store(1, store, copies ? value : nest_.operation(Opcode::kNegate, ElementType::kF32, {value}));
      }
      for (; !loops.empty(); loops.pop_back()) nest_.end_parallel(loops.back());
    }
    return nest_.take();
  }

 private:
  int64_t within(int64_t least, int64_t greatest) {
    return std::uniform_int_distribution<int64_t>(least, greatest)(chance_);
  }
  Affine element(const std::vector<int32_t>& loops) {
    static constexpr int64_t kStrides[] = {1, 2, 3, 4, 8, 12};
    Affine sum = NestBuilder::fixed(within(0, 12));
    for (const int32_t loop : loops) {
      const int64_t stride = within(0, 8) == 0 ? 0 : kStrides[within(0, 5)];
      sum = nest_.plus(sum, nest_.times(nest_.index_of(loop), stride));
    }
    return sum;
  }

  std::mt19937 chance_;
  NestBuilder nest_;
};

TEST(InPlaceProof, HoldsInEveryOrder) {
  int proved = 0, harmless = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    const Nest nest = RandomNest(seed).make();
    const bool wrong = may_be_overwritten(nest), refused = proof(nest).has_value();
    EXPECT_TRUE(refused || !wrong) << seed << "\n" << to_text(nest);
    harmless += !wrong;
    proved += !refused;
  }
  EXPECT_GT(proved, 300);
  EXPECT_GE(proved, harmless * 9 / 10) << "it refuses too much to be of use";
}

Nest copies(int64_t stored_at, bool negates = false) {
  NestBuilder nest;
  nest.add_buffer(ElementType::kF32, 100);
  nest.add_buffer(ElementType::kF32, 100);
  const int32_t loop = nest.begin_parallel(50);
  const NodeId value = nest.load(0, nest.index_of(loop));
  nest.store(1, nest.plus(nest.index_of(loop), NestBuilder::fixed(stored_at)),
             negates ? nest.operation(Opcode::kNegate, ElementType::kF32, {value}) : value);
  nest.end_parallel(loop);
  return nest.take();
}

TEST(InPlaceProof, ShiftedStoresAreRefused) {
  EXPECT_FALSE(proof(copies(0, true)));
  EXPECT_TRUE(proof(copies(1, true)));
  EXPECT_TRUE(proof(copies(49, true)));
  EXPECT_FALSE(proof(copies(50, true)));  // after all that is read
}

TEST(InPlaceProof, OperandsMayLieInAPartOfTheResult) {
  // Where the result has them, and nowhere else.
  EXPECT_FALSE(proof(copies(7), 7 * 4));
  EXPECT_TRUE(proof(copies(7), 6 * 4));
  EXPECT_TRUE(proof(copies(7), 7 * 4 + 1));  // elements across each other
}

TEST(InPlaceProof, WhatIsReadForEachCallMustStay) {
  const auto sums = [](int64_t element, int64_t extent) {
    NestBuilder nest;
    nest.add_buffer(ElementType::kF32, 100);
    nest.add_buffer(ElementType::kF32, 100);
    const NodeId first = nest.load(0, NestBuilder::fixed(element));
    const int32_t loop = nest.begin_parallel(extent);
    const NodeId value = nest.load(0, nest.index_of(loop));
    nest.store(1, nest.index_of(loop), nest.operation(Opcode::kAdd, ElementType::kF32, {value, first}));
    nest.end_parallel(loop);
    return nest.take();
  };
  EXPECT_TRUE(proof(sums(3, 50)));
  EXPECT_FALSE(proof(sums(50, 50)));
  EXPECT_FALSE(proof(sums(0, 1)));  // one call, which reads it first
}

/// The last 50 elements are negated, and their sum fills the first 50, in this order of the two loops that store.
Nest sum_of_the_rest(bool sum_first) {
  NestBuilder nest;
  nest.add_buffer(ElementType::kF32, 100);
  nest.add_buffer(ElementType::kF32, 100);
  const NodeId zero = nest.number(ElementType::kF32, 0);
  auto add = std::make_shared<Function>();
  add->nodes = {{.kind = NodeKind::kArgument, .type = ElementType::kF32},
                {.kind = NodeKind::kArgument, .type = ElementType::kF32, .slot = 1},
                {.kind = NodeKind::kOperation, .opcode = Opcode::kAdd, .type = ElementType::kF32, .operands = {0, 1}}};
  add->results = {2};
  add->argument_count = 2;
  const auto last = [&](int32_t loop) { return nest.plus(nest.index_of(loop), NestBuilder::fixed(50)); };
  const int32_t fold = nest.begin_reduce(50, std::span(&zero, 1), add, std::span(&zero, 1));
  const NodeId next =
      nest.operation(Opcode::kAdd, ElementType::kF32, {nest.carried(fold, 0), nest.load(0, last(fold))});
  const NodeId sum = nest.end_carrying(fold, std::span(&next, 1))[0];
  for (const bool sums : {sum_first, !sum_first}) {
    const int32_t loop = nest.begin_parallel(50);
    if (sums) {
      nest.store(1, nest.index_of(loop), sum);
    } else {
      const NodeId x = nest.load(0, last(loop));
      nest.store(1, last(loop), nest.operation(Opcode::kNegate, ElementType::kF32, {x}));
    }
    nest.end_parallel(loop);
  }
  return nest.take();
}

TEST(InPlaceProof, SumsAreReadOnlyForThoseThatNeedThem) {
  EXPECT_FALSE(proof(sum_of_the_rest(true)));
  EXPECT_TRUE(proof(sum_of_the_rest(false)));
}

TEST(InPlaceProof, LeavesOutWhatIsThere) {
  const Nest same = copies(0), shifted = copies(1);
  const Touches one(same), other(shifted);
  const std::vector<BytePlace> places{{0, 0, 400}, {0, 0, 400}}, apart{{0, 400, 800}, {0, 0, 400}};
  EXPECT_TRUE(is_idle({one, places, 1}, 0));
  EXPECT_FALSE(is_idle({other, places, 1}, 0));
  EXPECT_FALSE(is_idle({one, apart, 1}, 0));
}

}  // namespace
}  // namespace lowtide::engine
