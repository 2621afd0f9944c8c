// Strips, moves of boxes and rearrangements with something changed: what the proofs accept must still give the right
// elements, and what gives wrong ones must be refused.
#include "schedule/check/moves_proof.h"

#include <fmt/format.h>

#include <functional>
#include <random>

#include "backend/cpu/box_moves.h"
#include "backend/cpu/split.h"
#include "backend/cpu/strips.h"
#include "library/moves.h"
#include "nest/legalise.h"
#include "region_test_support.h"
#include "schedule/check/strips_proof.h"

namespace lowtide::engine {
namespace {

/// A region with one result over one operand.
struct OverOne {
  explicit OverOne(const std::string& text)
      : one(one_region(text)),
        nest(lower(one.region)),
        touches(nest),
        arguments(seeded_arguments(*one.module, 3)),
        expected((*interpret(*one.module, arguments))[0]) {}

  PlacedKernel placed() const {
    const auto bytes = std::ssize(arguments[0]->bytes());
    return {touches, {{0, 64, 64 + bytes}, {0, 64, 64 + bytes}}, 1};
  }
  bool is_right(const Literal& array) const { return std::ranges::equal(array.bytes(), expected->bytes()); }

  OneRegion one;
  Nest nest;
  Touches touches;
  std::vector<Value> arguments;
  Value expected;
};

struct Tally {
  int accepted = 0, refused = 0, wrong = 0;
};

class Chance {
 public:
  explicit Chance(unsigned seed) : from_(seed) {}
  int64_t within(int64_t least, int64_t greatest) {
    return std::uniform_int_distribution<int64_t>(least, greatest)(from_);
  }
  /// A little more or less, or something else altogether.
  void change(int64_t& figure) {
    constexpr int64_t kSteps[] = {-64, -9, -4, -1, 1, 4, 9, 64};
    const int64_t how = within(0, 9);
    figure = how == 8 ? 0 : how == 9 ? figure * 2 : figure + kSteps[how];
  }
  template <class T>
  T& one_of(std::vector<T>& list) {
    return list[within(0, std::ssize(list) - 1)];
  }

 private:
  std::mt19937 from_;
};

// --- strips ---

constexpr StripLimits kSmall{.least_bytes = 0, .wanted_bytes = 1, .share = 1};

class StripsRun {
 public:
  explicit StripsRun(const std::string& text) : over_(text) {
    const LiesOver pair{1, 0};
    strips = *plan_strips(over_.nest, 1, {&pair, 1}, kSmall);
    Nest nest = over_.nest;
    run_rows_one_by_one(nest);
    kernel_ = (*compile_kernels(std::vector<Nest>{legalise(nest)}, {}))[0];
  }

  Strips strips;

  bool is_accepted(const Strips& changed) const { return fault_of_strips(over_.placed(), changed).empty(); }
  /// Runs what was accepted.
  bool is_right(const Strips& changed) const {
    EXPECT_EQ(check_strips(kernel_, changed), "");
    Literal array(*over_.arguments[0]);
    std::vector<std::byte> scratch(static_cast<size_t>(changed.scratch_bytes) + 64, std::byte{0xa5});
    std::vector<void*> buffers{array.bytes().data(), array.bytes().data()};
    ThreadPool pool(2);
    run_in_strips(kernel_, changed, buffers, 1, scratch.data(), pool);
    for (size_t k = scratch.size() - 64; k < scratch.size(); ++k) EXPECT_EQ(scratch[k], std::byte{0xa5});
    return over_.is_right(array);
  }

