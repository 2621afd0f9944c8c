/// What adjacent lanes have in common is computed once for them, and gives what the definition gives.

#include "codegen/equal_lanes.h"

#include <gtest/gtest.h>

#include "codegen/kernel.h"
#include "codegen/kernel_plan.h"
#include "codegen/machine.h"
#include "nest/builder.h"
#include "nest/legalise.h"
#include "ops/execute.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kRows = 3, kColumns = 1003;  // the last lanes are not full
constexpr size_t kCount = kRows * kColumns;

struct Kind {
  int64_t divisor = 1, row_step = 0, first = 0;
  int32_t group = 1;
};

/// to[r][c] = f(floor((row_step r + c + first) / divisor)) ^ c, where f takes several steps and some of them choose.
Nest numbers(const Kind& kind) {
  NestBuilder nest;
  const int32_t to = nest.add_buffer(ElementType::kU32, kCount);
  const auto u32 = [&](int64_t value) { return nest.integer(ElementType::kU32, value); };
  const auto make = [&](Opcode opcode, NodeId a, NodeId b) {
    return nest.operation(opcode, ElementType::kU32, {a, b});
  };
  const int32_t rows = nest.begin_parallel(kRows), columns = nest.begin_parallel(kColumns);
  const Affine column = nest.index_of(columns);
  const Affine at = nest.plus(nest.times(nest.index_of(rows), kind.row_step), nest.plus(column, {kind.first, {}}));
  const Affine quotient = nest.floor_divide(at, kind.divisor);
  NodeId x = nest.convert(nest.value_of(quotient), ElementType::kU32);
  for (const int64_t factor : {3, 5, 7, 9}) {
    x = make(Opcode::kXor, make(Opcode::kMultiply, x, u32(factor)), make(Opcode::kShiftRightLogical, x, u32(9)));
  }
  x = nest.select(nest.less(quotient, 77), x, make(Opcode::kAdd, x, u32(1)));
  x = make(Opcode::kXor, x, nest.convert(nest.value_of(column), ElementType::kU32));
  nest.store(to, nest.plus(nest.times(nest.index_of(rows), kColumns), column), x);
  nest.end_parallel(columns);
  nest.end_parallel(rows);
  return legalise(nest.take());
}

constexpr int32_t kLaneLoop = 1;
const Kind kKinds[] = {{2, 1004, 0, 2}, {4, 1004, 8, 4}, {4, 1006, 0, 2}, {12, 0, 0, 4},
                       {4, 1003, 0, 1}, {4, 1004, 1, 1}, {3, 0, 0, 1},    {16, 1008, 32, 8}};

TEST(EqualLanes, AreGroupsThatDivideEveryStep) {
  for (const Kind& kind : kKinds) {
    const Nest nest = numbers(kind);
    const EqualLanes equal = equal_lanes(nest, kLaneLoop, varying_nodes(nest, kLaneLoop));
    EXPECT_EQ(equal.group, kind.group) << kind.divisor << " " << kind.row_step << " " << kind.first;
    EXPECT_EQ(equal.nodes.empty(), kind.group == 1);
  }
}

TEST(EqualLanes, GiveWhatTheDefinitionGives) {
  for (const Kind& kind : kKinds) {
    const Nest nest = numbers(kind);
    std::vector<uint32_t> want(kCount);
    void* defined[] = {want.data()};
    execute(nest, std::span<void* const>(defined, 1));
    for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
      if (isa == Isa::kAvx512 && *resolve_isa(Isa::kNative) != Isa::kAvx512) continue;
      const auto kernels = compile_kernels({&nest, 1}, {.isa = isa, .use_cache = false});
      ASSERT_TRUE(kernels.ok()) << kernels.status().message();
      std::vector<uint32_t> got(kCount);
      void* buffers[] = {got.data()};
      kernels->front().run(buffers, 0, 0, kernels->front().pieces[0].extent);
      EXPECT_EQ(got, want) << kind.divisor << " " << kind.row_step << " " << kind.first;
    }
  }
}

}  // namespace
}  // namespace lowtide::engine
