/// Nests divided among the threads of a grid: who takes what, and that it comes to what the nest means.

#include "codegen/grid_plan.h"

#include <gtest/gtest.h>

#include <numeric>

#include "codegen/grid_kernel.h"
#include "nest/builder.h"
#include "nest/legalise.h"
#include "ops/execute.h"
#include "random_nest.h"
#include "support/grid_run.h"
#include "support/plain_set.h"

namespace lowtide::engine {
namespace {

constexpr GridMachine kMachine{.block_threads = 256, .tile_columns = 32, .thread_elements = 4, .most_blocks = 1000};
constexpr ElementType kF32 = ElementType::kF32;

/// to[i, j] = from[i, j], or from[j, i].
Nest copy(int64_t rows, int64_t columns, bool transposes) {
  NestBuilder nest;
  const int32_t from = nest.add_buffer(kF32, rows * columns), to = nest.add_buffer(kF32, rows * columns);
  const int32_t outer = nest.begin_parallel(rows), inner = nest.begin_parallel(columns);
  const Affine i = nest.index_of(outer), j = nest.index_of(inner);
  const Affine there = nest.plus(nest.times(i, columns), j), turned = nest.plus(nest.times(j, rows), i);
  nest.store(to, there, nest.load(from, transposes ? turned : there));
  nest.end_parallel(inner);
  nest.end_parallel(outer);
  return nest.take();
}

/// x[i + 1] = x[i] + 1, in a loop that claims to be what `kind` says.
Nest chain(int64_t count, LoopKind kind) {
  NestBuilder nest;
  const int32_t x = nest.add_buffer(ElementType::kS32, count + 1);
  const int32_t loop = kind == LoopKind::kParallel ? nest.begin_parallel(count) : nest.begin_sequential(count, {});
  const Affine i = nest.index_of(loop);
  const NodeId next =
      nest.operation(Opcode::kAdd, ElementType::kS32, {nest.load(x, i, true), nest.integer(ElementType::kS32, 1)});
  nest.store(x, nest.plus(i, {1, {}}), next);
  kind == LoopKind::kParallel ? nest.end_parallel(loop) : (void)nest.end_carrying(loop, {});
  return nest.take();
}

TEST(GridPlan, SharesOuterParallelLoopsInOneRow) {
  const GridPlan plan = plan_grid(copy(100, 300, false), kMachine);
  ASSERT_EQ(plan.launches.size(), 1U);
  const GridLaunch& launch = plan.launches[0];
  EXPECT_EQ(launch.shared.size(), 2U);
  EXPECT_TRUE(launch.rows.empty());
  EXPECT_EQ(launch.columns, launch.shared);
  EXPECT_EQ(launch.threads(), 256);
  EXPECT_EQ(launch.iterations, 30000);
  EXPECT_EQ(launch.tiles, 118);
  EXPECT_EQ(launch.blocks, 30);
}

TEST(GridPlan, CutsTilesWhereLoadsGoAcross) {
  const GridLaunch launch = plan_grid(copy(100, 300, true), kMachine).launches[0];
  EXPECT_EQ(launch.rows, std::vector{launch.shared[0]});
  EXPECT_EQ(launch.columns, std::vector{launch.shared[1]});
  EXPECT_EQ(launch.tile_rows, 8);
  EXPECT_EQ(launch.tile_columns, 32);
  EXPECT_EQ(launch.tiles, 13 * 10);
}

TEST(GridPlan, FollowsTheMachine) {
  const GridLaunch launch =
      plan_grid(copy(100, 300, true),
                {.block_threads = 64, .tile_columns = 16, .thread_elements = 1, .most_blocks = 50})
          .launches[0];
  EXPECT_EQ(launch.tile_rows, 4);
  EXPECT_EQ(launch.tile_columns, 16);
  EXPECT_EQ(launch.blocks, 50);
  EXPECT_EQ(plan_grid(copy(2, 5, false), kMachine).launches[0].threads(), 32) << "a short one takes few threads";
}

TEST(GridPlan, LeavesOrderedLoopsToOneThread) {
  const GridLaunch launch = plan_grid(chain(50, LoopKind::kSequential), kMachine).launches[0];
  EXPECT_TRUE(launch.shared.empty());
  EXPECT_EQ(launch.blocks * launch.threads(), 1);
}

/// Rows of an array, in each: y[i, 1 + j] = x[i, 1 + j] + 1 for j < 6, z[i, j] = x[i, j] * 2 for j < 8, and after them
/// y[i, 0] = x[i, 0] + 1, whose sum stands before both.
Nest rows_of_parts(int64_t rows) {
  NestBuilder nest;
  const int32_t x = nest.add_buffer(ElementType::kS32, rows * 8), y = nest.add_buffer(ElementType::kS32, rows * 8),
                z = nest.add_buffer(ElementType::kS32, rows * 8);
  const auto make = [&](Opcode opcode, NodeId value, int64_t other) {
    return nest.operation(opcode, ElementType::kS32, {value, nest.integer(ElementType::kS32, other)});
  };
  const int32_t outer = nest.begin_parallel(rows);
  const Affine row = nest.times(nest.index_of(outer), 8);
  const NodeId first = make(Opcode::kAdd, nest.load(x, row), 1);
  const int32_t middle = nest.begin_parallel(6);
  const Affine at = nest.plus(nest.plus(row, nest.index_of(middle)), {1, {}});
  nest.store(y, at, make(Opcode::kAdd, nest.load(x, at), 1));
  nest.end_parallel(middle);
  const int32_t all = nest.begin_parallel(8);
  const Affine there = nest.plus(row, nest.index_of(all));
  nest.store(z, there, make(Opcode::kMultiply, nest.load(x, there), 2));
  nest.end_parallel(all);
  nest.store(y, row, first);
  nest.end_parallel(outer);
  return nest.take();
}

TEST(GridPlan, MakesALaunchOfEachLoopBesideOthers) {
  const GridPlan plan = plan_grid(rows_of_parts(100), kMachine);
  ASSERT_EQ(plan.launches.size(), 3U);
  EXPECT_EQ(plan.launches[0].iterations, 600);
  EXPECT_EQ(plan.launches[1].iterations, 800);
  EXPECT_EQ(plan.launches[2].iterations, 100);
  EXPECT_EQ(plan.launches[2].part, GridPart::kStores);
}

TEST(GridRun, PartsOfRowsComeToWhatTheRowsDo) {
  const Nest nest = rows_of_parts(10);
  std::vector<int32_t> x(80), y(80, -1), z(80, -1);
  std::iota(x.begin(), x.end(), 5);
  const std::vector<int32_t> before = x;
  std::vector<int32_t> want_y = y, want_z = z;
  execute(nest, std::vector<void*>{x.data(), want_y.data(), want_z.data()});
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    std::mt19937_64 order(seed);
    const auto grid = HostGrid::make(nest, some_machine(order));
    ASSERT_TRUE(grid.ok());
    grid->run(std::vector<void*>{x.data(), y.data(), z.data()}, order);
    EXPECT_EQ(y, want_y);
    EXPECT_EQ(z, want_z);
  }
}

/// For each k in order: rows of x, at[k] modulo 16, = 3 * row + k; `step` elements from row to row of 8.
Nest scattered_rows(int64_t count, int64_t step) {
  NestBuilder nest;
  const int32_t at = nest.add_buffer(ElementType::kS32, count), x = nest.add_buffer(ElementType::kS32, 15 * step + 8);
  const int32_t loop = nest.begin_sequential(count, {});
  const NodeId number = nest.convert(nest.value_of(nest.index_of(loop)), ElementType::kS32);
  const NodeId row = nest.operation(Opcode::kAnd, ElementType::kS32,
                                    {nest.load(at, nest.index_of(loop)), nest.integer(ElementType::kS32, 15)});
  const Affine first = nest.times(nest.clamp(nest.affine(row), 0, 15), step);
  const int32_t inner = nest.begin_parallel(8);
  const Affine place = nest.plus(first, nest.index_of(inner));
  const NodeId old = nest.operation(Opcode::kMultiply, ElementType::kS32,
                                    {nest.load(x, place, true), nest.integer(ElementType::kS32, 3)});
  nest.store(x, place, nest.operation(Opcode::kAdd, ElementType::kS32, {old, number}));
  nest.end_parallel(inner);
  nest.end_carrying(loop, {});
  return nest.take();
}

TEST(GridRun, RowsOfAnOrderedLoopAreSharedWhereNoneMeet) {
  for (const int64_t step : {8, 5}) {  // rows of 8 that lie 5 apart meet
    const Nest nest = scattered_rows(100, step);
    std::vector<int32_t> at(100), before(static_cast<size_t>(15 * step + 8), 1);
    for (size_t k = 0; k < at.size(); ++k) at[k] = static_cast<int32_t>(k * 7 + k / 3);
    std::vector<int32_t> want = before;
    execute(nest, std::vector<void*>{at.data(), want.data()});
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      std::mt19937_64 order(seed);
      const auto grid = HostGrid::make(nest, some_machine(order));
      ASSERT_TRUE(grid.ok());
      EXPECT_EQ(grid->plan().launches[0].shared.size(), step == 8 ? 1U : 0U);
      std::vector<int32_t> x = before;
      grid->run(std::vector<void*>{at.data(), x.data()}, order);
      EXPECT_EQ(x, want) << "rows " << step << " apart";
    }
  }
}

