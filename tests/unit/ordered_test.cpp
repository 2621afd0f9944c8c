/// Sequential loops taken apart give what execution in order gives.

#include "codegen/ordered.h"

#include <gtest/gtest.h>

#include "codegen/kernel.h"
#include "codegen/kernel_plan.h"
#include "codegen/machine.h"
#include "nest/builder.h"
#include "nest/legalise.h"
#include "ops/execute.h"

namespace lowtide::engine {
namespace {

constexpr int64_t kCount = 1003, kBins = 16;  // the last lanes are not full, and lanes meet in bins

/// bins[f(x[i])] = bins[f(x[i])] * 3 + i, where f(x[i]) is in bounds; `chained`: f reads the bins, too.
Nest scatter(bool chained) {
  NestBuilder nest;
  const int32_t from = nest.add_buffer(ElementType::kU32, kCount), to = nest.add_buffer(ElementType::kU32, kBins);
  const auto u32 = [&](int64_t value) { return nest.integer(ElementType::kU32, value); };
  const auto make = [&](Opcode opcode, NodeId a, NodeId b) {
    return nest.operation(opcode, ElementType::kU32, {a, b});
  };
  const int32_t loop = nest.begin_sequential(kCount, {});
  NodeId x = nest.load(from, nest.index_of(loop));
  if (chained) x = make(Opcode::kXor, x, nest.load(to, {3, {}}, true));
  for (const int64_t factor : {3, 5, 7, 9}) {
    x = make(Opcode::kXor, make(Opcode::kMultiply, x, u32(factor)), make(Opcode::kShiftRightLogical, x, u32(9)));
  }
  x = nest.convert(make(Opcode::kAnd, x, u32(31)), ElementType::kS64);
  const NodeId guard = nest.less(nest.affine(x), kBins);
  const Affine bin = nest.clamp(nest.affine(x), 0, kBins - 1);
  const NodeId number = nest.convert(nest.value_of(nest.index_of(loop)), ElementType::kU32);
  const NodeId old = make(Opcode::kMultiply, nest.load(to, bin, true), u32(3));
  nest.store(to, bin, make(Opcode::kAdd, old, number), guard);
  nest.end_carrying(loop, {});
  return legalise(nest.take());
}

template <class Run>
std::vector<uint32_t> bins_of(Run run) {
  std::vector<uint32_t> x(kCount), bins(kBins, 1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint32_t>(i * 2654435761);
  void* buffers[] = {x.data(), bins.data()};
  run(buffers);
  return bins;
}

TEST(OrderedLoops, RunAheadOnlyWhatNothingOrders) {
  const OrderedLoop parts = take_apart(scatter(false), 0);
  EXPECT_TRUE(parts.splits());
  EXPECT_GT(parts.ahead.size(), 2 * parts.behind.size());
  EXPECT_GT(plan_kernel(scatter(false), false).lanes[0], 0);
  EXPECT_EQ(plan_kernel(scatter(true), false).lanes[0], 0);
}

TEST(OrderedLoops, GiveWhatTheOrderGives) {
  for (const bool chained : {false, true}) {
    const Nest nest = scatter(chained);
    const auto want = bins_of([&](void** buffers) { execute(nest, std::span<void* const>(buffers, 2)); });
    for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
      if (isa == Isa::kAvx512 && *resolve_isa(Isa::kNative) != Isa::kAvx512) continue;
      const auto kernels = compile_kernels({&nest, 1}, {.isa = isa, .use_cache = false});
      ASSERT_TRUE(kernels.ok()) << kernels.status().message();
      const Kernel& kernel = kernels->front();
      EXPECT_EQ(bins_of([&](void** buffers) {
                  for (size_t piece = 0; piece < kernel.pieces.size(); ++piece) {
                    kernel.run(buffers, static_cast<int64_t>(piece), 0, kernel.pieces[piece].extent);
                  }
                }),
                want);
    }
  }
}

}  // namespace
}  // namespace lowtide::engine
