#include "nest/builder.h"

#include <gtest/gtest.h>

namespace lowtide::engine {
namespace {

TEST(NestBuilder, PutsNodesIntoTheOutermostBlockWhereTheyAreKnown) {
  NestBuilder nest;
  const int32_t in = nest.add_buffer(ElementType::kF32, 12), out = nest.add_buffer(ElementType::kF32, 12);
  const int32_t rows = nest.begin_parallel(3);
  const int32_t columns = nest.begin_parallel(4);
  const NodeId of_row = nest.load(in, nest.index_of(rows));
  const NodeId of_column = nest.load(in, nest.index_of(columns));
  const NodeId twice = nest.operation(Opcode::kAdd, ElementType::kF32, {of_row, of_row});
  EXPECT_EQ(twice, nest.operation(Opcode::kAdd, ElementType::kF32, {of_row, of_row}));
  const NodeId sum = nest.operation(Opcode::kAdd, ElementType::kF32, {twice, of_column});
  nest.store(out, nest.position({nest.index_of(rows), nest.index_of(columns)}, {3, 4}), sum);
  nest.end_parallel(columns);
  nest.end_parallel(rows);
  const Nest made = nest.take();
  EXPECT_EQ(check_nest(made), "");
  EXPECT_EQ(to_text(made), R"(buffer b0 f32[12] read
buffer b1 f32[12] written
parallel i0 < 3
  %0 = f32 b0[i0]
  %1 = f32 add(%0, %0)
  parallel i1 < 4
    %2 = f32 b0[i1]
    %3 = f32 add(%1, %2)
    b1[4 * i0 + i1] = %3
)");
}

TEST(NestBuilder, MakesAReductionOutsideOfTheLoopThatNeedsIt) {
  NestBuilder nest;
  const int32_t in = nest.add_buffer(ElementType::kS32, 12), out = nest.add_buffer(ElementType::kS32, 12);
  const int32_t rows = nest.begin_parallel(3);
  const int32_t outer = nest.current_block();
  const int32_t columns = nest.begin_parallel(4);
  const int32_t inner = nest.current_block();
  nest.enter_block(outer);
  const NodeId zero = nest.integer(ElementType::kS32, 0);
  auto add = std::make_shared<Function>();
  add->nodes = {{.kind = NodeKind::kArgument, .type = ElementType::kS32},
                {.kind = NodeKind::kArgument, .type = ElementType::kS32, .slot = 1},
                {.kind = NodeKind::kOperation, .opcode = Opcode::kAdd, .type = ElementType::kS32, .operands = {0, 1}}};
  add->results = {2};
  add->argument_count = 2;
  const int32_t loop = nest.begin_reduce(4, std::span(&zero, 1), add, std::span(&zero, 1));
  const Affine at = nest.position({nest.index_of(rows), nest.index_of(loop)}, {3, 4});
  const NodeId next = nest.operation(Opcode::kAdd, ElementType::kS32, {nest.carried(loop, 0), nest.load(in, at)});
  const std::vector<NodeId> sums = nest.end_carrying(loop, std::span(&next, 1));
  nest.enter_block(inner);
  nest.store(out, nest.position({nest.index_of(rows), nest.index_of(columns)}, {3, 4}), sums[0]);
  nest.end_parallel(columns);
  nest.end_parallel(rows);
  const Nest made = nest.take();
  EXPECT_EQ(check_nest(made), "");
  EXPECT_EQ(to_text(made), R"(buffer b0 s32[12] read
buffer b1 s32[12] written
parallel i0 < 3
  reduce i1 < 4 carrying s32 c1.0 = s32:0x0 neutral s32:0x0
    combine
      %0 = s32 add(a0, a1)
      give %0
    %0 = s32 b0[4 * i0 + i1]
    %1 = s32 add(c1.0, %0)
    next %1
  parallel i2 < 4
    b1[4 * i0 + i2] = r1.0
)");
}

// Every sum that index arithmetic makes is the number that plain division makes.
class IndexArithmetic : public ::testing::Test {
 protected:
  int64_t value(NodeId id) const {
    const Node& node = nest_.node(id);
    if (node.kind == NodeKind::kLoopIndex) return index_[node.loop];
    if (node.kind == NodeKind::kConstant) return static_cast<int64_t>(node.bits[0]);
    if (node.kind == NodeKind::kAffine) return value(node.affine);
    if (node.opcode == Opcode::kDivide) return value(node.operands[0]) / value(node.operands[1]);
    if (node.opcode == Opcode::kClamp) {
      return std::min(std::max(value(node.operands[1]), value(node.operands[0])), value(node.operands[2]));
    }
    ADD_FAILURE() << "an index is made by " << opcode_name(node.opcode);
    return 0;
  }
  int64_t value(const Affine& sum) const {
    int64_t total = sum.constant;
    for (const auto& term : sum.terms) total += term.coefficient * value(term.atom);
    return total;
  }
  /// Calls f for every index of the open loops.
  template <class F>
  void everywhere(F f) {
    index_.assign(nest_.nest().loops.size(), 0);
    const auto step = [&] {
      for (size_t d = index_.size(); d-- > 0;) {
        if (++index_[d] < nest_.nest().loops[d].extent) return true;
        index_[d] = 0;
      }
      return false;
    };
    do f();
    while (step());
  }