 private:
  OverOne over_;
  Kernel kernel_;
};

void change(Strips& strips, Chance& chance) {
  StripPiece& piece = chance.one_of(strips.pieces);
  Strips::Output& output = chance.one_of(strips.outputs);
  switch (chance.within(0, 13)) {
    case 0: return chance.change(strips.phase);
    case 1: return chance.change(strips.tile);
    case 2: return chance.change(strips.delay);
    case 3: return chance.change(strips.head);
    case 4: return chance.change(strips.spill);
    case 5: return chance.change(piece.stride);
    case 6: return chance.change(piece.first);
    case 7: piece.kind = static_cast<StripPiece::Kind>(chance.within(0, 2)); return;
    case 8: return chance.change(output.head);
    case 9: return chance.change(output.window);
    case 10: return chance.change(strips.patch);
    case 11: return chance.change(strips.scratch_bytes);
    case 12:
      if (!strips.patches.empty()) strips.patches.pop_back();
      return;
    default:
      if (!strips.patches.empty()) chance.change(chance.one_of(strips.patches).element);
      return;
  }
}

std::string stencil(const std::string& type, const std::string& padding) {
  return fmt::format(
      "x = {0} parameter(0)\nz = f32[] constant(4)\ns = {0} pad(x, z), padding={1}\nROOT y = {0} "
      "subtract(x, s)",
      type, padding);
}

TEST(StripsProof, RefusesWhatGivesOtherElements) {
  Tally tally;
  for (const char* padding : {"3_-3x0_0", "-3_3x0_0", "1_-1x-2_2", "-200_200x1_-1"}) {
    const StripsRun run(stencil("f32[777,9]", padding));
    ASSERT_TRUE(run.is_accepted(run.strips)) << padding;
    ASSERT_TRUE(run.is_right(run.strips)) << padding;
    Chance chance(11);
    for (int trial = 0; trial < 400; ++trial) {
      Strips changed = run.strips;
      for (int64_t k = chance.within(1, 2); k > 0; --k) change(changed, chance);
      if (!run.is_accepted(changed)) {
        ++tally.refused;
        continue;
      }
      ++tally.accepted;
      if (!run.is_right(changed)) ADD_FAILURE() << padding << ", trial " << trial;
    }
  }
  EXPECT_GT(tally.refused, 600);
  EXPECT_GT(tally.accepted, 50);  // a longer delay, more scratch
}

TEST(StripsProof, EachFigureCounts) {
  const StripsRun run(stencil("f32[777,9]", "3_-3x0_0"));
  const auto refused = [&](const std::function<void(Strips&)>& edit) {
    Strips changed = run.strips;
    edit(changed);
    return !run.is_accepted(changed);
  };
  EXPECT_TRUE(refused([](Strips& s) { s.delay = s.head = 0; }));
  EXPECT_TRUE(refused([](Strips& s) { s.spill = -1; }));
  EXPECT_TRUE(refused([](Strips& s) { s.elements -= 1; }));
  EXPECT_TRUE(refused([](Strips& s) { s.scratch_bytes = s.outputs[0].window; }));
  EXPECT_TRUE(refused([](Strips& s) { s.pieces.pop_back(); }));
  EXPECT_TRUE(refused([](Strips& s) { s.pieces[0].first += 1; }));
  EXPECT_TRUE(refused([](Strips& s) { s.outputs[0].element_bytes = 8; }));
  EXPECT_TRUE(refused([](Strips& s) { s.outputs[0].number = 1; }));
  EXPECT_TRUE(refused([](Strips& s) { s.outputs.clear(); }));
}

// --- moves of boxes ---

std::string roll(const std::string& whole, const std::string& first, const std::string& second, int dimension) {
  return "x = " + whole + " parameter(0)\n a = " + first + "\n b = " + second + "\n ROOT r = " + whole +
         " concatenate(a, b), dimensions={" + std::to_string(dimension) + "}";
}

const std::string kRolls[] = {
    roll("f32[16,64,32]", "f32[12,64,32] slice(x), slice={[4:16], [0:64], [0:32]}",
         "f32[4,64,32] slice(x), slice={[0:4], [0:64], [0:32]}", 0),
    roll("f32[16,64,32]", "f32[16,63,32] slice(x), slice={[0:16], [1:64], [0:32]}",
         "f32[16,1,32] slice(x), slice={[0:16], [0:1], [0:32]}", 1),
    roll("f32[16,64,32]", "f32[16,32,32] slice(x), slice={[0:16], [32:64], [0:32]}",
         "f32[16,32,32] slice(x), slice={[0:16], [0:32], [0:32]}", 1),
};

bool moves_right(const OverOne& over, const BoxMoves& moves) {
  Literal array(*over.arguments[0]);
  std::vector<std::byte> scratch(static_cast<size_t>(moves.scratch_bytes) + 64, std::byte{0xa5});
  ThreadPool pool(2);
  run_box_moves(moves, array.bytes().data(), scratch.data(), pool);
  return over.is_right(array);
}

void change(BoxMoves& moves, Chance& chance) {
  if (chance.within(0, 3) == 0) return chance.change(chance.within(0, 1) ? moves.block : moves.blocks);
  if (chance.within(0, 5) == 0) return chance.change(moves.rotated);
  if (moves.moves.empty()) return;
  BoxMove& move = chance.one_of(moves.moves);
  switch (chance.within(0, 7)) {
    case 0: return chance.change(move.run);
    case 1: return chance.change(move.to);
    case 2: return chance.change(move.from);
    case 3: move.kept = move.kept == kNoId ? 0 : kNoId; return;
    case 4: std::ranges::reverse(moves.moves); return;
    case 5: moves.moves.pop_back(); return;
    case 6: return chance.change(moves.scratch_bytes);
    default: moves.runs[0] = !moves.runs[0]; return;
  }
}

TEST(MovesProof, RefusesBoxesThatEndElsewhere) {
  Tally tally;
  for (const std::string& text : kRolls) {
    const OverOne over(text);
    const auto planned = plan_box_moves(over.nest, 1, 0);
    ASSERT_TRUE(planned);
    ASSERT_EQ(fault_of_moves(over.placed(), *planned), "") << text;
    ASSERT_TRUE(moves_right(over, *planned));
    Chance chance(5);
    for (int trial = 0; trial < 400; ++trial) {
      BoxMoves changed = *planned;
      for (int64_t k = chance.within(1, 2); k > 0; --k) change(changed, chance);
      const bool accepted = fault_of_moves(over.placed(), changed).empty();
      ++(accepted ? tally.accepted : tally.refused);
      if (accepted && !moves_right(over, changed)) ADD_FAILURE() << text << ", trial " << trial;
    }
  }
  EXPECT_GT(tally.refused, 600);
  EXPECT_GT(tally.accepted, 20);  // two changes that undo each other, more scratch
}

// --- rearrangements ---

TEST(MovesProof, RefusesOtherOrders) {
  Tally tally;
  for (const std::string text :
       {"x = f32[120,300] parameter(0)\n ROOT y = f32[300,120] transpose(x), dimensions={1,0}",
        "x = f32[120,300] parameter(0)\n ROOT y = f32[120,300] reverse(x), dimensions={1}",
        "x = f32[64,48,20] parameter(0)\n ROOT y = f32[20,64,48] transpose(x), dimensions={2,0,1}",
        "x = f32[30,40,50] parameter(0)\n ROOT y = f32[50,40,30] transpose(x), dimensions={2,1,0}",
        "x = f32[120,300] parameter(0)\n r = f32[120,300] reverse(x), dimensions={0}\n ROOT y = f32[300,120] "
        "transpose(r), dimensions={1,0}"}) {
    const OverOne over(text);
    const auto planned = plan_rearrangement(over.nest, 1, 0);
    ASSERT_TRUE(planned) << text;
    ASSERT_EQ(fault_of_rearrangement(over.placed(), *planned), "") << text;
    Chance chance(3);
    for (int trial = 0; trial < 200; ++trial) {
      Rearrangement changed = *planned;
      ArrayMove& move = chance.one_of(changed.moves);
      switch (chance.within(0, 6)) {
        case 0: std::swap(move.rows, move.columns); break;
        case 1: std::swap(move.batch, move.rows); break;
        case 2: std::swap(move.columns, move.unit); break;
        case 3: move.kind = move.kind == ArrayMove::kReverse ? ArrayMove::kTranspose : ArrayMove::kReverse; break;
        case 4: changed.moves.push_back(move); break;
        case 5: changed.moves.pop_back(); break;
        default: chance.change(changed.scratch_bytes); break;
      }
      if (!fault_of_rearrangement(over.placed(), changed).empty()) {
        ++tally.refused;
        continue;
      }
      ++tally.accepted;
      Literal array(*over.arguments[0]);
      std::vector<std::byte> scratch(static_cast<size_t>(changed.scratch_bytes) + 64);
      ThreadPool pool(2);
      for (const ArrayMove& m : changed.moves) run(m, array.bytes().data(), scratch.data(), pool);
      EXPECT_TRUE(over.is_right(array)) << text << ", trial " << trial;
    }
  }
  EXPECT_GT(tally.refused, 400);
  EXPECT_GT(tally.accepted, 20);  // a transposition of a square is its own inverse; more scratch
}

TEST(MovesProof, KnowsPanelsOfRowsAndColumns) {
  // Extents whose longest panels end within dimensions.
  for (const int64_t rows : {6 * 4, 24 * 9, 1000}) {
    for (const int64_t columns : {7, 1024, 1800}) {
      const std::string text =
          fmt::format("x = f32[{0},4,{1}] parameter(0)\n ROOT y = f32[{1},{0},4] transpose(x), dimensions={{2,0,1}}",
                      rows, columns);
      const OneRegion one = one_region(text);
      const Nest nest = lower(one.region);
      const auto planned = plan_rearrangement(nest, 1, 0);
      if (!planned) continue;
      const Touches touches(nest);
      const int64_t bytes = 4 * nest.buffers[0].elements;
      EXPECT_EQ(fault_of_rearrangement({touches, {{0, 0, bytes}, {0, 0, bytes}}, 1}, *planned), "") << text;
    }
  }
}

}  // namespace
}  // namespace lowtide::engine
