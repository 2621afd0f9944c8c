#include "backend/cpu/engine.h"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/interpreted.h"
#include "text/hlo.h"

namespace lowtide::engine {
namespace {

// Kernels as codegen would make them, on s32 buffers.
void add_one(void* const* buffers, int64_t, int64_t begin, int64_t end) {
  const auto* from = static_cast<const int32_t*>(buffers[0]);
  auto* to = static_cast<int32_t*>(buffers[1]);
  for (int64_t i = begin; i < end; ++i) to[i] = from[i] + 1;
}
void sum_and_shift(void* const* buffers, int64_t piece, int64_t begin, int64_t end) {
  const auto* from = static_cast<const int32_t*>(buffers[0]);
  auto* to = static_cast<int32_t*>(buffers[1]);
  if (piece == 0) {  // sequential
    for (int64_t i = begin; i < end; ++i)
      to[0] = static_cast<int32_t>((i == 0 ? 0u : static_cast<uint32_t>(to[0])) * 3u + static_cast<uint32_t>(from[i]));
  } else {
    for (int64_t i = begin; i < end; ++i) to[1 + i] = from[i] - to[0];
  }
}
void is_below_ten(void* const* buffers, int64_t, int64_t, int64_t) {
  *static_cast<bool*>(buffers[1]) = *static_cast<const int32_t*>(buffers[0]) < 10;
}

Kernel kernel(KernelFunction run, std::vector<KernelPiece> pieces) { return {run, std::move(pieces), nullptr}; }

/// A program by hand.
struct Hand {
  std::shared_ptr<Program> program = [] {
    auto made = std::make_shared<Program>();
    made->module = std::make_shared<const Module>();
    return made;
  }();
  std::vector<Kernel> kernels;