  NestBuilder nest_;
  std::vector<int64_t> index_;
};

TEST_F(IndexArithmetic, DividesLikeNumbers) {
  const int32_t a = nest_.begin_parallel(5), b = nest_.begin_parallel(7), c = nest_.begin_parallel(3);
  for (const int64_t x : {1, 2, 6, 21, 24, -1}) {
    for (const int64_t y : {0, 1, 3, 8, -2}) {
      for (const int64_t z : {1, 7}) {
        for (const int64_t constant : {30, 31, 43}) {
          const Affine sum =
              nest_.plus(nest_.plus(nest_.times(nest_.index_of(a), x), nest_.times(nest_.index_of(b), y)),
                         nest_.plus(nest_.times(nest_.index_of(c), z), NestBuilder::fixed(constant)));
          for (const int64_t divisor : {1, 2, 3, 6, 7, 8, 21, 30, 200}) {
            const Affine quotient = nest_.floor_divide(sum, divisor), rest = nest_.remainder(sum, divisor);
            const Affine twice = nest_.floor_divide(quotient, 2), again = nest_.remainder(rest, 2);
            const Affine clamped = nest_.clamp(sum, 31, 40);
            const Bounds of_quotient = nest_.bounds(quotient), of_rest = nest_.bounds(rest);
            EXPECT_GE(of_rest.least, 0);
            EXPECT_LT(of_rest.greatest, divisor);
            everywhere([&] {
              const int64_t number = value(sum);
              ASSERT_EQ(value(quotient), number / divisor);
              ASSERT_EQ(value(rest), number % divisor);
              ASSERT_EQ(value(twice), number / divisor / 2);
              ASSERT_EQ(value(again), number % divisor % 2);
              ASSERT_EQ(value(clamped), std::clamp<int64_t>(number, 31, 40));
              ASSERT_LE(of_quotient.least, number / divisor);
              ASSERT_GE(of_quotient.greatest, number / divisor);
              ASSERT_GE(number % divisor, of_rest.least);
              ASSERT_LE(number % divisor, of_rest.greatest);
            });
          }
        }
      }
    }
  }
}

TEST_F(IndexArithmetic, TakesMixedRadixApart) {
  const int32_t a = nest_.begin_parallel(5), b = nest_.begin_parallel(7), c = nest_.begin_parallel(3);
  const Index index{nest_.index_of(a), nest_.index_of(b), nest_.index_of(c)};
  const Affine position = nest_.position(index, {5, 7, 3});
  EXPECT_EQ(nest_.index_at(position, {5, 7, 3}), index);
  EXPECT_EQ(nest_.index_at(position, {35, 3})[1], index[2]);
  EXPECT_EQ(nest_.index_at(position, {5, 21})[0], index[0]);
  EXPECT_EQ(nest_.floor_divide(position, 21), index[0]);
  // through extents that don't fit, and back
  const Index other = nest_.index_at(position, {3, 7, 5});
  EXPECT_FALSE(other == index);
  EXPECT_EQ(nest_.position(other, {3, 7, 5}), position);
  EXPECT_EQ(nest_.index_at(nest_.position(other, {3, 7, 5}), {5, 7, 3}), index);
  everywhere([&] {
    const int64_t at = value(position);
    ASSERT_EQ(value(other[0]), at / 35);
    ASSERT_EQ(value(other[1]), at / 5 % 7);
    ASSERT_EQ(value(other[2]), at % 5);
  });
}

TEST_F(IndexArithmetic, KnowsIntegersOfAllTypesAsSums) {
  const int32_t a = nest_.begin_parallel(100), b = nest_.begin_parallel(100);
  const auto of_type = [&](int32_t loop, ElementType type) {
    return nest_.convert(nest_.value_of(nest_.index_of(loop)), type);
  };
  const NodeId x = of_type(a, ElementType::kU32), y = of_type(b, ElementType::kU32);
  const NodeId sum = nest_.operation(
      Opcode::kAdd, ElementType::kU32,
      {nest_.operation(Opcode::kMultiply, ElementType::kU32, {x, nest_.integer(ElementType::kU32, 100)}), y});
  const Affine expected = nest_.plus(nest_.times(nest_.index_of(a), 100), nest_.index_of(b));
  EXPECT_EQ(nest_.affine(sum), expected);
  EXPECT_EQ(nest_.known_integer(nest_.operation(Opcode::kShiftRightLogical, ElementType::kU32,
                                                {sum, nest_.integer(ElementType::kU32, 16)})),
            0);
  EXPECT_EQ(nest_.known_integer(nest_.compare(sum, nest_.integer(ElementType::kU32, 10000), {CompareDirection::kLt})),
            1);
  // what may wrap is no sum: u8 holds less
  const NodeId narrow = of_type(a, ElementType::kU8);
  const NodeId wraps =
      nest_.operation(Opcode::kMultiply, ElementType::kU8, {narrow, nest_.integer(ElementType::kU8, 3)});
  EXPECT_EQ(nest_.node(wraps).opcode, Opcode::kMultiply);
}

TEST_F(IndexArithmetic, RemembersWhereItCouldNotTell) {
  const int32_t a = nest_.begin_parallel(10);
  nest_.less(nest_.index_of(a), 10);
  EXPECT_TRUE(nest_.cuts().empty());
  nest_.less(nest_.index_of(a), 4);
  nest_.less(nest_.plus(nest_.times(nest_.index_of(a), -2), NestBuilder::fixed(11)), 1);  // 11 - 2 i < 1: i > 5
  const std::vector<Cut> expected{{a, 4}, {a, 6}};
  EXPECT_EQ(nest_.cuts(), expected);
}

TEST(CheckNest, FindsAUseBeforeTheDefinition) {
  NestBuilder nest;
  const int32_t in = nest.add_buffer(ElementType::kF32, 3), out = nest.add_buffer(ElementType::kF32, 3);
  const int32_t loop = nest.begin_parallel(3);
  const NodeId value = nest.load(in, nest.index_of(loop));
  nest.store(out, nest.index_of(loop), value);
  nest.end_parallel(loop);
  Nest made = nest.take();
  EXPECT_EQ(check_nest(made), "");
  auto& items = made.blocks[made.loops[0].body].items;
  std::swap(items[0], items[1]);
  EXPECT_NE(check_nest(made).find("where it isn't known"), std::string::npos) << check_nest(made);
}

}  // namespace
}  // namespace lowtide::engine