std::vector<int32_t> run_chain(LoopKind kind, uint64_t seed) {
  const Nest nest = chain(50, kind);
  auto grid = HostGrid::make(nest, {.block_threads = 8, .tile_columns = 4, .thread_elements = 1, .most_blocks = 99});
  EXPECT_TRUE(grid.ok());
  std::vector<int32_t> x(51);
  std::mt19937_64 order(seed);
  grid->run(std::vector<void*>{x.data()}, order);
  return x;
}

// The control of the random order: a loop that only claims to be parallel doesn't come to what its order gives.
TEST(GridRun, NoticesALoopThatIsNotParallel) {
  std::vector<int32_t> want(51);
  std::iota(want.begin(), want.end(), 0);
  EXPECT_EQ(run_chain(LoopKind::kSequential, 1), want);
  EXPECT_NE(run_chain(LoopKind::kParallel, 1), want);
}

TEST(GridRun, NoticesThreadsThatMeet) {
  NestBuilder nest;
  const int32_t to = nest.add_buffer(ElementType::kS32, 4);
  const int32_t loop = nest.begin_parallel(8);
  const NodeId i = nest.value_of(nest.index_of(loop));
  nest.store(to, nest.floor_divide(nest.index_of(loop), 2), nest.convert(i, ElementType::kS32));
  nest.end_parallel(loop);
  const Nest made = nest.take();
  const auto grid =
      HostGrid::make(made, {.block_threads = 4, .tile_columns = 4, .thread_elements = 1, .most_blocks = 9});
  ASSERT_TRUE(grid.ok());
  std::vector<std::byte> bytes(16, std::byte{0x5a});
  const std::vector<std::span<std::byte>> buffers{bytes};
  EXPECT_NE(grid->run_each_alone(buffers), "");
}