  int32_t slot(StorageKind kind, int64_t number, int64_t bytes, Step born = 0, Step dies = 1000) {
    Storage storage;
    storage.kind = kind;
    storage.number = number;
    storage.bytes = bytes;
    storage.born = born;
    storage.dies = dies;
    if (kind == StorageKind::kTemporary || kind == StorageKind::kConstant) {
      storage.offset = program->temp_bytes;
      program->temp_bytes += (bytes + 63) / 64 * 64;
    }
    program->storages.push_back(storage);
    program->slots.push_back({static_cast<int32_t>(program->storages.size()) - 1, 0, bytes});
    return static_cast<int32_t>(program->slots.size()) - 1;
  }
  ProgramStep call(Kernel made, std::vector<int32_t> reads, std::vector<int32_t> writes, Step at = 0) {
    program->regions.emplace_back();
    kernels.push_back(std::move(made));
    ProgramStep step;
    step.region = static_cast<int32_t>(kernels.size()) - 1;
    step.reads = std::move(reads);
    step.writes = std::move(writes);
    step.at = at;
    return step;
  }
};

ProgramStep step_of(StepKind kind) {
  ProgramStep step;
  step.kind = kind;
  return step;
}

TEST(Engine, SameBitsForEveryNumberOfThreads) {
  constexpr int64_t kCount = 10'007;
  Hand hand;
  const int32_t in = hand.slot(StorageKind::kArgument, 0, 4 * kCount),
                out = hand.slot(StorageKind::kOutput, 0, 4 * kCount);
  const int32_t middle = hand.slot(StorageKind::kTemporary, kNoId, 4 * (kCount + 1));
  hand.program->output_slots = {out};
  hand.program->steps = {
      hand.call(kernel(sum_and_shift, {{kCount, 1, 100, true}, {kCount, 16, 1000, false}}), {in}, {middle}),
      hand.call(kernel(add_one, {{kCount, 64, 500, false}}), {middle}, {out})};
  std::vector<int32_t> argument(kCount), first;
  for (size_t i = 0; i < kCount; ++i) argument[i] = static_cast<int32_t>(i * 2654435761u % 1000);
  Engine engine(hand.program, hand.kernels, {});
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    std::vector<int32_t> result(kCount);
    ASSERT_TRUE(engine.run({{argument.data()}, {result.data()}}, pool).ok());
    EXPECT_EQ(engine.result(0), result.data());
    if (first.empty()) first = result;
    EXPECT_EQ(result, first);
  }
  EXPECT_EQ(first[5], argument[4] - (first[0] - 1) + 1);
  EXPECT_GE(engine.arena_touched_bytes(), 4 * kCount);
}

// The carries of a loop exchange addresses instead of being copied.
TEST(Engine, LoopsRotateTheirCarries) {
  for (const bool known : {false, true}) {
    Hand hand;
    const int32_t in = hand.slot(StorageKind::kArgument, 0, 4), out = hand.slot(StorageKind::kOutput, 0, 4);
    const int32_t now = hand.slot(StorageKind::kTemporary, kNoId, 4),
                  next = hand.slot(StorageKind::kTemporary, kNoId, 4);
    const int32_t more = hand.slot(StorageKind::kTemporary, kNoId, 1);
    ProgramStep copy_in = step_of(StepKind::kCopy), copy_out = copy_in, loop = step_of(StepKind::kWhile);
    copy_in.reads = {in}, copy_in.writes = {now};
    copy_out.reads = {now}, copy_out.writes = {out};
    ProgramStep rotate = step_of(StepKind::kRotate);
    rotate.from = {next, now}, rotate.to = {now, next};
    loop.predicate = more;
    if (known) loop.trip_count = 3;
    loop.blocks = {{hand.call(kernel(is_below_ten, {{1, 1, 1, true}}), {now}, {more})},
                   {hand.call(kernel(add_one, {{1, 1, 1, false}}), {now}, {next}), rotate}};
    hand.program->steps = {copy_in, loop, copy_out};
    hand.program->output_slots = {out};
    Engine engine(hand.program, hand.kernels, {});
    ThreadPool pool(1);
    for (int round = 0; round < 2; ++round) {  // the address table starts anew
      int32_t argument = 3, result = 0;
      ASSERT_TRUE(engine.run({{&argument}, {&result}}, pool).ok());
      EXPECT_EQ(result, known ? 6 : 10);
    }
  }
}

// After the loop the carries are where they were before it, whatever the trip count.
TEST(Engine, LoopsSettle) {
  for (const int64_t trips : {0, 1, 2, 3}) {
    Hand hand;
    const int32_t a = hand.slot(StorageKind::kArgument, 0, 4), b = hand.slot(StorageKind::kArgument, 1, 4);
    ProgramStep loop = step_of(StepKind::kWhile), rotate = step_of(StepKind::kRotate);
    rotate.from = {b, a}, rotate.to = {a, b};
    loop.trip_count = trips;
    loop.blocks = {{}, {hand.call(kernel(add_one, {{1, 1, 1, false}}), {a}, {a}), rotate}};
    loop.settle = {a, b};
    hand.program->steps = {loop};
    hand.program->output_slots = {a, b};
    Engine engine(hand.program, hand.kernels, {});
    ThreadPool pool(1);
    int32_t first = 100, second = 200;
    ASSERT_TRUE(engine.run({{&first, &second}, {}}, pool).ok());
    EXPECT_EQ(engine.result(0), &first);
    EXPECT_EQ(engine.result(1), &second);
    const std::pair<int32_t, int32_t> expected[] = {{100, 200}, {200, 101}, {101, 201}, {201, 102}};
    EXPECT_EQ(std::pair(first, second), expected[trips]);
  }
}

TEST(Shift, MovesAllAtOnce) {
  ThreadPool pool(1);
  std::vector<std::byte> strip(kStripBytes), a(100'000, std::byte{1}), b(100'000, std::byte{2}),
      c(70'000, std::byte{3});
  const std::vector<Shift> circle = {
      {a.data(), b.data(), 100'000}, {b.data(), a.data(), 100'000}, {c.data(), a.data(), 70'000}};
  shift_at_once(circle, strip, pool);
  EXPECT_EQ(a, std::vector<std::byte>(100'000, std::byte{2}));
  EXPECT_EQ(b, std::vector<std::byte>(100'000, std::byte{1}));
  EXPECT_EQ(c, std::vector<std::byte>(70'000, std::byte{1}));
}

TEST(Engine, ChoosesABranch) {
  const auto module = parse_hlo(std::make_shared<const Source>(Source{"m", R"(HloModule m
a { ROOT x = s32[] parameter(0) }
b { ROOT x = s32[] parameter(0) }
ENTRY e { i = s32[] parameter(0) ROOT c = s32[] conditional(i, i, i), branch_computations={a, b} })"}));
  ASSERT_TRUE(module.ok()) << module.status().message();
  Hand hand;
  const int32_t in = hand.slot(StorageKind::kArgument, 0, 4), out = hand.slot(StorageKind::kOutput, 0, 4);
  ProgramStep choice = step_of(StepKind::kConditional);
  choice.instruction = (*module)->entry->root;
  choice.predicate = in;
  ProgramStep copy = step_of(StepKind::kCopy);
  copy.reads = {in}, copy.writes = {out};
  choice.blocks = {{copy}, {hand.call(kernel(add_one, {{1, 1, 1, false}}), {in}, {out})}};
  hand.program->steps = {choice};
  hand.program->output_slots = {out};
  Engine engine(hand.program, hand.kernels, {});
  ThreadPool pool(1);
  for (const auto& [index, expected] : {std::pair(0, 0), {1, 2}, {7, 8}, {-1, 0}}) {  // out of bounds: the last branch
    int32_t argument = index, result = -7;
    ASSERT_TRUE(engine.run({{&argument}, {&result}}, pool).ok());
    EXPECT_EQ(result, expected);
  }
}

TEST(Engine, FillsConstants) {
  Hand hand;
  auto literal = std::make_shared<Literal>(Shape::array(ElementType::kS32, {2}));
  literal->data<int32_t>()[1] = 41;
  const int32_t constant = hand.slot(StorageKind::kConstant, kNoId, 8), out = hand.slot(StorageKind::kOutput, 0, 8);
  hand.program->storages[0].constant = literal;
  hand.program->steps = {hand.call(kernel(add_one, {{2, 1, 1, false}}), {constant}, {out})};
  hand.program->output_slots = {out};
  Engine engine(hand.program, hand.kernels, {});
  ThreadPool pool(1);
  int32_t result[2] = {};
  ASSERT_TRUE(engine.run({{}, {result}}, pool).ok());
  EXPECT_EQ(result[0], 1);
  EXPECT_EQ(result[1], 42);
}

// An operation without code of its own runs by its definition.
TEST(Engine, InterpretsWhatHasNoCode) {
  const auto module = parse_hlo(std::make_shared<const Source>(Source{"m", R"(HloModule m
ENTRY e { a = s32[4] parameter(0) ROOT r = s32[4] reverse(a), dimensions={0} })"}));
  ASSERT_TRUE(module.ok()) << module.status().message();
  Hand hand;
  const int32_t in = hand.slot(StorageKind::kArgument, 0, 16), out = hand.slot(StorageKind::kOutput, 0, 16);
  ProgramStep other = step_of(StepKind::kOther);
  other.instruction = (*module)->entry->root;
  other.reads = {in}, other.writes = {out};
  hand.program->steps = {other};
  hand.program->output_slots = {out};
  std::vector<std::unique_ptr<LibraryRoutine>> routines;
  routines.push_back(interpreted_routine(*other.instruction));
  ASSERT_NE(routines[0], nullptr);
  EXPECT_EQ(routines[0]->scratch_bytes(), 32);
  Engine engine(hand.program, {}, std::move(routines));
  ThreadPool pool(1);
  int32_t argument[] = {1, 2, 3, 4}, result[4] = {};
  ASSERT_TRUE(engine.run({{argument}, {result}}, pool).ok());
  EXPECT_EQ(result[0], 4);
  EXPECT_EQ(result[3], 1);
}

TEST(Split, GranulesStayWhole) {
  for (const int threads : {1, 2, 3, 16}) {
    for (const int64_t extent : {0, 1, 63, 64, 65, 1000, 4096}) {
      const KernelPiece piece{extent, 64, 5000, false};
      const Portions how = portion(piece, threads);
      EXPECT_GE(how.chunk * how.chunks, extent);
      EXPECT_TRUE(extent == 0 || how.chunk * (how.chunks - 1) < extent);
      EXPECT_TRUE(how.chunks <= 1 || how.chunk % 64 == 0);
    }
  }
  EXPECT_GT(portion({1'000'000, 1, 10, false}, 2).chunks, 1);
  EXPECT_EQ(portion({1'000'000, 1, 10, true}, 2).chunks, 1) << "sequential";
  EXPECT_EQ(portion({100, 1, 10, false}, 2).chunks, 1) << "too small";
}

}  // namespace
}  // namespace lowtide::engine
