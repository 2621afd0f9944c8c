#include <gtest/gtest.h>

#include "nest/builder.h"

namespace lowtide::engine {
namespace {

TEST(NestBuilder, SumsWhatIsKnownOutsideFirst) {
  NestBuilder nest;
  const int32_t in = nest.add_buffer(ElementType::kU32, 12), out = nest.add_buffer(ElementType::kU32, 12);
  const NodeId key = nest.load(in, NestBuilder::fixed(0));
  const int32_t loop = nest.begin_parallel(12);
  const auto add = [&](NodeId a, NodeId b) { return nest.operation(Opcode::kAdd, ElementType::kU32, {a, b}); };
  const NodeId sum = add(add(nest.load(in, nest.index_of(loop)), key), nest.integer(ElementType::kU32, 3));
  nest.store(out, nest.index_of(loop), sum);
  nest.end_parallel(loop);
  EXPECT_EQ(to_text(nest.take()), R"(buffer b0 u32[12] read
buffer b1 u32[12] written
%0 = u32 b0[0]
%1 = u32 add(%0, u32:0x3)
parallel i0 < 12
  %2 = u32 b0[i0]
  %3 = u32 add(%2, %1)
  b1[i0] = %3
)");
}

TEST(NestBuilder, DropsOperationsThatChangeNothing) {
  NestBuilder nest;
  const int32_t in = nest.add_buffer(ElementType::kBF16, 12);
  const NodeId x = nest.load(in, NestBuilder::fixed(3));
  EXPECT_EQ(nest.convert(nest.convert(x, ElementType::kF32), ElementType::kBF16), x);
  EXPECT_NE(nest.convert(nest.convert(x, ElementType::kF16), ElementType::kBF16), x);
  const auto apply = [&](Opcode opcode, double value) {
    return nest.operation(opcode, ElementType::kBF16, {x, nest.number(ElementType::kBF16, value)});
  };
  EXPECT_EQ(apply(Opcode::kMultiply, 1), x);
  EXPECT_EQ(apply(Opcode::kAdd, -0.0), x);
  EXPECT_NE(apply(Opcode::kAdd, 0.0), x);  // -0 + 0 is 0
  EXPECT_EQ(apply(Opcode::kSubtract, 0.0), x);
  EXPECT_NE(apply(Opcode::kMultiply, 0), x);
}

TEST(NestBuilder, FoldsByTheDefinitionItIsGiven) {
  const auto fold = [](const Node& operation, std::span<const Node* const> operands) -> std::optional<ElementBits> {
    if (operation.opcode != Opcode::kNegate) return {};
    return ElementBits{operands[0]->bits[0] ^ 0x80000000u, 0};
  };
  NestBuilder nest(fold);
  const NodeId one = nest.number(ElementType::kF32, 1);
  EXPECT_EQ(nest.operation(Opcode::kNegate, ElementType::kF32, {one}), nest.number(ElementType::kF32, -1));
  EXPECT_FALSE(nest.is_constant(nest.operation(Opcode::kSine, ElementType::kF32, {one})));
}

}  // namespace
}  // namespace lowtide::engine