// More iterations than 32 bits count: the threads of the last tiles write the last elements, wherever a launch begins.
TEST(GridRun, CountsBeyond32Bits) {
  constexpr int64_t kRows = int64_t{1} << 20, kColumns = (1 << 14) + 5, kLast = 8;
  NestBuilder nest;
  const int32_t to = nest.add_buffer(kF32, kLast);
  const int32_t outer = nest.begin_parallel(kRows), inner = nest.begin_parallel(kColumns);
  const Affine number = nest.plus(nest.times(nest.index_of(outer), kColumns), nest.index_of(inner));
  const Affine behind = nest.plus(number, {kLast - kRows * kColumns, {}});
  nest.store(to, behind, nest.convert(nest.value_of(behind), kF32), nest.within(behind, 0, kLast - 1));
  nest.end_parallel(inner);
  nest.end_parallel(outer);
  const Nest made = nest.take();
  const auto grid =
      HostGrid::make(made, {.block_threads = 64, .tile_columns = 8, .thread_elements = 1, .most_blocks = INT32_MAX});
  ASSERT_TRUE(grid.ok()) << grid.status().message();
  const int64_t threads = grid->plan().launches[0].threads();
  EXPECT_EQ(grid->plan().launches[0].iterations, kRows * kColumns);
  for (const int64_t begin : {int64_t{0}, kRows - 1}) {
    std::vector<float> last(kLast, -1);
    const int64_t tiles = (kColumns * (kRows - begin) + threads - 1) / threads;
    for (int64_t thread = (tiles - 2) * threads; thread < tiles * threads; ++thread) {
      grid->call(std::vector<void*>{last.data()}, 0, begin, kRows, thread);
    }
    EXPECT_EQ(last, (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7})) << "from " << begin;
  }
}

