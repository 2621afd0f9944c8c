/// Tables give the bits that the operations give which they replace, executed and compiled.

#include "ops/tabulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "codegen/kernel.h"
#include "codegen/machine.h"
#include "nest/builder.h"
#include "nest/legalise.h"
#include "ops/execute.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kCount = 1003;  // odd: the last lanes are not full

struct Case {
  ElementType index, made;
  int64_t mask;  // of the index; 0: none
  bool along;    // of the loop's own index
};

/// One element of each output is a long function of one integer.
Nest function_of_bits(const Case& how) {
  NestBuilder nest;
  const int32_t from = nest.add_buffer(how.index, kCount), to = nest.add_buffer(how.made, kCount);
  const int64_t extent = how.along ? 200 : kCount;
  const int32_t loop = nest.begin_parallel(extent);
  NodeId x = how.along ? nest.value_of(nest.index_of(loop)) : nest.load(from, nest.index_of(loop));
  if (how.mask != 0) x = nest.operation(Opcode::kAnd, how.index, {x, nest.integer(how.index, how.mask)});
  NodeId y = nest.convert(x, ElementType::kF32);
  y = nest.operation(Opcode::kMultiply, ElementType::kF32, {y, nest.number(ElementType::kF32, 0.03)});
  y = nest.operation(Opcode::kLogistic, ElementType::kF32, {y});
  y = nest.operation(Opcode::kSine, ElementType::kF32, {y});
  if (how.made == ElementType::kPred) {
    y = nest.compare(y, nest.number(ElementType::kF32, 0.6), {.direction = CompareDirection::kLt});
  } else if (is_integral(how.made)) {
    y = nest.operation(Opcode::kMultiply, ElementType::kF32, {y, nest.number(ElementType::kF32, 100)});
  }
  nest.store(to, nest.index_of(loop), nest.convert(y, how.made));
  nest.end_parallel(loop);
  return legalise(nest.take());
}

bool has_table(const Nest& nest) {
  return std::any_of(nest.nodes.begin(), nest.nodes.end(), [](const Node& n) { return n.kind == NodeKind::kTable; });
}

using Stored = std::vector<std::byte>;

template <class Run>
Stored result_of(const Nest& nest, Run run) {
  Stored from(static_cast<size_t>(kCount * stored_bytes(nest.buffers[0].type)));
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>((i * 2654435761) >> 7);
  Stored to(static_cast<size_t>(kCount * stored_bytes(nest.buffers[1].type)), std::byte{0x55});
  void* buffers[] = {from.data(), to.data()};
  run(buffers);
  return to;
}

Stored compiled(const Nest& nest, Isa isa) {
  const auto kernels = compile_kernels({&nest, 1}, {.isa = isa, .use_cache = false});
  EXPECT_TRUE(kernels.ok()) << kernels.status().message();
  return result_of(nest, [&](void** buffers) {
    const Kernel& kernel = kernels->front();
    for (size_t piece = 0; piece < kernel.pieces.size(); ++piece) {
      kernel.run(buffers, static_cast<int64_t>(piece), 0, kernel.pieces[piece].extent);
    }
  });
}

class Tables : public testing::TestWithParam<Case> {};

TEST_P(Tables, GiveTheBitsOfWhatTheyReplace) {
  const Nest plain = function_of_bits(GetParam());
  const Nest nest = tabulate(plain);
  ASSERT_TRUE(has_table(nest));
  EXPECT_EQ(check_nest(nest), "");
  EXPECT_EQ(check_plain(nest), "");
  const auto execution = [](const Nest& of) {
    return result_of(of, [&](void** buffers) { execute(of, std::span<void* const>(buffers, 2)); });
  };
  const Stored want = execution(plain);
  EXPECT_EQ(execution(nest), want);
  EXPECT_EQ(compiled(nest, Isa::kAvx2), want);
  if (resolve_isa(Isa::kNative).ok() && *resolve_isa(Isa::kNative) == Isa::kAvx512) {
    EXPECT_EQ(compiled(nest, Isa::kAvx512), want);
    EXPECT_EQ(compiled(plain, Isa::kAvx512), want);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Tables,
                         testing::Values(Case{ElementType::kU32, ElementType::kBF16, 0x7f, false},
                                         Case{ElementType::kU8, ElementType::kBF16, 0, false},
                                         Case{ElementType::kU8, ElementType::kF32, 0, false},
                                         Case{ElementType::kS8, ElementType::kF32, 0, false},
                                         Case{ElementType::kS8, ElementType::kPred, 0, false},
                                         Case{ElementType::kS64, ElementType::kU8, 0x1f, false},
                                         Case{ElementType::kU16, ElementType::kS32, 0x1f, false},
                                         Case{ElementType::kU32, ElementType::kF32, 0x0f, false},
                                         Case{ElementType::kS64, ElementType::kF32, 0, true},
                                         Case{ElementType::kS64, ElementType::kBF16, 0, true}));

TEST(Tabulate, LeavesWhatVariesWithMoreOrCostsLess) {
  EXPECT_FALSE(has_table(tabulate(function_of_bits({ElementType::kU32, ElementType::kF32, 0x1ff, false}))));
  NestBuilder nest;
  const int32_t from = nest.add_buffer(ElementType::kU8, kCount), to = nest.add_buffer(ElementType::kF32, kCount);
  const int32_t loop = nest.begin_parallel(kCount);
  const NodeId x = nest.convert(nest.load(from, nest.index_of(loop)), ElementType::kF32);
  nest.store(to, nest.index_of(loop), nest.operation(Opcode::kMultiply, ElementType::kF32, {x, x}));
  nest.end_parallel(loop);
  EXPECT_FALSE(has_table(tabulate(legalise(nest.take()))));
}

}  // namespace
}  // namespace lowtide::engine
