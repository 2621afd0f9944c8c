#include "library/moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace lowtide::engine {
namespace {

std::vector<std::byte> random_bytes(int64_t count, std::mt19937& random) {
  std::vector<std::byte> bytes(static_cast<size_t>(count));
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

/// The result by definition: element by element.
std::vector<std::byte> moved(const std::vector<std::byte>& array, const std::vector<int64_t>& extents,
                             const std::vector<size_t>& order, const std::vector<bool>& reversed, int64_t width) {
  std::vector<std::byte> out(array.size());
  const auto count = static_cast<int64_t>(array.size()) / width;
  for (int64_t place = 0; place < count; ++place) {
    std::vector<int64_t> index(order.size());
    int64_t rest = place;
    for (size_t k = order.size(); k-- > 0;) {
      const int64_t extent = extents[order[k]], i = rest % extent;
      index[order[k]] = reversed[order[k]] ? extent - 1 - i : i;
      rest /= extent;
    }
    int64_t from = 0;
    for (size_t d = 0; d < extents.size(); ++d) from = from * extents[d] + index[d];
    std::memcpy(&out[place * width], &array[from * width], static_cast<size_t>(width));
  }
  return out;
}

void expect_moved(const std::vector<int64_t>& extents, const std::vector<size_t>& order,
                  const std::vector<bool>& reversed, int64_t width, ThreadPool& pool, std::mt19937& random) {
  int64_t bytes = width;
  for (const int64_t e : extents) bytes *= e;
  std::vector<std::byte> array = random_bytes(bytes, random);
  const std::vector<std::byte> expected = moved(array, extents, order, reversed, width);
  for (const ArrayMove& move : moves_of(extents, order, reversed, width)) {
    // what lies after the scratch must stay
    std::vector<std::byte> scratch(static_cast<size_t>(scratch_of(move)) + 64, std::byte{0x5A});
    run(move, array.data(), scratch.data(), pool);
    EXPECT_EQ(std::count(scratch.end() - 64, scratch.end(), std::byte{0x5A}), 64);
  }
  EXPECT_EQ(array, expected);
}

TEST(Moves, TransposeEveryMatrix) {
  ThreadPool pool(3);
  std::mt19937 random(1);
  for (int64_t rows = 1; rows <= 26; ++rows) {
    for (int64_t columns = 1; columns <= 26; ++columns) {
      for (const int64_t width : {1, 2, 4, 8, 12, 64}) {
        expect_moved({rows, columns}, {1, 0}, {false, false}, width, pool, random);
        expect_moved({3, rows, columns}, {0, 2, 1}, {false, false, false}, width, pool, random);
      }
    }
  }
}

TEST(Moves, PanelsOfLargeMatrices) {
  std::mt19937 random(2);
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{{300, 512},
                                                                                {301, 513},
                                                                                {512, 300},
                                                                                {20000, 6},
                                                                                {6, 20000},
                                                                                {320, 320},
                                                                                {180, 1303},
                                                                                {40009, 7},
                                                                                {7, 40009}}) {
      for (const int64_t width : {1, 4}) expect_moved({rows, columns}, {1, 0}, {false, false}, width, pool, random);
    }
    expect_moved({100, 40, 33}, {0, 2, 1}, {false, false, false}, 4, pool, random);
    expect_moved({128, 8, 64}, {1, 0, 2}, {false, false, false}, 4, pool, random);
  }
}

TEST(Moves, ArraysWithoutElementsTakeNone) {
  const auto turned = [](const std::vector<int64_t>& extents) {
    return moves_of(extents, {0, 2, 1}, {false, false, false}, 4);
  };
  EXPECT_TRUE(turned({0, 3, 4}).empty());
  EXPECT_TRUE(turned({2, 0, 4}).empty());
  EXPECT_TRUE(turned({2, 3, 0}).empty());
  EXPECT_FALSE(turned({2, 3, 4}).empty());
}

TEST(Moves, AnyOrderAndDirection) {
  ThreadPool pool(2);
  std::mt19937 random(3);
  for (int turn = 0; turn < 600; ++turn) {
    const size_t rank = random() % 5 + 1;
    std::vector<int64_t> extents(rank);
    std::vector<bool> reversed(rank);
    for (size_t d = 0; d < rank; ++d)
      extents[d] = static_cast<int64_t>(random() % 9 + 1), reversed[d] = random() % 3 == 0;
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    expect_moved(extents, order, reversed, int64_t{1} << random() % 5, pool, random);
  }
}

}  // namespace
}  // namespace lowtide::engine