using Buffers = std::vector<std::vector<std::byte>>;

std::vector<void*> addresses(Buffers& buffers) {
  std::vector<void*> list;
  for (auto& buffer : buffers) list.push_back(buffer.data());
  return list;
}

TEST(GridRun, RandomNestsAreExecutedAsDefined) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const RandomNest random = random_nest(seed);
    Buffers want = random.buffers, got = random.buffers;
    execute(random.nest, addresses(want));
    std::mt19937_64 order(seed);
    const auto grid = HostGrid::make(random.nest, some_machine(order));
    ASSERT_TRUE(grid.ok()) << grid.status().message();
    grid->run(addresses(got), order);
    EXPECT_EQ(got, want) << "seed " << seed << "\n" << to_text(random.nest);
  }
}

std::string ptx_of(const Nest& nest, int32_t sm, bool apart) {
  const GridPlan plan = plan_grid(nest, kMachine);
  auto ptx = compile_grid({.nest = &nest, .plan = &plan, .sm = sm, .apart = apart});
  EXPECT_TRUE(ptx.ok()) << ptx.status().message() << to_text(nest);
  return ptx.ok() ? ptx.take() : "";
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(Ptx, IsAKernelOfTheNest) {
  const Nest nest = copy(100, 300, false);
  const std::string ptx = ptx_of(nest, 90, true);
  EXPECT_TRUE(has(ptx, ".target sm_90")) << ptx;
  EXPECT_TRUE(has(ptx, ".visible .entry kernel0(")) << ptx;
  EXPECT_TRUE(has(ptx, ".maxntid 256")) << ptx;
  EXPECT_TRUE(has(ptx, "%ctaid.x")) << ptx;
  EXPECT_TRUE(has(ptx, "ld.global.nc.f32")) << "four-byte loads beside the stores:\n" << ptx;
  EXPECT_TRUE(has(ptx_of(nest, 80, false), "ld.global.f32"))
      << "where results may lie over operands, loads stay behind";
}

TEST(Ptx, IsOfNoUnknownProcessor) {
  const Nest nest = copy(3, 5, false);
  const GridPlan plan = plan_grid(nest, kMachine);
  EXPECT_FALSE(compile_grid({.nest = &nest, .plan = &plan, .sm = 7}).ok());
}

TEST(Ptx, SaysWhereAKernelHasTooManyBuffers) {
  NestBuilder nest;
  const NodeId one = nest.integer(ElementType::kS32, 1);
  const int32_t loop = nest.begin_parallel(1);
  for (int32_t k = 0; k < 5000; ++k) nest.store(nest.add_buffer(ElementType::kS32, 1), {}, one);
  nest.end_parallel(loop);
  const Nest made = nest.take();
  const GridPlan plan = plan_grid(made, kMachine);
  const auto ptx = compile_grid({.nest = &made, .plan = &plan, .sm = 90});
  ASSERT_FALSE(ptx.ok());
  EXPECT_TRUE(has(ptx.status().message(), "parameters")) << ptx.status().message();
}

// What LLVM can't select for a device would end the process: all that nests are made of is tried.
TEST(Ptx, KnowsEveryPlainOperation) {
  const std::vector<Nest> nests = plain_set();
  EXPECT_GT(nests.size(), 300U);
  for (const Nest& nest : nests) {
    for (const int32_t sm : {80, 90}) {
      const std::string ptx = ptx_of(nest, sm, true);
      EXPECT_FALSE(has(ptx, ".extern") || has(ptx, "call")) << to_text(nest) << ptx;
      // The assembler may contract what doesn't say how it is rounded.
      for (const char* loose : {"add.f", "sub.f", "mul.f", "div.f", "sqrt.f", "fma.f", ".ftz", ".approx", ".full"}) {
        EXPECT_FALSE(has(ptx, loose)) << loose << "\n" << ptx;
      }
    }
  }
}

}  // namespace
}  // namespace lowtide::engine
